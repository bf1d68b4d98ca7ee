// Find the cases worth a figure: every image set of a gallery with its numbers, sorted, filtered, on a map, collected.

/** @import { Lens } from '../core/types.js' */
import { unpack } from '../core/bytes.js';
import { h, segmented } from '../core/dom.js';
import { runJob } from '../core/jobs.js';
import { aboutShown } from '../core/questions.js';
import { makeCasesList } from './cases_list.js';
import { makeCasesMap } from './cases_map.js';
import { between, sortedBy } from './cases_order.js';

const COLUMNS = ['ap', 'margin', 'precision', 'disagreement', 'darkness', 'outliers'];

// Number, direction and bounds.
function makeOrder(onChange) {
  const column = h('select', { 'data-cases': 'column', 'data-t-aria': 'cases.column', onchange: onChange },
    ...COLUMNS.map((name) => h('option', { value: name, 'data-t': `cases.${name}` })));
  const bound = (name) => h('input', { type: 'number', step: 'any', 'data-cases': name, 'data-t-aria': `cases.${name}`, onchange: onChange });
  const [low, high] = [bound('low'), bound('high')];
  let descending = false;
  const direction = segmented('cases.order', ['up', 'down'], 'up', (value) => { descending = value === 'down'; onChange(); });
  const nodes = [h('label', {}, h('span.lens-key', { 'data-t': 'cases.column' }), column), direction.node,
    h('label', {}, h('span.lens-key', { 'data-t': 'cases.bounds' }), low, h('span', {}, '–'), high)];
  return { nodes, asked: () => ({ column: column.value, descending, low: low.value, high: high.value }) };
}

// What starts and watches the work.
function makeTools(run, cancel) {
  return {
    gallery: h('select', { 'data-cases': 'gallery', 'data-t-aria': 'matters.gallery' }),
    start: h('button.lens-button.lens-primary', { type: 'button', 'data-t': 'cases.run', 'data-cases': 'run', onclick: run }),
    stop: h('button.lens-button', { type: 'button', 'data-t': 'matters.cancel', hidden: true, onclick: cancel }),
    bar: h('progress', { max: 1, value: 0, hidden: true, 'data-t-aria': 'matters.progress' }),
    status: h('span.lens-status'),
  };
}

/** @param {Lens} lens */
export function makeCasesView(lens) {
  const { i18n, server, session, store } = lens;
  const { state } = store;
  const { gallery, start, stop, bar, status } = makeTools(run, () => { if (job) job.cancel(); });
  const order = makeOrder(refresh);
  const list = makeCasesList(lens);
  const map = makeCasesMap(lens, { onPick: (number) => session.useRecord(found.ids[number]), onLasso: choose });
  const mode = segmented('cases.drag', ['pan', 'lasso'], 'pan', (value) => map.setLasso(value === 'lasso'));
  const all = h('button.lens-button', { type: 'button', 'data-t': 'cases.all', 'data-cases': 'all', hidden: true, onclick: () => choose(null) });
  const body = h('div.lens-cases-body', { hidden: true },
    h('div.lens-cases-left', {}, h('div.lens-toolbar', {}, h('span.lens-key', { 'data-t': 'cases.drag' }), mode.node, all), map.node, map.scale, h('p.lens-hint', { 'data-t': 'cases.map.how' })), list.node);
  const empty = h('div.lens-invite', {}, h('h2', { 'data-t': 'cases.empty.title' }), h('p', { 'data-t': 'cases.empty.text' }));
  const node = h('div.lens-matters.lens-cases', {}, h('div.lens-toolbar', {},
    h('label', {}, h('span.lens-key', { 'data-t': 'matters.gallery' }), gallery), start, stop, bar, status, ...order.nodes), body, empty);
  let found = null;
  let chosen = null; // by the lasso
  let job = null;
  let askedFor = null;

  async function look() {
    if (node.hidden || !state.key || askedFor === state.key) return;
    askedFor = state.key;
    const answer = await server.ask('rank.galleries', { key: state.key });
    if (answer.expired && answer.expired.length) { session.analyse(); return; }
    const kept = Number(gallery.value) || 0;
    const told = (g, i) => h('option', { value: i, selected: i === kept }, `${g.name} · ${g.split} (${g.count})`);
    gallery.replaceChildren(...(answer.galleries || []).map(told));
    start.disabled = !gallery.options.length;
  }

  async function run() {
    if (!state.analysis || job) return;
    job = runJob(server, 'cases.run', aboutShown(lens, { gallery: Number(gallery.value) || 0 }), (done, total) => {
      bar.value = total ? done / total : 0;
      status.textContent = total ? i18n.t('matters.done', { done, total }) : '';
    });
    running(true);
    const answer = await job.finished;
    job = null;
    running(false);
    if (answer.error) status.textContent = i18n.sentence(answer.error);
    if (answer.result) take(answer.result);
  }

  function running(yes) {
    start.disabled = yes;
    stop.hidden = !yes;
    bar.hidden = !yes;
    status.textContent = '';
  }

  function take(result) {
    found = { ...result, columns: Object.fromEntries(COLUMNS.map((name) => [name, unpack(result.columns[name], Float32Array)])) };
    chosen = null;
    [body.hidden, empty.hidden] = [false, true];
    map.take(unpack(result.places, Float32Array));
    list.take(found);
    refresh();
  }

  function choose(numbers) {
    chosen = numbers && numbers.length ? numbers : null;
    all.hidden = !chosen;
    refresh();
  }

  function refresh() {
    if (!found) return;
    const { column, descending, low, high } = order.asked();
    const values = found.columns[column];
    const wanted = chosen && new Set(chosen);
    const listed = between(sortedBy(values, descending), values, low, high).filter((i) => !wanted || wanted.has(i));
    map.colour(values);
    map.show(listed.length === found.ids.length ? null : listed);
    list.show(listed, column);
    body.dataset.listed = String(listed.length);
  }

  return { id: 'cases', node, update: look, shown: look, retranslate: () => { if (found) list.redraw(); map.repaint(); } };
}
