// The rows of the comparison: A, B, what changed, the difference of one map, and the numbers.

/** @import { Analysis, Lens } from '../core/types.js' */
import { decisionLook } from '../core/analysis.js';
import { h, isWide, zoomOf } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { clampTo, orDash, rangeNumber } from '../core/numbers.js';
import { miniMap, miniWidth, numberedBar } from '../grid/minimap.js';
import { photoLook } from '../grid/paint.js';

const PHONE = 480; // CSS pixels
const AROUND = 330; // above, below and between three rows
const RANKS = 'ranks'; // beside the panels' maps: places that a patch rose or fell

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

// As large as three of them above one another may be; on a phone, four beside one another.
function mapWidth(grid, node) {
  if (window.innerWidth < PHONE) return miniWidth(grid, 64, 72);
  const fits = 8 * Math.floor((window.innerHeight / zoomOf(node) - AROUND) / 48);
  return isWide() ? miniWidth(grid, clampTo([78, 184], fits), 130) : miniWidth(grid, 78, 84);
}

/** @param {Lens} lens */
export function makeCompareRows({ config, i18n, store, tables }) {
  const node = h('div.lens-compare-rows');
  const maps = config.panels.filter((panel) => panel.kind === 'heat');
  const first = maps.find((panel) => panel.group === 'decision') || maps[0];
  let chosenMap = ''; // what the reader chose
  let shownMap = first.name;
  let redraw = () => {};
  const menu = h('select', { 'data-t-aria': 'compare.map', 'data-compare': 'map', onchange: () => { chosenMap = menu.value; redraw(); } });
  const nameOf = (map) => i18n.t(map === RANKS ? 'compare.ranks' : `column.${map}`);

  function invite(...content) {
    node.replaceChildren(h('div.lens-invite', {}, ...content));
    i18n.apply(node);
  }

  // Scores with other bounds differ by their bounds first of all; then the ranks say what changed.
  function fillMenu(answered) {
    const known = [...maps.map((panel) => panel.name), RANKS].filter((map) => map in answered.maps);
    const usual = answered.same_scale || !known.includes(RANKS) ? first.name : RANKS;
    shownMap = [chosenMap, usual, known[0]].find((map) => known.includes(map)) || '';
    menu.replaceChildren(...known.map((map) => h('option', { value: map, selected: map === shownMap }, nameOf(map))));
  }

  function differenceOf(change, { most, flat }, look) {
    const values = shownMap === RANKS ? change.climbed : change.differences[shownMap];
    const ends = shownMap === RANKS ? ['−', '+'].map((sign) => `${sign}${most}`) : ['−', '+'].map((sign) => sign + rangeNumber(most));
    return h('div.lens-difference-map', {},
      look({ values: flat ? values.map(() => 0) : values, range: flat ? [0, 0] : [-most, most], table: tables.diverging }),
      flat ? h('p.lens-hint', {}, most ? i18n.t('compare.little', { most: rangeNumber(most) }) : i18n.t('compare.same'))
        : numberedBar(tables.diverging, ends[0], ends[1], '0'));
  }

  function row(m, answered, before, after) {
    const { grid } = after;
    const change = answered.modalities[m];
    const name = m.toUpperCase();
    const picture = (of, label, more) => miniMap(grid, mapWidth(grid, node), {
      ...photoLook(of.modalities[m], store.state.display), label: `${name}, ${label}`, ...more,
    });
    return h('div.lens-compare-row', { 'data-modality': m },
      h('div.lens-row-name', {}, h('span', {}, name)),
      picture(before, 'A', { ...decisionLook(before, m), table: tables.viridis }),
      picture(after, 'B', { ...decisionLook(after, m), table: tables.viridis }),
      picture(after, i18n.t('compare.changed'), { entered: change.entered, left: change.left, data: { changed: m } }),
      differenceOf(change, answered.maps[shownMap], (look) => picture(after, `B − A, ${nameOf(shownMap)}`, {
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
    fillMenu(answered);
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
