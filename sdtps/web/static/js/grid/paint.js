// Photographs, heat maps and masks on a canvas, by the rule of sdtps/export/rendering.py. Knows nothing of the page.

/** @import { Display, ModalityAnalysis, Range, Shape } from '../core/types.js' */
import { paintColours, paintNeutral } from '../core/colours.js';

/**
 * What a canvas shows: a photograph, or a map with something of the photograph over it, and what was dropped.
 * @typedef {object} Look
 * @property {HTMLImageElement | null} [image]
 * @property {HTMLImageElement | null} [layer] drawn over a map: lines or relief
 * @property {boolean} [blend] the map is mixed with the photograph
 * @property {number} rows
 * @property {number} cols
 * @property {ArrayLike<number> | null} [values]
 * @property {Range} [range]
 * @property {boolean} [flat] the map hardly varies: one neutral colour
 * @property {Uint8Array} [table]
 * @property {number} [opacity] of a map that is mixed
 * @property {boolean} [smooth]
 * @property {ArrayLike<number> | null} [mask] 1 where a patch is kept
 * @property {ArrayLike<number> | null} [brightness] of the photograph's patches
 * @property {string} [dropped]
 * @property {boolean} [hatched] there was no picture, or the map compares with one that was not there
 * @property {ArrayLike<number> | null} [groups] why a patch is kept
 */

const SHADE = 'rgb(13, 15, 19)';
const BLACK = 'rgb(0, 0, 0)';
const DIM_MOST = 0.35;
const DIM_AGAINST = 0.5;
const sizedLayers = /** @type {WeakMap<HTMLImageElement, HTMLCanvasElement>} */ (new WeakMap());
const scratch = /** @type {{ canvas: HTMLCanvasElement | null }} */ ({ canvas: null });

/**
 * Reading pixels back is quick only where the browser was told of it.
 * @param {HTMLCanvasElement} canvas
 */
const contextOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d', { willReadFrequently: true }));

/**
 * What of a modality is painted, whatever the map: its photograph, and what lies over maps.
 * @param {ModalityAnalysis} modality
 * @param {Display} display
 */
export function photoLook(modality, { over, opacity, dropped }) {
  return {
    image: modality.image, layer: modality.drawn[over] || null, blend: over === 'blend', opacity, dropped,
    brightness: modality.brightness, hatched: modality.missing,
  };
}

/**
 * Share of its brightness that a dropped patch keeps: so little that dropped is darker than kept in every picture.
 * @param {ArrayLike<number>} mask
 * @param {ArrayLike<number> | null | undefined} brightness
 */
export function dimmedTo(mask, brightness) {
  const sums = [0, 0];
  const counts = [0, 0];
  for (let i = 0; brightness && i < mask.length; i += 1) {
    sums[mask[i]] += brightness[i];
    counts[mask[i]] += 1;
  }
  if (!counts[0] || !counts[1] || sums[0] <= 0) return DIM_MOST;
  return Math.min(DIM_MOST, (DIM_AGAINST * (sums[1] / counts[1])) / (sums[0] / counts[0]));
}

/**
 * The map as a picture of one pixel per patch, stretched by the caller.
 * @param {ArrayLike<number>} values
 * @param {Range} range
 * @param {Uint8Array} table
 * @param {Shape} shape
 * @param {boolean} [flat]
 */
export function heatTile(values, range, table, { rows, cols }, flat = false) {
  const canvas = scratch.canvas || document.createElement('canvas');
  scratch.canvas = canvas;
  if (canvas.width !== cols || canvas.height !== rows) {
    canvas.width = cols;
    canvas.height = rows;
  }
  const context = contextOf(canvas);
  const tile = context.createImageData(cols, rows);
  if (flat) paintNeutral(values.length, tile.data);
  else paintColours(values, range, table, tile.data);
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

function drawWhole(context, image) {
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, context.canvas.width, context.canvas.height);
}

/**
 * A layer at the size of a canvas, kept for the next map. By way of twice the size: thin lines that a browser shrinks
 * in one step to a little more than half come out ragged.
 * @param {HTMLImageElement} layer
 * @param {HTMLCanvasElement} target
 */
function sized(layer, { width, height }) {
  const known = sizedLayers.get(layer);
  if (known && known.width === width && known.height === height) return known;
  const made = [2, 1].reduce((/** @type {HTMLImageElement | HTMLCanvasElement} */ from, times) => {
    const canvas = document.createElement('canvas');
    canvas.width = width * times;
    canvas.height = height * times;
    drawWhole(contextOf(canvas), from);
    return canvas;
  }, layer);
  sizedLayers.set(layer, /** @type {HTMLCanvasElement} */ (made));
  return made;
}

function paintPhoto(context, image) {
  if (image) {
    drawWhole(context, image);
    return;
  }
  context.fillStyle = 'rgb(128, 128, 128)';
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
  paintHatch(context);
}

// Slanted lines: nothing was seen here.
function paintHatch(context) {
  const { width, height } = context.canvas;
  context.strokeStyle = 'rgba(255, 255, 255, 0.45)';
  context.lineWidth = Math.max(1, width / 60);
  context.beginPath();
  for (let x = -height; x < width; x += width / 6) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
}

// What covers dropped patches: darkness on a photograph, a shade on a map.
function fillDropped(context, look, onPhoto) {
  const { mask } = look;
  context.fillStyle = onPhoto || look.dropped === 'black' ? BLACK : SHADE;
  context.globalAlpha = onPhoto && look.dropped !== 'black' ? 1 - dimmedTo(mask, look.brightness) : 1;
  for (let i = 0; i < mask.length; i += 1) if (!mask[i]) context.fillRect(...patchBox(context.canvas, look, i));
  context.globalAlpha = 1;
}

// The photograph again where a map was mixed with it and patches were dropped.
function restorePhoto(context, look) {
  const { image, mask } = look;
  const { canvas } = context;
  if (!image) return;
  const sx = image.naturalWidth / canvas.width;
  const sy = image.naturalHeight / canvas.height;
  context.imageSmoothingEnabled = true;
  for (let i = 0; i < mask.length; i += 1) {
    if (mask[i]) continue;
    const [x, y, width, height] = patchBox(canvas, look, i);
    context.drawImage(image, x * sx, y * sy, width * sx, height * sy, x, y, width, height);
  }
}

// The line between kept and dropped: readable on a night picture, where darkness alone is not.
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

// A map: opaque with lines or relief over it, or mixed with the photograph where the reader asks for that.
function paintMap(context, look) {
  const { canvas } = context;
  if (look.blend) paintPhoto(context, look.image);
  const tile = heatTile(look.values, look.range, look.table, look, look.flat);
  context.globalAlpha = look.blend && look.image ? look.opacity : 1;
  context.imageSmoothingEnabled = Boolean(look.smooth);
  context.drawImage(tile, 0, 0, canvas.width, canvas.height);
  context.globalAlpha = 1;
  if (look.mask && look.blend) restorePhoto(context, look);
  if (look.mask) fillDropped(context, look, look.blend);
  if (look.layer) context.drawImage(sized(look.layer, canvas), 0, 0);
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
  const map = look.values && look.range && look.table;
  if (map) {
    paintMap(context, look);
  } else {
    paintPhoto(context, look.image);
    if (look.mask) fillDropped(context, look, true);
  }
  if (look.mask) paintContour(context, look);
  if (look.groups) paintGroups(context, look);
  if (look.hatched && (map || look.mask)) paintHatch(context);
}
