// Recorded trainings: curves over one another, what is wrong in words, and a click on an epoch shows its maps.

/** @import { Lens } from '../core/types.js' */
import { h, segmented } from '../core/dom.js';
import { rangeNumber } from '../core/numbers.js';
import { runChart } from './training_chart.js';
import { chartsOfRuns, runKind } from './training_curves.js';
import { labTable } from './training_lab.js';
import { makeRunList } from './training_runs.js';

const ROUTES = ['scores', 'predictor', 'patches', 'globals', 'aggregation', 'backbone'];
const NAMED = 8; // settings that differ; runs of two programs differ in all of them

function findingNode(finding, i18n, onEpoch) {
  const written = (value) => (typeof value === 'number' ? rangeNumber(value) : value ?? '–');
  const named = (name) => i18n.sentence({ code: `evidence.${name}`, values: {}, text: name });
  const numbers = Object.entries(finding.evidence).map(([name, value]) => `${named(name)} ${written(value)}`);
  return h('li', { 'data-rule': finding.rule, 'data-run': finding.run },
    h('b', {}, `${finding.run}: `), i18n.sentence(finding.said),
    numbers.length ? h('small', {}, ` (${numbers.join(', ')})`) : null,
    finding.epoch === null ? null : h('button.lens-link', { type: 'button', onclick: onEpoch }, `${i18n.t('training.epoch')} ${finding.epoch}`));
}

/** @param {Lens} lens */
export function makeTrainingView(lens) {
  const { i18n, store } = lens;
  const { state } = store;
  const list = makeRunList(lens, draw);
  let route = 'scores';
  const intro = h('p.lens-intro');
  const legend = h('ul.lens-legend.lens-run-legend', { 'data-t-aria': 'training.runs' });
  const choice = segmented('training.route', ROUTES, route, (chosen) => { route = chosen; draw(); });
  const charts = h('div.lens-run-charts');
  const unwatched = h('p.lens-hint');
  const findings = h('ul.lens-findings');
  const lab = h('section.lens-lab', { hidden: true });
  const node = h('div.lens-training', {}, intro, legend,
    h('div.lens-toolbar', {}, h('span', { 'data-t': 'training.route' }), choice.node, unwatched), charts,
    h('section', {}, h('h2', { 'data-t': 'training.findings' }), findings), lab);

  function open(epoch, name) {
    unwatched.textContent = list.open(epoch, name) ? '' : i18n.t('training.unwatched');
  }

  function legendEntry(run) {
    const box = h('input', {
      type: 'checkbox', checked: list.isShown(run), 'data-run-shown': run.name, onchange: () => list.show(run, box.checked),
    });
    return h('li', { title: list.wordsOf(run) }, h('label', {}, box, h(`i.lens-key-${runKind(run.id)}`), run.name));
  }

  function chart(spec) {
    const title = i18n.t(`curve.${spec.key}`, { route: i18n.t(`training.route.${route}`) });
    return runChart(spec, { title, now: state.recorded ? state.recorded.epoch : null, i18n, onPick: open });
  }

  function drawFindings(all) {
    const names = new Set(list.shown().map((run) => run.name));
    const told = all.filter(({ run }) => run.split(' / ').every((name) => names.has(name)));
    const entry = (f) => findingNode(f, i18n, () => open(f.epoch, f.run.split(' / ')[0]));
    const noted = (run, note) => h('li', { 'data-note': run.name }, h('b', {}, `${run.name}: `), i18n.sentence(note));
    const notes = list.shown().flatMap((run) => run.notes.map((note) => noted(run, note)));
    const healthy = told.length || !names.size ? [] : [h('li', {}, i18n.t('training.healthy'))];
    findings.replaceChildren(...told.map(entry), ...healthy, ...notes);
  }

  function introduction({ shipped, differing }) {
    if (!list.runs().length) return i18n.t('training.none');
    const names = [...differing.slice(0, NAMED), ...(differing.length > NAMED ? ['…'] : [])].join(', ');
    const further = differing.length ? i18n.t('training.differing', { names }) : '';
    return `${i18n.t('training.intro')} ${shipped ? i18n.t('training.shipped') : further}`;
  }

  function draw() {
    const found = list.found();
    if (!found) return;
    if (found.error) { intro.textContent = i18n.sentence(found.error); return; }
    intro.textContent = introduction(found);
    legend.replaceChildren(...list.runs().map(legendEntry));
    charts.replaceChildren(...chartsOfRuns(list.shown(), route).map(chart));
    drawFindings(found.findings);
    lab.hidden = !found.lab.length;
    if (found.lab.length) lab.replaceChildren(...labTable(found.lab, list.runs(), i18n, list.only));
    node.dataset.runs = String(list.runs().length);
  }

  store.subscribe(['recorded'], () => { if (!node.hidden) draw(); });
  const { runs, only, openLinked } = list;
  return { id: 'training', node, retranslate: draw, update: () => {}, shown: list.refresh, runs, only, openLinked };
}
