// The maps of the gradients view: what is kept, what tau would change, and |dL/ds| along each route.

/** @import { Analysis, Lens, Modality, Range } from '../core/types.js' */
/** @import { Look } from '../grid/paint.js' */
import { decisionLook } from '../core/analysis.js';
import { h, isWide } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { rangeNumber } from '../core/numbers.js';
import { miniMap, miniWidth, numberedBar } from '../grid/minimap.js';
import { photoLook } from '../grid/paint.js';
import { flowOf } from './story.js';

/** @typedef {{ key: string, look: (m: Modality) => Partial<Look>, bar: string[], colours?: boolean }} Column */

/** Ways in which a score can get a gradient; `kind` names its colour. */
export const ROUTES = [
  { key: 'final', kind: 'final' },
  { key: 'importance', kind: 'importance' },
  { key: 'gumbel-tau1', kind: 'gumbel1' },
  { key: 'gumbel-tau5', kind: 'gumbel5' },
  { key: 'gumbel-soft', kind: 'plan-a' },
  { key: 'ste-tokens', kind: 'plan-b' },
];

/**
 * |dL/ds| as colours of its logarithm; scores that get exactly nothing are dimmed.
 * @param {{ score: Record<Modality, number[]>, lacking: any }} flow
 * @returns {{ range: Range, look: (m: Modality) => { values: number[], range: Range, mask?: number[] } } | null}
 */
export function logarithms({ score }) {
  const positive = MODALITIES.flatMap((m) => score[m].filter((v) => v > 0));
  if (!positive.length) return null;
  const range = /** @type {Range} */ ([Math.log10(Math.min(...positive)), Math.log10(Math.max(...positive))]);
  const look = (m) => {
    const values = score[m].map((v) => (v > 0 ? Math.log10(v) : range[0]));
    return score[m].every((v) => v > 0) ? { values, range } : { values, range, mask: score[m].map((v) => (v > 0 ? 1 : 0)) };
  };
  return { range, look };
}

/** @param {Lens} lens */
export function makeGradientMaps({ config, i18n, store, tables }) {
  const node = h('div.lens-gradient-maps');
  const whatIf = config.panels.filter((panel) => panel.what_if);

  /** @returns {Column} */
  function live({ name: key }, analysis, table) {
    const range = /** @type {Range} */ ([0, Math.max(...MODALITIES.map((m) => analysis.modalities[m].ranges[key][1]))]);
    const look = (m) => ({ values: analysis.modalities[m].maps[key], range, table });
    return { key, look, bar: ['0', rangeNumber(range[1])], colours: true };
  }

  /** @returns {Column} */
  function route(key, flow, table) {
    if (flow.lacking) return { key, look: () => ({}), bar: [i18n.t('absent'), ''] };
    const shown = logarithms(flow);
    if (!shown) return { key, look: () => ({}), bar: ['0', '0'] };
    const look = (m) => ({ ...shown.look(m), table });
    return { key, look, bar: shown.range.map((v) => `1e${Math.round(v) || 0}`), colours: true };
  }

  /**
   * @param {Analysis} analysis
   * @param {Record<string, any>} found the gradients of this image set
   * @param {boolean} cut with the cosines cut off
   */
  function draw(analysis, found, cut) {
    const { grid } = analysis;
    const width = isWide() ? miniWidth(grid, 80, 84) : miniWidth(grid, 56, 56);
    const table = tables[store.state.display.colormap];
    const columns = /** @type {Column[]} */ ([
      { key: 'mask', look: (m) => ({ ...decisionLook(analysis, m), table }), bar: [] },
      ...whatIf.filter(({ name }) => analysis.modalities.rgb.maps[name]).map((panel) => live(panel, analysis, table)),
      ...ROUTES.map(({ key }) => route(key, flowOf(found, key, cut), table)),
    ]);
    const nameOf = (key) => i18n.t(i18n.has(`map.${key}`) ? `map.${key}` : `column.${key}`);
    const picture = (m, { key, look }) => miniMap(grid, width, {
      ...photoLook(analysis.modalities[m], store.state.display), ...look(m),
      label: `${m.toUpperCase()}, ${nameOf(key)}`, data: { gradient: key, modality: m },
    });
    const bar = (/** @type {Column} */ { bar: words, colours }) => (colours ? numberedBar(table, words[0], words[1])
      : h('div.lens-ends', {}, ...words.map((text) => h('span', {}, text))));
    node.replaceChildren(
      h('div.lens-map-head', {}, h('span'), ...columns.map(({ key }) => h('span', { title: nameOf(key) }, nameOf(key)))),
      ...MODALITIES.map((m) => h('div.lens-map-row', { 'data-modality': m },
        h('div.lens-row-name', {}, h('span', {}, m.toUpperCase())), ...columns.map((column) => picture(m, column)))),
      h('div.lens-map-row', {}, h('span'), ...columns.map(bar)));
  }

  return { node, draw };
}
