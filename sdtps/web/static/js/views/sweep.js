// One slider over its range as curves; a click goes there.

/** @import { Lens } from '../core/types.js' */
import { h, segmented } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { nearestIndex, orDash, roundSetting } from '../core/numbers.js';
import { askAbout } from '../core/questions.js';
import { afterwards, latestWins } from '../core/requester.js';
import { computing } from '../core/work.js';
import { chartLegend, fitted, lineChart } from './chart.js';

const SWEEP_DELAY = 250; // after the last move: a sweep costs as much as a hundred moves

/**
 * What is drawn: one chart per measure that tells something, with its lines and the range of its axis.
 * @param {Record<string, any>} found
 * @returns {{ key: string, series: { values: (number | null)[], kind: string }[], range: [number, number] }[]}
 */
export function chartsOf(found) {
  const given = MODALITIES.filter((m) => m in found.cosine);
  const low = Math.min(...given.flatMap((m) => found.cosine[m].filter((v) => v !== null)), 0.9);
  return found.telling.map((key) => ({
    key, series: given.map((m) => ({ values: found[key][m], kind: m })), range: [key === 'cosine' ? Math.floor(low * 10) / 10 : 0, 1],
  }));
}

// The numbers of one point, as words.
function pointWords(found, i, i18n) {
  const parts = Object.keys(found.cosine).map((m) => {
    const words = found.telling.map((key) => `${i18n.t(`sweep.${key}.y`)} ${orDash(found[key][m][i], key === 'cosine' ? 3 : 2)}`);
    return `${m.toUpperCase()} ${words.join(', ')}`;
  });
  const tokens = found.tokens[i] ? [i18n.t('means.tokens', { n: found.tokens[i] })] : []; // a recording may hold no aggregation
  return [`K ${found.kept[i]}`, ...tokens, ...(found.telling.length ? parts : [])];
}

/** @param {Lens} lens */
export function makeSweep(lens) {
  const { config, i18n, store, session } = lens;
  const { state } = store;
  const names = config.sliders.map((slider) => slider.name);
  let [name] = names;
  let found = null;
  const charts = h('div.lens-charts', {}, computing());
  const readout = h('p.lens-sweep-readout');
  const choice = segmented('sweep', names, name, (chosen) => { name = chosen; found = null; run(); });
  const node = h('section.lens-sweep', { 'data-t-aria': 'sweep.title' },
    h('div.lens-toolbar', {}, h('h2', { 'data-t': 'sweep.title' }), choice.node), readout, charts);

  const ask = latestWins(
    (/** @type {string} */ asked) => askAbout(lens, 'why.sweep', { name: asked }),
    (answer, asked) => {
      if (asked !== name) return;
      found = answer;
      draw();
    },
  );
  const run = () => { if (state.analysis && state.key) ask(name); };
  const later = afterwards(() => { if (!node.closest('[hidden]')) run(); }, SWEEP_DELAY);

  function figure({ key, series, range }, height) {
    const legend = series.map(({ kind }) => ({ kind, name: kind.toUpperCase() }));
    const { values } = found;
    return h('figure.lens-figure', { 'data-curve': key },
      h('figcaption', {}, h('b', { 'data-t': `sweep.${key}` }), chartLegend(legend)),
      fitted(height, (width) => lineChart({
        width, height, label: `${i18n.t(`sweep.${key}`)}, ${i18n.t(`setting.${name}`)}`,
        x: { values, range: [values[0], values[values.length - 1]], title: i18n.t(`setting.${name}`), log: found.log },
        y: { range, title: i18n.t(`sweep.${key}.y`) }, series, now: found.now, onPick: pick, onPoint: point,
      })));
  }

  function draw() {
    if (!found || !state.analysis) return;
    if (found.error) {
      charts.replaceChildren(h('p.lens-hint', {}, i18n.sentence(found.error)));
      return;
    }
    const specs = chartsOf(found);
    const height = Math.max(104, Math.min(160, Math.floor(470 / specs.length)));
    charts.replaceChildren(...specs.map((spec) => figure(spec, height)));
    if (!specs.length) charts.append(h('p.lens-hint', { 'data-t': 'sweep.still' }));
    if (!found.telling.includes('jaccard')) charts.append(h('p.lens-hint', { 'data-t': 'sweep.arithmetic' }));
    if (!Object.keys(found.precision).length) charts.append(h('p.lens-hint', { 'data-t': 'sweep.no_mask' }));
    i18n.apply(charts);
    node.dataset.sweep = JSON.stringify({ name: found.name, now: found.now });
    point(null);
  }

  // The slider must land exactly on the point, so that its number is the curve's.
  function pick(i) {
    session.changeSettings({ [found.name]: roundSetting(found.values[i]) });
  }

  function point(at) {
    const i = at ?? nearestIndex(found.values, found.now);
    readout.replaceChildren(h('b', {}, `${i18n.t(`setting.${found.name}`)} ${roundSetting(found.values[i])}`),
      ...pointWords(found, i, i18n).map((words) => h('span', {}, words)));
  }

  return { node, update: () => { if (found) later(); else run(); }, redraw: draw };
}
