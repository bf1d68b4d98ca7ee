// Find the cases worth a figure: every image set of a gallery with its numbers, sorted, filtered, on a map, collected.

/** @import { Lens } from '../core/types.js' */
import { unpack } from '../core/bytes.js';
import { h, segmented } from '../core/dom.js';
import { MEASURES } from '../core/measures.js';
import { makeCasesList } from './cases_list.js';
import { makeCasesMap } from './cases_map.js';
import { between, sortedBy } from './cases_order.js';
import { makeSurveyor } from './cases_run.js';

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

/** @param {Lens} lens */
export function makeCasesView(lens) {
  const { session, store } = lens;
  const surveyor = makeSurveyor(lens, take);
  const order = makeOrder(refresh);
  const list = makeCasesList(lens);
  const map = makeCasesMap(lens, { onPick: (number) => session.useRecord(found.ids[number]), onLasso: choose });
  const mode = segmented('cases.drag', ['pan', 'lasso'], 'pan', (value) => map.setLasso(value === 'lasso'));
  const all = h('button.lens-button', { type: 'button', 'data-t': 'cases.all', 'data-cases': 'all', hidden: true, onclick: () => choose(null) });
  const body = h('div.lens-cases-body', { hidden: true },
    h('div.lens-cases-left', {}, h('div.lens-toolbar', {}, h('span.lens-key', { 'data-t': 'cases.drag' }), mode.node, all),
      map.node, map.scale, h('p.lens-hint', { 'data-t': 'cases.map.how' })), list.node);
  const empty = h('div.lens-invite', {}, h('h2', { 'data-t': 'cases.empty.title' }), h('p', { 'data-t': 'cases.empty.text' }));
  const node = h('div.lens-matters.lens-cases', {}, h('div.lens-toolbar', {}, ...surveyor.nodes, ...order.nodes), body, empty);
  let found = null;
  let chosen = null; // by the lasso

  function take(result) {
    found = { ...result, columns: Object.fromEntries(MEASURES.map((name) => [name, unpack(result.columns[name], Float32Array)])) };
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

  const look = () => surveyor.look(!node.hidden);
  store.subscribe(['caseColumn'], () => { order.choose(store.state.caseColumn); refresh(); });
  return { id: 'cases', node, update: look, shown: look, retranslate: () => { if (found) list.redraw(); map.repaint(); } };
}
