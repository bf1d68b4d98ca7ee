// What was measured about the selection: curves of removal and insertion, and tables of facts.

/** @import { Translator } from '../core/types.js' */
import { h, isWide } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { negative, orDash, signed } from '../core/numbers.js';
import { chartLegend, fitted, lineChart } from './chart.js';

/** @param {Record<string, any>} found */
export const hasPerson = (found) => Object.values(found.removal).some((row) => 'person' in row);

/**
 * @param {Record<string, any>} found
 * @param {string} target the whole feature, or that of the person's patches
 * @param {Translator} i18n
 */
export function reportContent(found, target, i18n) {
  const given = MODALITIES.filter((m) => m in found.removal);
  return [
    h('p.lens-intro', { 'data-t': `faith.explain.${target}` }),
    ...(found.weighed ? [h('p.lens-intro', { 'data-t': 'faith.weighed', 'data-weighed': '' })] : []),
    chartLegend(['score', 'random', 'centre'].map((kind) => ({ kind, name: i18n.t(`faith.legend.${kind}`) }))),
    h('div.lens-faith-charts', {}, ...given.map((m) => h('div', { 'data-modality': m }, h('h3', {}, m.toUpperCase()),
      ...['insertion', 'deletion'].map((kind) => removalChart(found.removal[m][target], m, kind, i18n))))),
    h('div.lens-faith-tables', {}, factTable(found, target, given, i18n), setTable(found, given)),
  ];
}

// A number with its sign and so many decimals that one sees on which side of 0 it is.
const leading = (value, digits) => (value === null ? '–' : signed(value, digits));

function verdicts(curve, name, i18n) {
  const verdict = (key, beats) => h(`span.lens-chip${beats ? '.lens-good' : ''}`, {
    [`data-${key}`]: name, 'data-t': `faith.${key}.${beats ? 'beats' : 'not'}`,
  });
  const { lead, lead_low: low, lead_high: high, centre_lead: centre, digits } = curve;
  const words = {
    lead: leading(lead, digits), low: leading(low, digits), high: leading(high, digits), n: wins(curve), area: negative(curve.area.toFixed(digits)),
  };
  return [
    h('p.lens-verdict-line', {}, verdict('verdict', curve.beats_chance),
      h('span', { 'data-area': name, 'data-value': curve.area, 'data-lead': lead }, i18n.t('faith.lead', words))),
    centre === null ? null : h('p.lens-verdict-line', {}, verdict('centre', curve.beats_centre),
      h('span', {}, i18n.t('faith.centre.lead', { lead: leading(centre, digits) }))),
  ];
}

// Random orders that do worse, in percent.
const wins = ({ percentile, higher_is_better: up }) => Number(((up ? percentile : 1 - percentile) * 100).toFixed(1));

function removalChart(removal, m, kind, i18n) {
  if (!removal) return h('p.lens-hint', { 'data-t': 'sweep.no_mask' });
  const curve = removal[kind];
  const low = Math.min(0, ...curve.cosine, ...curve.low);
  const name = `${m}-${kind}`;
  const up = curve.higher_is_better;
  const height = isWide() ? 168 : 138;
  return h('figure.lens-figure', { 'data-curve': name },
    h('figcaption', {}, h('b', { 'data-t': `faith.${kind}` })),
    ...verdicts(curve, name, i18n),
    fitted(height, (width) => lineChart({
      width, height, label: `${m.toUpperCase()}, ${i18n.t(`faith.${kind}`)}`,
      x: { values: curve.share, range: [0, 1], title: i18n.t(`faith.${kind}.x`), root: true },
      y: { range: [Math.floor(low * 5) / 5, 1], title: i18n.t('faith.cosine'), better: { up, text: i18n.t('faith.better') } },
      series: [...(curve.centre.length ? [{ values: curve.centre, kind: 'centre' }] : []), { values: curve.cosine, kind: m }], band: curve,
    })));
}

const headRow = (given, first) => h('thead', {}, h('tr', {}, first, ...given.map((m) => h('th', {}, m.toUpperCase()))));
const named = (key) => h('td', { 'data-t': `faith.${key}`, 'data-t-title': `faith.${key}.title` });

function factTable(found, target, given, i18n) {
  const fact = (key, value) => h('tr', { 'data-fact': key }, named(key), ...given.map((m) => {
    const removal = found.removal[m][target] || found.removal[m].whole;
    return h('td', {}, value(found.facts[m], removal.retained));
  }));
  const withChance = (value, share, key = 'faith.percentile') => (value === null ? '–'
    : `${negative(value.toFixed(4))} (${i18n.t(key, { n: Math.round(share * 100) })})`);
  return h('table.lens-facts', {}, headRow(given, h('th')), h('tbody', {},
    fact('kept_only', (f, r) => withChance(r.kept, r.kept_percentile)),
    fact('dropped_only', (f, r) => withChance(r.dropped, 1 - r.dropped_percentile, 'faith.percentile.lower')),
    fact('margin', (f) => (f.margin === null ? '–' : `${f.margin.toFixed(4)} (${orDash(f.margin_sigmas)} σ)`)),
    fact('effective', (f) => (f.effective_median === null ? '–'
      : `${f.effective_median.toFixed(1)} (${f.effective_min.toFixed(1)} – ${f.effective_max.toFixed(1)})`)),
    fact('outliers', (f) => i18n.t('faith.of', { n: f.outliers_kept, all: f.outliers })),
    fact('person', (f) => (f.precision === null ? '–' : `${f.precision.toFixed(3)} / ${orDash(f.recall)}`))));
}

// Sets against sets: disturbed pictures, and modalities among themselves.
function setTable(found, given) {
  const cell = (overlap) => (overlap ? `${overlap.jaccard.toFixed(3)} → ${orDash(overlap.corrected)}` : '–');
  const pairs = Object.entries(found.overlap);
  return h('table.lens-facts', {}, headRow(given, h('th', { 'data-t': 'faith.sets' })), h('tbody', {},
    ...Object.entries(found.stability).map(([kind, row]) => h('tr', { 'data-fact': `stability-${kind}` }, named(kind),
      ...given.map((m) => h('td', {}, cell(row[m]))))),
    pairs.length ? h('tr', {}, h('th', { 'data-t': 'faith.between' })) : null,
    ...pairs.map(([pair, overlap]) => h('tr', { 'data-fact': `overlap-${pair}` },
      h('td', {}, pair.toUpperCase().replace('-', ' ∩ ')), h('td', { colSpan: given.length }, cell(overlap))))));
}
