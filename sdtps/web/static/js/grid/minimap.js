// A small picture of one modality with a map, a kept set, or patches that entered and left.

/** @import { Shape } from '../core/types.js' */
/** @import { Look } from './paint.js' */
import { cssGradient } from '../core/colours.js';
import { h } from '../core/dom.js';
import { paintPanel, patchBox } from './paint.js';

/**
 * @typedef {object} MiniExtras
 * @property {number[] | null} [entered] patches
 * @property {number[] | null} [left]
 * @property {string} [caption]
 * @property {string} [label]
 * @property {Record<string, any>} [data]
 */

const ENTERED = 'rgb(38, 190, 110)';
const LEFT = 'rgb(255, 92, 92)';

// Each sign stands on its own, so that green and red need not be told apart.
function paintMarks(context, patches, sign, colour, shape) {
  const { canvas } = context;
  const line = Math.max(1.5, canvas.width / 70);
  for (const patch of patches) {
    const [x, y, width, height] = patchBox(canvas, shape, patch);
    context.fillStyle = 'rgba(0, 0, 0, 0.45)';
    context.fillRect(x, y, width, height);
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(x + line / 2, y + line / 2, width - line, height - line);
    context.beginPath();
    const [cx, cy, arm] = [x + width / 2, y + height / 2, Math.min(width, height) * 0.24];
    context.moveTo(cx - arm, cy);
    context.lineTo(cx + arm, cy);
    if (sign === '+') {
      context.moveTo(cx, cy - arm);
      context.lineTo(cx, cy + arm);
    }
    context.stroke();
  }
}

/**
 * @param {Shape} grid
 * @param {number} width
 * @param {Partial<Look> & MiniExtras} look
 */
export function miniMap(grid, width, look) {
  const height = Math.round((width * grid.rows) / grid.cols);
  const ratio = window.devicePixelRatio || 1;
  const canvas = h('canvas', {
    role: 'img', 'aria-label': look.label || '', width: Math.round(width * ratio), height: Math.round(height * ratio),
    style: `width:${width}px;height:${height}px`,
  });
  paintPanel(canvas, { dropped: 'dim', opacity: 1, smooth: false, ...grid, ...look });
  const context = canvas.getContext('2d');
  if (look.entered) paintMarks(context, look.entered, '+', ENTERED, grid);
  if (look.left) paintMarks(context, look.left, '−', LEFT, grid);
  for (const [name, value] of Object.entries(look.data || {})) canvas.dataset[name] = value;
  return h('figure.lens-mini', {}, look.caption ? h('figcaption', {}, look.caption) : null, canvas);
}

/**
 * Width of a small picture: people are tall, vehicles are wide.
 * @param {Shape} grid
 * @param {number} tall
 * @param {number} wide
 */
export const miniWidth = (grid, tall, wide) => (grid.rows < grid.cols ? wide : tall);

/**
 * A colour bar with its numbers.
 * @param {Uint8Array} table
 * @param {string} low
 * @param {string} high
 * @param {string} [middle]
 */
export function numberedBar(table, low, high, middle) {
  const words = middle === undefined ? [low, high] : [low, middle, high];
  return h('div.lens-numbered', {}, h('div.lens-bar', { style: `background:${cssGradient(table)}` }),
    h('div.lens-ends', {}, ...words.map((word) => h('span', {}, word))));
}
