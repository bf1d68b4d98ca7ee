// Two pictures of one modality side by side: patches as bright as what they carry, pairs that carry most joined by lines.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';

const HEIGHT = 240;
const GAP = 24; // as in the style sheet
const DROPPED = 0.78; // darkness of a dropped patch
const FAINT = 0.55; // and of a kept one that carries nothing
const COLOURS = ['#ffb000', '#4fc3f7', '#ff6f61', '#a5d66f', '#d69cff'];

/**
 * How dark each patch is painted: dropped ones darkest, kept ones by what they carry.
 * @param {number[]} share
 * @param {number[]} kept
 */
export function darknessOf(share, kept) {
  const most = Math.max(1e-9, ...share.filter((_, i) => kept[i]));
  return share.map((value, i) => (kept[i] ? FAINT * (1 - Math.max(0, value) / most) : DROPPED));
}

function paint(canvas, image, grid, share, kept, gone) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const [height, width] = [canvas.height / grid.rows, canvas.width / grid.cols];
  if (image) context.drawImage(image, 0, 0, canvas.width, canvas.height);
  darknessOf(share, kept).forEach((dark, patch) => {
    const [x, y] = [(patch % grid.cols) * width, Math.floor(patch / grid.cols) * height];
    context.fillStyle = `rgb(8 12 18 / ${dark})`;
    context.fillRect(x, y, width, height);
    if (!gone.has(patch)) return;
    context.fillStyle = '#000';
    context.fillRect(x, y, width, height);
    context.strokeStyle = '#ff6b62';
    context.lineWidth = canvas.height / 200;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + width, y + height);
    context.moveTo(x + width, y);
    context.lineTo(x, y + height);
    context.stroke();
  });
}

function svg(name, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

// Frames in one colour around both patches of a pair, and a line from one to the other.
function linesOf(lines, grid, width) {
  const [w, t] = [width / grid.cols, HEIGHT / grid.rows];
  const corner = (patch, side) => [(patch % grid.cols) * w + side * (width + GAP), Math.floor(patch / grid.cols) * t];
  const parts = lines.flatMap(([, i, k], n) => {
    const stroke = COLOURS[n % COLOURS.length];
    const [[x0, y0], [x1, y1]] = [corner(i, 0), corner(k, 1)];
    const frame = (x, y) => svg('rect', { x: x + 0.5, y: y + 0.5, width: w - 1, height: t - 1, fill: 'none', stroke, 'stroke-width': 2 });
    return [frame(x0, y0), frame(x1, y1), svg('line', {
      x1: x0 + w / 2, y1: y0 + t / 2, x2: x1 + w / 2, y2: y1 + t / 2, stroke, 'stroke-width': 1.4, opacity: 0.85,
    })];
  });
  return svg('svg', { viewBox: `0 0 ${2 * width + GAP} ${HEIGHT}`, 'aria-hidden': true }, ...parts);
}

/**
 * @param {Lens} lens
 * @param {string} modality
 * @param {(HTMLImageElement | null)[]} images of the query and of the result
 * @param {Record<string, any>} found
 * @param {{ modality: string, patch: number }[][]} removed of both sides
 * @param {(side: number, patch: number) => void} onToggle
 */
export function makePair({ i18n, store: { state } }, modality, images, found, removed, onToggle) {
  const { grid, size } = /** @type {any} */ (state.analysis);
  const width = Math.round((HEIGHT * size[1]) / size[0]);
  const canvases = images.map((image, side) => {
    const gone = new Set(removed[side].filter((one) => one.modality === modality).map(({ patch }) => patch));
    const kept = found.kept[modality][side];
    const canvas = h('canvas', {
      width: size[1], height: size[0], role: 'img', 'aria-label': `${modality.toUpperCase()}, ${i18n.t(side ? 'match.result' : 'match.query')}`,
      'data-match-side': side, 'data-match-modality': modality,
      onclick: (event) => {
        const box = canvas.getBoundingClientRect();
        const col = Math.floor(((event.clientX - box.left) / box.width) * grid.cols);
        const row = Math.floor(((event.clientY - box.top) / box.height) * grid.rows);
        const patch = row * grid.cols + col;
        if (kept[patch]) onToggle(side, patch);
      },
    });
    canvas.style.width = `${width}px`;
    paint(canvas, image, grid, found.shares[modality][side], kept, gone);
    return canvas;
  });
  const mine = found.lines.filter(([m]) => m === modality);
  const pair = h('div.lens-match-pair', {}, ...canvases);
  pair.append(linesOf(mine, grid, width));
  const term = found.terms.find((one) => one.by_patch && one.modality === modality);
  return h('figure', {}, h('figcaption', {}, `${modality.toUpperCase()} ${term ? term.value.toFixed(4) : ''}`), pair);
}
