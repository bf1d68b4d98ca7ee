// The rows of the comparison: A, B, what changed, the difference of one map, and the numbers.

/** @import { Analysis, Lens } from '../core/types.js' */
import { decisionLook } from '../core/analysis.js';
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { orDash, rangeNumber } from '../core/numbers.js';
import { miniMap, miniWidth, numberedBar } from '../grid/minimap.js';

function factsOf(change, m) {
  const fact = (name, value, shown = name) => h('tr', {}, h('td', { 'data-t': `compare.${name}` }), h('td', { 'data-fact': shown }, value));
  return h('table.lens-facts', { 'data-facts': m }, h('tbody', {},
    fact('entered', String(change.entered.length)),
    fact('left', String(change.left.length)),
    fact('jaccard', change.overlap.jaccard.toFixed(3)),
    fact('chance', change.overlap.chance.toFixed(3)),
    fact('corrected', orDash(change.overlap.corrected)),
    fact('pooled', orDash(change.pooled_cosine, 4), 'cosine')));
}

/** @param {Lens} lens */
export function makeCompareRows({ config, i18n, tables }) {
  const node = h('div.lens-compare-rows');
  const maps = config.panels.filter((panel) => panel.kind === 'heat');
  const first = maps.find((panel) => panel.group === 'decision') || maps[0];
  let shownMap = first.name;
  let redraw = () => {};
  const menu = h('select', { 'data-t-aria': 'compare.map', 'data-compare': 'map', onchange: () => { shownMap = menu.value; redraw(); } });

  function invite(...content) {
    node.replaceChildren(h('div.lens-invite', {}, ...content));
    i18n.apply(node);
  }

  function fillMenu(ranges) {
    const known = maps.map((panel) => panel.name).filter((name) => name in ranges);
    if (!known.includes(shownMap)) [shownMap] = known;
    menu.replaceChildren(...known.map((name) => h('option', { value: name, selected: name === shownMap }, i18n.t(`column.${name}`))));
  }

  function differenceOf(change, limit, look) {
    return h('div.lens-difference-map', {},
      look({ values: change.differences[shownMap], range: [-limit, limit], table: tables.diverging, opacity: 0.85 }),
      limit ? numberedBar(tables.diverging, `−${rangeNumber(limit)}`, `+${rangeNumber(limit)}`, '0')
        : h('p.lens-hint', { 'data-t': 'compare.same' }));
  }

  function row(m, answered, before, after) {
    const { grid } = after;
    const change = answered.modalities[m];
    const name = m.toUpperCase();
    const picture = (of, label, more) => miniMap(grid, miniWidth(grid, 78, 84), {
      image: of.modalities[m].image, label: `${name}, ${label}`, ...more,
    });
    return h('div.lens-compare-row', { 'data-modality': m },
      h('div.lens-row-name', {}, h('span', {}, name)),
      picture(before, 'A', { ...decisionLook(before, m), table: tables.viridis }),
      picture(after, 'B', { ...decisionLook(after, m), table: tables.viridis }),
      picture(after, i18n.t('compare.changed'), { entered: change.entered, left: change.left, data: { changed: m } }),
      differenceOf(change, answered.ranges[shownMap], (look) => picture(after, `B − A, ${i18n.t(`column.${shownMap}`)}`, {
        ...look, data: { difference: m },
      })),
      factsOf(change, m));
  }

  /**
   * @param {Record<string, any>} answered
   * @param {Analysis} before
   * @param {Analysis} after
   */
  function draw(answered, before, after) {
    if (!answered.same_grid) {
      invite(h('p', { 'data-t': 'compare.grids' }));
      return;
    }
    fillMenu(answered.ranges);
    const heads = ['compare.a', 'compare.b', 'compare.changed'].map((key) => h('span', { 'data-t': key }));
    node.replaceChildren(
      h('div.lens-compare-head', {}, h('span'), ...heads, h('span.lens-difference', {}, 'B − A ', menu), h('span')),
      ...MODALITIES.map((m) => row(m, answered, before, after)));
    i18n.apply(node);
  }

  return {
    node,
    draw,
    invite: () => invite(h('h2', { 'data-t': 'compare.empty.title' }), h('p', { 'data-t': 'compare.empty.text' })),
    complain: (/** @type {string} */ text) => invite(h('p', {}, text)),
    onMap: (/** @type {() => void} */ listener) => { redraw = listener; },
  };
}
