// Photographs, heat maps and masks on a canvas. Knows nothing of the page around it.

/** @import { Range, Shape } from '../core/types.js' */
import { paintColours } from '../core/colours.js';

/**
 * What a canvas shows: a photograph, over it a map, over that what was dropped.
 * @typedef {object} Look
 * @property {HTMLImageElement | null} [image]
 * @property {number} rows
 * @property {number} cols
 * @property {ArrayLike<number> | null} [values]
 * @property {Range} [range]
 * @property {Uint8Array} [table]
 * @property {number} [opacity]
 * @property {boolean} [smooth]
 * @property {ArrayLike<number> | null} [mask] 1 where a patch is kept
 * @property {string} [dropped]
 * @property {ArrayLike<number> | null} [groups] why a patch is kept
 */

const DIM = 'rgba(92, 102, 117, 0.82)';
const BLACK = 'rgb(0, 0, 0)';
const scratch = /** @type {{ canvas: HTMLCanvasElement | null }} */ ({ canvas: null });

/**
 * Reading pixels back is quick only where the browser was told of it.
 * @param {HTMLCanvasElement} canvas
 */
const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));

/**
 * The map as a picture of one pixel per patch, stretched by the caller.
 * @param {ArrayLike<number>} values
 * @param {Range} range
 * @param {Uint8Array} table
 * @param {Shape} shape
 */
export function heatTile(values, range, table, { rows, cols }) {
  const canvas = scratch.canvas || document.createElement('canvas');
  scratch.canvas = canvas;
  if (canvas.width !== cols || canvas.height !== rows) {
    canvas.width = cols;
    canvas.height = rows;
  }
  const context = contextOf(canvas);
  const tile = context.createImageData(cols, rows);
  paintColours(values, range, table, tile.data);
  context.putImageData(tile, 0, 0);
  return canvas;
}

/**
 * Whole device pixels, so that neighbouring squares neither overlap nor leave a seam.
 * @param {{ width: number, height: number }} canvas
 * @param {Shape} shape
 * @param {number} index
 * @returns {[number, number, number, number]} x, y, width, height
 */
export function patchBox({ width, height }, { rows, cols }, index) {
  const row = Math.floor(index / cols);
  const col = index % cols;
  const x = Math.round((col * width) / cols);
  const y = Math.round((row * height) / rows);
  return [x, y, Math.round(((col + 1) * width) / cols) - x, Math.round(((row + 1) * height) / rows) - y];
}

function paintPhoto(context, image) {
  const { width, height } = context.canvas;
  context.globalAlpha = 1;
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = 'high';
  if (image) {
    context.drawImage(image, 0, 0, width, height);
    return;
  }
  context.fillStyle = 'rgb(128, 128, 128)';
  context.fillRect(0, 0, width, height);
  context.strokeStyle = 'rgba(255, 255, 255, 0.28)';
  context.lineWidth = Math.max(1, width / 80);
  context.beginPath();
  for (let x = -height; x < width; x += width / 6) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
}

// Dropped patches, and the line between kept and dropped: readable on a night picture, where dimming alone is not.
function paintDropped(context, look) {
  const { image, mask } = look;
  const { canvas } = context;
  const sx = image ? image.naturalWidth / canvas.width : 0;
  const sy = image ? image.naturalHeight / canvas.height : 0;
  context.imageSmoothingEnabled = true;
  context.fillStyle = look.dropped === 'black' ? BLACK : DIM;
  for (let i = 0; i < mask.length; i += 1) {
    if (mask[i]) continue;
    const [x, y, width, height] = patchBox(canvas, look, i);
    if (image && look.dropped !== 'black') context.drawImage(image, x * sx, y * sy, width * sx, height * sy, x, y, width, height);
    context.fillRect(x, y, width, height);
  }
  paintContour(context, look);
}

function paintContour(context, look) {
  const { mask, rows, cols } = look;
  const line = Math.max(1, Math.round(context.canvas.width / 90));
  context.fillStyle = 'rgba(255, 255, 255, 0.92)';
  for (let i = 0; i < mask.length; i += 1) {
    const [x, y, width, height] = patchBox(context.canvas, look, i);
    if ((i % cols) + 1 < cols && mask[i] !== mask[i + 1]) context.fillRect(x + width - line / 2, y, line, height);
    if (i + cols < rows * cols && mask[i] !== mask[i + cols]) context.fillRect(x, y + height - line / 2, width, line);
  }
}

const GROUP_COLOURS = { 1: '#f2b701', 2: '#3aa7e0', 3: '#ffffff', 4: '#b07cc6' }; // own modality, another, both, filled up

// A frame inside each kept patch, in the colour of what keeps it.
function paintGroups(context, look) {
  const line = Math.max(1, Math.round(context.canvas.width / 90));
  context.lineWidth = line;
  for (let i = 0; i < look.groups.length; i += 1) {
    if (!look.groups[i]) continue;
    const [x, y, width, height] = patchBox(context.canvas, look, i);
    context.strokeStyle = GROUP_COLOURS[look.groups[i]];
    context.strokeRect(x + line, y + line, width - 2 * line, height - 2 * line);
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Look} look
 */
export function paintPanel(canvas, look) {
  const context = contextOf(canvas);
  paintPhoto(context, look.image);
  if (look.values && look.range && look.table) {
    const tile = heatTile(look.values, look.range, look.table, look);
    context.globalAlpha = look.opacity ?? 1;
    context.imageSmoothingEnabled = Boolean(look.smooth);
    context.drawImage(tile, 0, 0, canvas.width, canvas.height);
    context.globalAlpha = 1;
  }
  if (look.mask) paintDropped(context, look);
  if (look.groups) paintGroups(context, look);
}
