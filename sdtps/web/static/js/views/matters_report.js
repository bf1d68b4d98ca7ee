// The report on whether the selection matters: verdicts, gains with their intervals, vital signs.

/** @import { Translator } from '../core/types.js' */
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';

const FIRST = 'random'; // what the headline compares with
const FAR = 'inverted'; // may leave the axis
const WIDTH = 220;
const HEIGHT = 18;
const COSINE = 'cosine';

const ARROW = 4; // of an interval that leaves the axis

const scaleOf = (metric) => (metric === COSINE ? 1 : 100);
const digitsOf = (metric) => (metric === COSINE ? 4 : 1);

/**
 * With a sign, as the sentences have it.
 * @param {number} value
 * @param {string} metric
 */
export function signed(value, metric) {
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const text = plain(value, metric);
  return text.startsWith('−') && Number(text.slice(1)) !== 0 ? text : `+${text.replace('−', '')}`;
}

/** With the sign of a minus, not of a hyphen. */
const plain = (value, metric) => (value * scaleOf(metric)).toFixed(digitsOf(metric)).replace('-', '−');

/**
 * What the digits that are shown say.
 * @param {{ low: number, high: number }} gain
 * @param {string} metric
 */
export function saysOf({ low, high }, metric) {
  const shown = [low, high].map((v) => Number((v * scaleOf(metric)).toFixed(digitsOf(metric))));
  return shown[0] > 0 ? 'better' : shown[1] < 0 ? 'worse' : 'open';
}

/**
 * Half of the axis, so that every interval fits but that of the worst-scored patches, which would flatten the others.
 * @param {{ kind?: string, gain: Record<string, { low: number | null, high: number | null }> }[]} rows
 * @param {string} metric
 */
export function reachOf(rows, metric) {
  const told = rows.filter(({ kind, gain }) => gain[metric] && kind !== FAR);
  const ends = (told.length ? told : rows).flatMap(({ gain }) => (gain[metric] ? [gain[metric].low ?? 0, gain[metric].high ?? 0] : []));
  return (Math.max(0, ...ends.map(Math.abs)) || 1 / scaleOf(metric)) * 1.05;
}

/**
 * An end that is not known travels as null: it is infinitely far.
 * @param {{ value: number, low: number | null, high: number | null }} gain
 */
export const opened = ({ value, low, high }) => ({ value, low: low ?? -Infinity, high: high ?? Infinity });

function svg(name, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

// One interval on the common axis, zero in the middle.
function intervalOf(gain, metric, reach) {
  const place = (value) => ((Math.min(Math.max(value, -reach), reach) / reach + 1) / 2) * WIDTH;
  const middle = HEIGHT / 2;
  const [low, high, value] = [gain.low, gain.high, gain.value].map(place);
  const arrow = (at, way) => svg('path', { d: `M${at} ${middle}l${-way * ARROW} ${-ARROW}v${2 * ARROW}z` });
  const end = (at, inner, way) => (inner ? svg('line', { x1: at, x2: at, y1: middle - 3, y2: middle + 3 }) : arrow(at, way));
  const look = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, class: `lens-interval lens-${saysOf(gain, metric)}` };
  return svg('svg', { ...look, 'aria-hidden': true },
    svg('line', { x1: WIDTH / 2, x2: WIDTH / 2, y1: 0, y2: HEIGHT, class: 'lens-zero' }),
    svg('line', { x1: low, x2: high, y1: middle, y2: middle }),
    ...(gain.low <= reach ? [end(low, gain.low >= -reach, -1)] : []), ...(gain.high >= -reach ? [end(high, gain.high <= reach, 1)] : []),
    ...(Math.abs(gain.value) <= reach ? [svg('circle', { cx: value, cy: middle, r: 3.5 })] : []));
}

// What the ends of the axis stand for.
function axisOf(metric, reach) {
  const text = (value, x, anchor) => svg('text', { x, y: HEIGHT - 6, 'text-anchor': anchor }, value ? signed(value, metric) : '0');
  return svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, class: 'lens-interval', 'aria-hidden': true },
    text(-reach, 0, 'start'), text(0, WIDTH / 2, 'middle'), text(reach, WIDTH, 'end'));
}

function tableOf(found, i18n) {
  const metric = found.metrics[0];
  const shown = found.metrics.filter((name) => ['mAP', 'Rank-1', COSINE].includes(name));
  const reach = reachOf(found.rows, metric);
  const extra = (name) => (name === metric ? '' : '.lens-matters-extra'); // not on a phone
  const head = h('tr', {}, h('th', { 'data-t': 'matters.choice' }),
    ...shown.map((name) => h(`th.lens-number${extra(name)}`, { 'data-t': `matters.metric.${name}` })),
    h('th.lens-matters-chart', {}, /** @type {any} */ (axisOf(metric, reach))),
    h('th.lens-number', {}, i18n.t('matters.gain', { metric: i18n.t(`matters.metric.${metric}`) })));
  const lines = [];
  let ratio = null;
  found.rows.forEach((row, i) => {
    if (row.sparse_ratio !== ratio) {
      ratio = row.sparse_ratio;
      lines.push(h('tr.lens-matters-group', {}, h('th', { colSpan: shown.length + 3 }, i18n.t('matters.figure.kept', { ratio: String(ratio) }))));
    }
    const gain = row.gain[metric] && opened(row.gain[metric]);
    const without = row.says ? '' : i18n.t('matters.baseline');
    const text = gain ? `${signed(gain.value, metric)} [${signed(gain.low, metric)}, ${signed(gain.high, metric)}]` : without;
    lines.push(h('tr', { 'data-row': row.name, 'data-ratio': row.sparse_ratio, title: row.says ? i18n.sentence(row.says) : '' },
      h('td', {}, found.titles[i18n.language][i]),
      ...shown.map((name) => h(`td.lens-number${extra(name)}`, {}, plain(row.scores[name].value, name))),
      h('td.lens-matters-chart', {}, gain ? /** @type {any} */ (intervalOf(gain, metric, reach)) : null),
      h(`td.lens-number.lens-${gain ? saysOf(gain, metric) : 'open'}`, {}, text)));
  });
  return h('table.lens-table.lens-matters-table', {}, h('thead', {}, head), h('tbody', {}, ...lines));
}

const kindOf = (name) => name.split(':');

function signsOf(found, i18n) {
  const names = [...new Set(found.signs.map(({ name }) => name))];
  const cell = ({ value, untrained }) => h('td.lens-number', {}, value.toFixed(3),
    untrained === null ? '' : h('span.lens-muted', {}, ` (${untrained.toFixed(3)})`));
  const rows = names.map((name) => {
    const [kind, map] = kindOf(name);
    const title = i18n.t(`matters.sign.${kind}`, { map: map && i18n.has(`matters.map.${map}`) ? i18n.t(`matters.map.${map}`) : map });
    const mine = found.signs.filter((s) => s.name === name);
    return h('tr', { 'data-sign': name }, h('td', { title: i18n.t(`matters.sign.${kind}.means`) }, title), ...mine.map(cell));
  });
  return h('table.lens-table', {}, h('thead', {}, h('tr', {}, h('th', { 'data-t': 'matters.sign' }),
    ...MODALITIES.map((m) => h('th.lens-number', {}, m.toUpperCase())))), h('tbody', {}, ...rows));
}

function sharesOf(found, i18n) {
  const percent = (value) => (100 * value).toFixed(1);
  const told = ([part, value]) => i18n.t('matters.moved', { part: i18n.t(`matters.part.${part}`), value: value.toFixed(4) });
  const moved = Object.entries(found.moved).map((one) => h('li', {}, told(one)));
  return h('ul.lens-matters-list', {},
    h('li', {}, i18n.t('matters.share', { length: percent(found.feature_share), variance: percent(found.variance_share) })), ...moved);
}

/**
 * @param {Record<string, any>} found
 * @param {Translator} i18n
 */
export function mattersContent(found, i18n) {
  const own = found.settings.sparse_ratio;
  const metric = found.metrics[0];
  const judged = found.rows.filter((row) => row.gain[metric] && row.sparse_ratio === own);
  const first = judged.find(({ name }) => name === FIRST) || judged[0];
  const unit = i18n.t(found.labelled ? 'matters.unit.identities' : 'matters.unit.sets');
  const dead = found.dead.length
    ? h('ul.lens-matters-list.lens-warn-text', {}, ...found.dead.map((note) => h('li', {}, i18n.sentence(note))))
    : h('p.lens-hint', { 'data-t': 'matters.alive' });
  const told = { data: found.data, sets: found.sets, queries: found.queries, n: found.identities, unit };
  const about = i18n.t(found.labelled ? 'matters.about' : 'matters.about.unlabelled', told);
  return [
    h('p.lens-matters-verdict', { 'data-verdict': first ? saysOf(opened(first.gain[metric]), metric) : '' }, first ? i18n.sentence(first.says) : ''),
    h('p.lens-hint', {}, about,
      found.broken.length ? ` ${i18n.t('matters.broken', { n: found.broken.length })}` : ''),
    h('div.lens-matters-columns', {},
      h('section', {}, h('h3', { 'data-t': 'matters.gains' }), tableOf(found, i18n), h('p.lens-hint', { 'data-t': 'matters.how' })),
      h('section', {}, h('h3', { 'data-t': 'matters.signs' }), dead, sharesOf(found, i18n), signsOf(found, i18n),
        h('p.lens-hint', { 'data-t': 'matters.signs.how' }))),
  ];
}
