// Find the cases worth a figure: every image set of a gallery with its numbers, sorted, filtered, on a map, collected.

/** @import { Lens } from '../core/types.js' */
import { unpack } from '../core/bytes.js';
import { h, segmented } from '../core/dom.js';
import { runJob } from '../core/jobs.js';
import { MEASURES } from '../core/measures.js';
import { aboutShown } from '../core/questions.js';
import { makeCasesList } from './cases_list.js';
import { makeCasesMap } from './cases_map.js';
import { between, sortedBy } from './cases_order.js';


// Number, direction and bounds.
function makeOrder(onChange) {
  const column = h('select', { 'data-cases': 'column', 'data-t-aria': 'cases.column', onchange: onChange },
    ...MEASURES.map((name) => h('option', { value: name, 'data-t': `cases.${name}` })));
  const bound = (name) => h('input', { type: 'number', step: 'any', 'data-cases': name, 'data-t-aria': `cases.${name}`, onchange: onChange });
  const [low, high] = [bound('low'), bound('high')];
  let descending = false;
  const direction = segmented('cases.order', ['up', 'down'], 'up', (value) => { descending = value === 'down'; onChange(); });
  const nodes = [h('label', {}, h('span.lens-key', { 'data-t': 'cases.column' }), column), direction.node,
    h('label', {}, h('span.lens-key', { 'data-t': 'cases.bounds' }), low, h('span', {}, '–'), high)];
  return { nodes, choose: (name) => { column.value = name; }, asked: () => ({ column: column.value, descending, low: low.value, high: high.value }) };
}

// What starts and watches the work.
function makeTools(run, cancel) {
  return {
    gallery: h('select', { 'data-cases': 'gallery', 'data-t-aria': 'matters.gallery' }),
    start: h('button.lens-button.lens-primary', { type: 'button', 'data-t': 'cases.run', 'data-cases': 'run', onclick: run }),
    stop: h('button.lens-button', { type: 'button', 'data-t': 'matters.cancel', hidden: true, onclick: cancel }),
    bar: h('progress', { max: 1, value: 0, hidden: true, 'data-t-aria': 'matters.progress' }),
    status: h('span.lens-status'),
    stale: h('span.lens-badge.lens-warn', { 'data-t': 'matters.stale', hidden: true }),
  };
}

/** @param {Lens} lens */
export function makeCasesView(lens) {
  const { i18n, server, session, store } = lens;
  const { state } = store;
  const { gallery, start, stop, bar, status, stale } = makeTools(run, () => { if (job) job.cancel(); });
  const order = makeOrder(refresh);
  const list = makeCasesList(lens);
  const map = makeCasesMap(lens, { onPick: (number) => session.useRecord(found.ids[number]), onLasso: choose });
  const mode = segmented('cases.drag', ['pan', 'lasso'], 'pan', (value) => map.setLasso(value === 'lasso'));
  const all = h('button.lens-button', { type: 'button', 'data-t': 'cases.all', 'data-cases': 'all', hidden: true, onclick: () => choose(null) });
  const body = h('div.lens-cases-body', { hidden: true },
    h('div.lens-cases-left', {}, h('div.lens-toolbar', {}, h('span.lens-key', { 'data-t': 'cases.drag' }), mode.node, all), map.node, map.scale, h('p.lens-hint', { 'data-t': 'cases.map.how' })), list.node);
  const empty = h('div.lens-invite', {}, h('h2', { 'data-t': 'cases.empty.title' }), h('p', { 'data-t': 'cases.empty.text' }));
  const node = h('div.lens-matters.lens-cases', {}, h('div.lens-toolbar', {},
    h('label', {}, h('span.lens-key', { 'data-t': 'matters.gallery' }), gallery), start, stop, bar, status, stale, ...order.nodes), body, empty);
  // Tau is no part of it: it moves neither the kept set nor the feature.
  const about = () => JSON.stringify([state.weights, { ...state.analysis?.settings, tau: undefined }]);
  let found = null;
  let chosen = null; // by the lasso
  let job = null;
  let askedFor = null;
  let galleries = /** @type {any[]} */ ([]);

  async function look() {
    stale.hidden = !found || !state.analysis || about() === found.about;
    if (node.hidden || !state.key || askedFor === state.key) return;
    askedFor = state.key;
    const answer = await server.ask('rank.galleries', { key: state.key });
    if (answer.expired && answer.expired.length) { session.analyse(); return; }
    const kept = Number(gallery.value) || 0;
    const told = (g, i) => h('option', { value: i, selected: i === kept }, `${g.name} · ${g.split} (${g.count})`);
    galleries = answer.galleries || [];
    gallery.replaceChildren(...galleries.map(told));
    start.disabled = !gallery.options.length;
  }

  async function run() {
    if (!state.analysis || job) return;
    const number = Number(gallery.value) || 0;
    const { split } = galleries[number];
    const mine = about();
    job = runJob(server, 'cases.run', aboutShown(lens, { gallery: number }), (done, total) => {
      bar.value = total ? done / total : 0;
      status.textContent = total ? i18n.t('matters.done', { done, total }) : '';
    });
    running(true);
    const answer = await job.finished;
    job = null;
    running(false);
    if (answer.error) status.textContent = i18n.sentence(answer.error);
    if (!answer.result) return;
    take({ ...answer.result, about: mine });
    store.update({ survey: { key: answer.result.key, root: number, split } }); // the data folders are the first galleries
  }

  function running(yes) {
    start.disabled = yes;
    stop.hidden = !yes;
    bar.hidden = !yes;
    status.textContent = '';
  }

  function take(result) {
    found = { ...result, columns: Object.fromEntries(MEASURES.map((name) => [name, unpack(result.columns[name], Float32Array)])) };
    chosen = null;
    [body.hidden, empty.hidden] = [false, true];
    map.take(unpack(result.places, Float32Array));
    list.take(found);
    stale.hidden = true;
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

  store.subscribe(['caseColumn'], () => { order.choose(state.caseColumn); refresh(); });
  return { id: 'cases', node, update: look, shown: look, retranslate: () => { if (found) list.redraw(); map.repaint(); } };
}
