// Recorded trainings: curves over one another, what is wrong in words, and a click on an epoch shows its maps.

/** @import { Lens } from '../core/types.js' */
import { h, segmented } from '../core/dom.js';
import { rangeNumber } from '../core/numbers.js';
import { latestWins } from '../core/requester.js';
import { lineChart } from './chart.js';
import { chartsOfRuns } from './training_curves.js';

const ROUTES = ['scores', 'predictor', 'patches', 'globals', 'aggregation', 'backbone'];
const COLOURS = 12; // `.lens-run0` and so on; then they begin again
const CHART = { width: 372, height: 190 };

/** @param {number} id */
export const runKind = (id) => `run${id % COLOURS}`;

function findingNode(finding, i18n, onEpoch) {
  const written = (value) => (typeof value === 'number' ? rangeNumber(value) : value ?? '–');
  const numbers = Object.entries(finding.evidence).map(([name, value]) => `${name} ${written(value)}`);
  return h('li', { 'data-rule': finding.rule, 'data-run': finding.run },
    h('b', {}, `${finding.run}: `), i18n.sentence(finding.said),
    numbers.length ? h('small', {}, ` (${numbers.join(', ')})`) : null,
    finding.epoch === null ? null : h('button.lens-link', { type: 'button', onclick: onEpoch }, `${i18n.t('training.epoch')} ${finding.epoch}`));
}

/** @param {Lens} lens */
export function makeTrainingView(lens) {
  const { i18n, server, session, store } = lens;
  const { state } = store;
  let found = null;
  let route = 'scores';
  const hidden = new Set();
  const intro = h('p.lens-intro');
  const legend = h('ul.lens-legend.lens-run-legend', { 'data-t-aria': 'training.runs' });
  const choice = segmented('training.route', ROUTES, route, (chosen) => { route = chosen; draw(); });
  const charts = h('div.lens-run-charts');
  const readout = h('p.lens-sweep-readout');
  const findings = h('ul.lens-findings');
  const node = h('div.lens-training', {}, intro, legend,
    h('div.lens-toolbar', {}, h('span', { 'data-t': 'training.route' }), choice.node, readout), charts,
    h('section', {}, h('h2', { 'data-t': 'training.findings' }), findings));

  const ask = latestWins(() => server.ask('runs.list', {}), (answer) => { found = answer; draw(); });
  const runs = () => (found && found.runs) || [];
  const shown = () => runs().filter((run) => !hidden.has(run.id));

  /** The nearest watched epoch of a run; the one on screen, or the first that has maps. */
  function open(epoch, name) {
    const watched = shown().filter((run) => run.epochs.length);
    const run = watched.find((r) => r.name === name) || watched.find((r) => r.id === state.recorded?.run) || watched[0];
    if (!run) { readout.textContent = i18n.t('training.unwatched'); return; }
    const nearest = run.epochs.reduce((best, e) => (Math.abs(e - epoch) < Math.abs(best - epoch) ? e : best));
    session.showEpoch({ run: run.id, epoch: nearest, probe: state.recorded?.probe ?? 0 });
  }

  function legendEntry(run) {
    const box = h('input', {
      type: 'checkbox', checked: !hidden.has(run.id), 'data-run-shown': run.name,
      onchange: () => { if (box.checked) hidden.delete(run.id); else hidden.add(run.id); draw(); },
    });
    return h('li', {}, h('label', {}, box, h(`i.lens-key-${runKind(run.id)}`), run.name));
  }

  function chart(spec) {
    const words = (i) => spec.series.filter(({ values }) => values[i] !== null)
      .map(({ name, values }) => `${name} ${Number(values[i].toPrecision(3))}`);
    const title = i18n.t(`curve.${spec.key}`, { route: i18n.t(`training.route.${route}`) });
    return h('figure.lens-run-chart', { 'data-curve': spec.key }, h('figcaption', {}, title), lineChart({
      ...CHART,
      label: title,
      x: { values: spec.epochs, range: spec.xRange, title: i18n.t('training.epoch') },
      y: { range: spec.range, title: '', log: spec.log },
      series: spec.series.map(({ values, id }) => ({ values, kind: runKind(id) })),
      now: state.recorded ? state.recorded.epoch : null,
      onPoint: (i) => { readout.textContent = i === null ? '' : `${i18n.t('training.epoch')} ${spec.epochs[i]}: ${words(i).join(' · ')}`; },
      onPick: (i) => open(spec.epochs[i]),
    }));
  }

  function draw() {
    if (!found) return;
    if (found.error) { intro.textContent = i18n.sentence(found.error); return; }
    const empty = !runs().length;
    const differing = found.differing.length ? ` ${i18n.t('training.differing', { names: found.differing.join(', ') })}` : '';
    intro.textContent = empty ? i18n.t('training.none') : `${i18n.t('training.intro')} ${found.shipped ? i18n.t('training.shipped') : differing}`;
    legend.replaceChildren(...runs().map(legendEntry));
    charts.replaceChildren(...chartsOfRuns(shown(), route).map(chart));
    const names = new Set(shown().map((run) => run.name));
    const told = found.findings.filter(({ run }) => run.split(' / ').every((name) => names.has(name)));
    findings.replaceChildren(...(told.length || empty ? told.map((f) => findingNode(f, i18n, () => open(f.epoch, f.run.split(' / ')[0])))
      : [h('li', {}, i18n.t('training.healthy'))]));
    node.dataset.runs = String(runs().length);
  }

  store.subscribe(['recorded'], () => { if (!node.hidden) draw(); });
  return { id: 'training', node, retranslate: draw, update: () => {}, shown: () => ask(null), runs };
}
