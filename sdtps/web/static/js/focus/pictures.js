// Large pictures: a panel at any size, its numbers written into its patches, its colour bar below.

/** @import { Analysis, Modality, Panel, Range, Shape, State, Translator } from '../core/types.js' */
import { h } from '../core/dom.js';
import { clampTo, rangeNumber } from '../core/numbers.js';
import { captionOf, lookOf } from '../grid/cells.js';
import { paintPanel, patchBox } from '../grid/paint.js';

const LEAST_PATCH = 26; // CSS pixels of a patch from which its number can be read

/**
 * A number that fits into a patch.
 * @param {number} value
 * @param {Range} range decides how many digits tell values apart
 */
export function patchNumber(value, [low, high]) {
  const span = high - low;
  if (span >= 20) return String(Math.round(value));
  return value.toFixed(span >= 0.05 || span === 0 ? 2 : span >= 0.005 ? 3 : 4).replace(/^(-?)0\./, '$1.');
}

// White on a dark edge can be read on every colour of every map.
function writeNumbers(canvas, { values, range, rows, cols }, ratio) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const size = clampTo([8, 15], canvas.width / cols / ratio / 3.2) * ratio;
  context.font = `600 ${size}px "Source Sans Pro", system-ui, sans-serif`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.lineWidth = size / 4;
  context.strokeStyle = 'rgba(0, 0, 0, 0.75)';
  context.fillStyle = '#fff';
  for (let i = 0; i < values.length; i += 1) {
    const [x, y, width, height] = patchBox(canvas, { rows, cols }, i);
    const text = patchNumber(values[i], range);
    context.strokeText(text, x + width / 2, y + height / 2);
    context.fillText(text, x + width / 2, y + height / 2);
  }
}

function barOf(look, i18n) {
  if (!look.values || !look.range || look.absent) return h('div.lens-focus-bar');
  const [low, high] = look.range;
  const cut = look.cut ?? null;
  const mark = cut === null || high <= low ? null : h('i.lens-threshold', { style: `--at:${(cut - low) / (high - low)}` });
  return h('div.lens-focus-bar', { className: look.flat ? 'lens-focus-bar lens-flat' : 'lens-focus-bar' }, h('div.lens-bar', {}, mark),
    h('div.lens-ends', {}, ...(look.flat ? [h('span', {}, i18n.t('flat.at', { value: rangeNumber(high) }))]
      : [h('span', {}, rangeNumber(low)), h('span', {}, rangeNumber(high))])));
}

/**
 * @param {{ modality: Modality, panel: Panel }} cell
 * @param {{ width: number, height: number }} size
 * @param {{ analysis: Analysis, state: State, tables: Record<string, Uint8Array>, i18n: Translator, numbers: boolean, zoom: number }} with_
 */
export function largePicture(cell, { width, height }, { analysis, state, tables, i18n, numbers, zoom }) {
  const ratio = (window.devicePixelRatio || 1) * zoom;
  const look = lookOf(cell, analysis, state);
  const name = `${cell.modality.toUpperCase()} · ${i18n.t(`column.${cell.panel.name}`)}`;
  const caption = look.absent ? i18n.t('absent') : captionOf(cell, analysis, state.token, i18n);
  const canvas = h('canvas', {
    role: 'img', 'aria-label': caption ? `${name}, ${caption}` : name, 'data-focus': cell.panel.name,
    width: Math.round(width * ratio), height: Math.round(height * ratio), style: `width:${width}px;height:${height}px`,
  });
  paintPanel(canvas, { ...look, table: tables[state.display.colormap] });
  const written = numbers && look.values && look.range && !look.absent && width / analysis.grid.cols >= LEAST_PATCH;
  if (written) writeNumbers(canvas, /** @type {any} */ (look), ratio);
  const hair = h('div.lens-focus-hair', { hidden: true });
  const stage = h('div.lens-focus-stage', { style: `width:${width}px;height:${height}px` }, canvas, hair);
  const node = h('figure.lens-focus-picture', { 'data-panel': cell.panel.name, 'data-written': String(Boolean(written)) },
    h('figcaption', {}, h('b', {}, i18n.t(`column.${cell.panel.name}`)), h('span', {}, caption)), stage, barOf(look, i18n));
  return { node, stage, hair, look };
}

/**
 * Put the frame of a patch on a large picture.
 * @param {HTMLElement} hair
 * @param {number | null} patch
 * @param {Shape} grid
 */
export function framePatch(hair, patch, { rows, cols }) {
  hair.hidden = patch === null;
  if (patch === null) return;
  Object.assign(hair.style, {
    left: `${((patch % cols) / cols) * 100}%`, top: `${(Math.floor(patch / cols) / rows) * 100}%`, width: `${100 / cols}%`, height: `${100 / rows}%`,
  });
}
