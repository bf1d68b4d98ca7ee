// What fills the window: one map beside its photograph, or a whole row; and one patch in hand in all of them.

/** @import { Analysis, Lens, Modality, Panel } from '../core/types.js' */
import { keptCount } from '../core/analysis.js';
import { h, setText, zoomOf } from '../core/dom.js';
import { clampTo, placeOf, shortNumber } from '../core/numbers.js';
import { scoreCurve } from './curve.js';
import { framePatch, largePicture } from './pictures.js';
import { manyIn, pairIn } from './sizes.js';

/** @typedef {{ panel: Panel, modality: Modality, whole: boolean }} Shown */

const AROUND = { gap: 14, below: 50 };
const ROW_AROUND = { gap: 10, below: 46 };
const FACTS_WIDTH = 300;
const FACTS_BESIDE = 700; // CSS pixels of width from which the facts stand beside the pictures

/**
 * What is known of a patch, in words.
 * @param {Analysis} analysis
 * @param {Modality} modality
 * @param {number} patch
 * @param {{ values?: ArrayLike<number> | null }} look
 * @param {Lens['i18n']} i18n
 */
export function patchLine(analysis, modality, patch, look, i18n) {
  const { rank, maps, weight_range: soft } = analysis.modalities[modality];
  const parts = [i18n.t('readout.patch', placeOf(patch, analysis.grid))];
  if (look.values) parts.push(i18n.t('focus.value', { value: shortNumber(look.values[patch]) }));
  if (maps.score && look.values !== maps.score) parts.push(i18n.t('focus.score', { value: shortNumber(maps.score[patch]) }));
  if (!soft) {
    const state = i18n.t(rank[patch] < keptCount(analysis, modality) ? 'readout.kept' : 'readout.dropped');
    parts.push(i18n.t('focus.place', { rank: rank[patch] + 1, n: rank.length, state }));
  }
  return parts.join(' · ');
}

/**
 * @param {Lens} lens
 * @param {HTMLElement} body where the pictures are
 * @param {HTMLElement} told where the patch in hand is described
 */
export function makeScene({ config, i18n, store, tables }, body, told) {
  const { state } = store;
  const room = () => ({ width: body.clientWidth - 24, height: body.clientHeight - 16 });

  function paint(panels, modality, size, { analysis, numbers }) {
    const with_ = { analysis, state, tables, i18n, numbers, zoom: zoomOf(body) };
    return panels.map((panel) => largePicture({ modality, panel }, size, with_));
  }

  /**
   * @param {Shown} shown
   * @param {Panel[]} panels
   * @param {{ analysis: Analysis, numbers: boolean }} now
   */
  function drawRow({ modality }, panels, now) {
    const size = manyIn(now.analysis.grid, panels.length, room(), ROW_AROUND);
    const pictures = paint(panels, modality, size, now);
    const nodes = pictures.map((picture) => picture.node);
    body.replaceChildren(h('div.lens-focus-row', { style: `--per-line:${size.perLine};--cell:${size.width}px` }, ...nodes));
    follow(pictures, modality, now.analysis);
  }

  function factsOf({ panel, modality }, analysis, pointAt) {
    const curve = scoreCurve(analysis, modality, { width: FACTS_WIDTH, height: 230 }, i18n, pointAt);
    const equation = h('p.lens-equation');
    equation.innerHTML = panel.equations[analysis.settings.variant] || panel.equation; // Python's own markup
    return h('div.lens-focus-facts', {}, h('p', {}, i18n.t(`explain.${panel.name}`)), equation,
      ...(curve ? [h('h3', {}, i18n.t('focus.curve.title')), curve.node, h('p.lens-hint', {}, curve.label)] : []));
  }

  /**
   * @param {Shown} shown
   * @param {{ analysis: Analysis, numbers: boolean }} now
   */
  function drawMap(shown, now) {
    const { panel, modality } = shown;
    const whole = room();
    const left = whole.width >= FACTS_BESIDE ? { ...whole, width: whole.width - FACTS_WIDTH - AROUND.gap } : whole;
    const size = pairIn(now.analysis.grid, left, AROUND);
    const photo = config.panels.find(({ kind }) => kind === 'photo');
    const pictures = paint(panel === photo || !photo ? [panel] : [photo, panel], modality, size, now);
    const pointAt = follow(pictures, modality, now.analysis);
    body.replaceChildren(
      h(`div.lens-focus-pair${size.stacked ? '.lens-stacked' : ''}`, {}, ...pictures.map((picture) => picture.node)),
      factsOf(shown, now.analysis, pointAt));
  }

  // One patch in hand, in every picture at once.
  function follow(pictures, modality, analysis) {
    const main = pictures[pictures.length - 1];
    const point = (/** @type {number | null} */ patch, look = main.look) => {
      for (const { hair } of pictures) framePatch(hair, patch, analysis.grid);
      setText(told, patch === null ? i18n.t('focus.hint') : patchLine(analysis, modality, patch, look, i18n));
    };
    const { rows, cols } = analysis.grid;
    for (const { stage, look } of pictures) {
      stage.addEventListener('pointermove', (event) => {
        const box = stage.getBoundingClientRect();
        const col = clampTo([0, cols - 1], Math.floor(((event.clientX - box.left) / box.width) * cols));
        const row = clampTo([0, rows - 1], Math.floor(((event.clientY - box.top) / box.height) * rows));
        point(row * cols + col, look.values ? look : main.look);
      });
      stage.addEventListener('pointerleave', () => point(null));
    }
    point(null);
    return (/** @type {number | null} */ patch) => point(patch);
  }

  return { drawRow, drawMap };
}
