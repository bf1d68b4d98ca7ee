// Parts of the folder browser: the menus that filter, the record on screen with its steps, and the broken ones.

/** @import { Config, Server, Translator } from '../core/types.js' */
/** @import { Found } from './folder_list.js' */
import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { afterwards } from '../core/requester.js';

/** @typedef {{ column: string, descending: boolean, low: string, high: string }} Sort an empty column means by name */
/** @typedef {{ root: number, split: string, pid: number | null, cam: number | null, search: string, sort: Sort }} Filter */

const SEARCH_DELAY = 150;

function fill(select, items, chosen) {
  select.replaceChildren(...items.map(([value, text]) => h('option', { value, selected: String(value) === String(chosen ?? '') }, text)));
}

/**
 * @param {{ config: Config, i18n: Translator }} lens
 * @param {Filter} filter
 * @param {(otherSplit: boolean) => void} onChange
 */
export function makeMenus({ config, i18n }, filter, onChange) {
  const choice = (name, onchange) => h('select', { 'data-browse': name, 'data-t-aria': `browse.${name}`, onchange });
  const change = (changes, otherSplit) => { Object.assign(filter, changes); onChange(otherSplit); };
  const numberOrAll = (text) => (text === '' ? null : Number(text));
  const root = choice('root', () => change({ root: Number(root.value), split: config.roots[Number(root.value)].first }, true));
  const split = choice('split', () => change({ split: split.value }, true));
  const pid = choice('pid', () => change({ pid: numberOrAll(pid.value) }, false));
  const cam = choice('cam', () => change({ cam: numberOrAll(cam.value) }, false));
  const searched = afterwards(() => { if (search.value !== filter.search) change({ search: search.value }, false); }, SEARCH_DELAY);
  const search = h('input', { type: 'search', 'data-browse': 'search', 'data-t-aria': 'browse.search', oninput: searched });

  /** @param {Found['facets']} facets */
  function refresh({ identities, cameras }) {
    const card = config.roots[filter.root];
    fill(root, config.roots.map((r, i) => [i, `${r.name} · ${r.layout}`]), filter.root);
    root.title = card.layout;
    fill(split, card.splits.map((s) => [s, s]), filter.split);
    const numbered = (kind, numbers) => [['', i18n.t(`browse.any.${kind}`)], ...numbers.map((n) => [n, i18n.t(`browse.is.${kind}`, { n })])];
    fill(pid, numbered('pid', identities), filter.pid);
    fill(cam, numbered('cam', cameras), filter.cam);
    pid.disabled = !identities.length;
    cam.disabled = !cameras.length;
    search.placeholder = i18n.t('browse.search');
  }

  const nodes = [config.roots.length > 1 ? root : null, h('div.lens-browse-row', {}, split, cam), h('div.lens-browse-row', {}, pid, search)];
  return { nodes, refresh, clearSearch: () => { search.value = ''; } };
}

/**
 * The record on screen, and the steps to others.
 * @param {Translator} i18n
 * @param {Found} found
 * @param {{ step: (by: number) => void, go: (position: number) => void }} actions
 */
export function makeCurrent(i18n, found, { step, go }) {
  const thumb = h('img.lens-browse-thumb', { alt: '', hidden: true });
  const facts = h('div.lens-browse-facts');
  const where = h('span.lens-browse-position');
  const button = (name, text, onclick) => h('button.lens-step', {
    type: 'button', 'data-browse': name, 'data-t-title': `browse.${name}`, 'data-t-aria': `browse.${name}`, onclick,
  }, text);
  const previous = button('previous', icon('previous'), () => step(-1));
  const next = button('next', icon('next'), () => step(1));
  const random = button('random', icon('dice'), () => go(Math.floor(Math.random() * found.total)));

  function positionText() {
    const count = (n) => n.toLocaleString(i18n.language);
    if (found.total === 0) return i18n.t('browse.none');
    if (found.position === null) return i18n.t('browse.count', { n: count(found.total) });
    return i18n.t('browse.position', { i: count(found.position + 1), n: count(found.total) });
  }

  function factsOf(record) {
    const told = ['pid', 'cam', 'scene'].filter((kind) => record[kind] !== null).map((kind) => i18n.t(`browse.is.${kind}`, { n: record[kind] }));
    const mask = record.mask ? [h('span', {}, i18n.t('browse.mask'))] : [];
    return [h('b', { title: record.name }, record.name), h('span', {}, told.join(' · ')), ...mask];
  }

  /** @param {Record<string, any> | null} record as the server describes it */
  function refresh(record) {
    const { total, position } = found;
    where.textContent = positionText();
    where.dataset.position = position === null ? '' : String(position);
    where.dataset.total = String(total);
    previous.disabled = position === null || position === 0;
    next.disabled = total === 0 || position === total - 1;
    random.disabled = total < 2;
    thumb.hidden = !record;
    if (record) thumb.src = record.thumbnail;
    facts.replaceChildren(...(record ? factsOf(record) : []));
  }

  return { nodes: [h('div.lens-browse-now', {}, previous, where, next, random), h('div.lens-browse-current', {}, thumb, facts)], refresh };
}

/**
 * Records that cannot be shown, listed when somebody opens the list.
 * @param {{ i18n: Translator, server: Server }} lens
 * @param {() => object} request
 */
export function makeBroken({ i18n, server }, request) {
  const count = h('summary', { 'data-browse': 'broken' });
  const items = h('ul.lens-broken-list');
  const node = h('details.lens-broken', { hidden: true, ontoggle: list }, count, items);

  async function list() {
    if (!node.open) return;
    const answer = await server.ask('data.broken', request());
    const rows = answer.error ? [{ name: '', note: answer.error }] : answer.rows;
    const lines = rows.map((row) => h('li', { title: row.name }, h('b', {}, row.name), ` ${i18n.sentence(row.note)}`));
    if (answer.total > rows.length) lines.push(h('li', {}, i18n.t('browse.more', { n: answer.total - rows.length })));
    items.replaceChildren(...lines);
  }

  /** @param {number} n */
  function refresh(n) {
    node.hidden = !n;
    count.textContent = i18n.t('browse.broken', { n });
  }

  return { node, refresh, close: () => { node.open = false; } };
}
