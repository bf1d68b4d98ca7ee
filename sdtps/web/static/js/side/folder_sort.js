// The order of the folder browser: by name, or by a number that "Find cases" has measured, between two bounds.

/** @import { Lens } from '../core/types.js' */
/** @import { Filter } from './folder_parts.js' */
import { h } from '../core/dom.js';
import { MEASURES } from '../core/measures.js';

const NAME = '';

/** @returns {Filter['sort']} */
export const byName = () => ({ column: NAME, descending: false, low: '', high: '' });

/**
 * The fields of a question for rows: none of them while nothing was measured here.
 * @param {Filter} filter
 * @param {{ key: string, root: number, split: string } | null} survey
 */
export function sortFields(filter, survey) {
  const { column, descending, low, high } = filter.sort;
  if (column === NAME || !survey || survey.root !== filter.root || survey.split !== filter.split) return {};
  const bound = (text) => (text.trim() === '' || !Number.isFinite(Number(text)) ? null : Number(text));
  return { survey: survey.key, column, descending, low: bound(low), high: bound(high) };
}

/**
 * @param {Lens} lens
 * @param {Filter} filter
 * @param {() => void} onChange
 */
export function makeSort({ i18n, store }, filter, onChange) {
  const { state } = store;
  const { sort } = filter;
  const change = (changes) => { Object.assign(sort, changes); refresh(); onChange(); };
  const column = h('select', { 'data-browse': 'sort', 'data-t-aria': 'browse.sort', onchange: choose },
    h('option', { value: NAME, 'data-t': 'browse.sort.name' }), ...MEASURES.map((name) => h('option', { value: name, 'data-t': `cases.${name}` })));
  const direction = h('button.lens-button', { type: 'button', 'data-browse': 'direction', onclick: () => change({ descending: !sort.descending }) });
  const bound = (name) => h('input', {
    type: 'number', step: 'any', 'data-browse': name, 'data-t-aria': `cases.${name}`,
    onchange: (event) => change({ [name]: event.target.value }),
  });
  const ends = ['low', 'high'].map(bound);
  const bounds = h('div.lens-browse-row', {}, ...ends);
  const first = h('p.lens-hint', { 'data-t': 'browse.sort.first' });
  const open = () => store.update({ view: 'cases' });
  const lead = h('button.lens-link', { type: 'button', 'data-browse': 'cases', 'data-t': 'browse.cases', onclick: open });

  const measured = () => 'survey' in sortFields(filter, state.survey);

  // What was not measured yet is measured in the tab, which is told by what.
  function choose() {
    change({ column: column.value });
    if (column.value === NAME) return;
    store.update({ caseColumn: column.value });
    if (!measured()) open();
  }

  function refresh() {
    const sorted = sort.column !== NAME;
    direction.textContent = i18n.t(`cases.order.${sort.descending ? 'down' : 'up'}`);
    direction.hidden = !sorted || !measured();
    bounds.hidden = direction.hidden;
    for (const end of ends) end.placeholder = i18n.t(`cases.${end.dataset.browse}`);
    first.hidden = !sorted || measured();
  }

  store.subscribe(['survey'], () => { refresh(); if (sort.column !== NAME) onChange(); });
  refresh();
  return { nodes: [h('div.lens-browse-row', {}, column, direction), bounds, first, lead], refresh };
}
