// The map of a gallery: one dot per image set, coloured by a number; drag to pan, wheel to zoom, lasso to list.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';

const DOT = 5;
const NEAR = 8; // pixels within which a click means a dot
const MARGIN = 0.92;
const SHADES = 64; // colours that dots are sorted into, so that the brush changes seldom
const UNKNOWN = '#8a97a6';

/**
 * Whether a point lies inside a polygon.
 * @param {number} x
 * @param {number} y
 * @param {[number, number][]} polygon
 */
export function inside(x, y, polygon) {
  let within = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i, i += 1) {
    const [[xi, yi], [xj, yj]] = [polygon[i], polygon[j]];
    if ((yi > y) !== (yj > y) && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) within = !within;
  }
  return within;
}

/**
 * The shade of each value, -1 where there is none.
 * @param {Float32Array} values
 * @returns {Int16Array}
 */
export function shadesOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const span = high > low ? high - low : 1;
  return Int16Array.from(values, (value) => (Number.isNaN(value) ? -1 : Math.round(((value - low) / span) * (SHADES - 1))));
}

/**
 * @param {Lens} lens
 * @param {{ onPick: (number: number) => void, onLasso: (numbers: number[] | null) => void }} actions
 */
export function makeCasesMap({ tables, store: { state } }, { onPick, onLasso }) {
  const canvas = h('canvas.lens-cases-map', {
    width: 560, height: 480, tabIndex: 0, role: 'img', 'data-t-aria': 'cases.map', onpointerdown: begin, onpointermove: move, onpointerup: end, onwheel: zoom,
  });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  let places = new Float32Array(0);
  let order = []; // dots by shade
  let shades = new Int16Array(0);
  let shown = null; // the dots that the list holds, or null for all
  let view = { x: 0, y: 0, zoom: 1 };
  let held = null; // the drag: where it began, and the lasso's corners
  let lasso = false;
  let waiting = false;

  const half = () => Math.min(canvas.width, canvas.height) / 2;
  const toX = (x) => canvas.width / 2 + (x * MARGIN * view.zoom + view.x) * half();
  const toY = (y) => canvas.height / 2 + (y * MARGIN * view.zoom + view.y) * half();

  function request() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; paint(); });
  }

  function paint() {
    const table = tables[state.display.colormap];
    context.clearRect(0, 0, canvas.width, canvas.height);
    let brush = null;
    for (const i of order) {
      const [x, y] = [toX(places[2 * i]), toY(places[2 * i + 1])];
      if (x < -DOT || y < -DOT || x > canvas.width + DOT || y > canvas.height + DOT) continue;
      const faint = shown !== null && !shown.has(i);
      const kind = faint ? -2 : shades[i];
      if (kind !== brush) {
        brush = kind;
        const at = Math.round((Math.max(0, kind) / (SHADES - 1)) * 255) * 3;
        context.fillStyle = kind === -1 ? UNKNOWN : `rgb(${table[at]} ${table[at + 1]} ${table[at + 2]})`;
        context.globalAlpha = faint ? 0.12 : 0.9;
      }
      context.fillRect(x - DOT / 2, y - DOT / 2, DOT, DOT);
    }
    context.globalAlpha = 1;
    if (held && held.corners) outline(held.corners);
    canvas.dataset.painted = String(Number(canvas.dataset.painted || 0) + 1);
  }

  function outline(corners) {
    context.strokeStyle = UNKNOWN;
    context.lineWidth = 1.5;
    context.beginPath();
    corners.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
  }

  const pointOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return /** @type {[number, number]} */ ([
      ((event.clientX - box.left) / box.width) * canvas.width, ((event.clientY - box.top) / box.height) * canvas.height]);
  };

  function begin(event) {
    canvas.setPointerCapture(event.pointerId);
    const point = pointOf(event);
    held = { from: point, view: { ...view }, moved: false, corners: lasso || event.shiftKey ? [point] : null };
  }

  function move(event) {
    if (!held) return;
    const [x, y] = pointOf(event);
    held.moved = held.moved || Math.hypot(x - held.from[0], y - held.from[1]) > 3;
    if (held.corners) held.corners.push([x, y]);
    else view = { ...view, x: held.view.x + (x - held.from[0]) / half(), y: held.view.y + (y - held.from[1]) / half() };
    request();
  }

  function end(event) {
    if (!held) return;
    const { corners, moved } = held;
    held = null;
    if (!moved) pick(pointOf(event));
    else if (corners) onLasso(order.filter((i) => inside(toX(places[2 * i]), toY(places[2 * i + 1]), corners)));
    request();
  }

  function pick([x, y]) {
    let [best, nearest] = [null, NEAR];
    for (const i of order) {
      const far = Math.hypot(toX(places[2 * i]) - x, toY(places[2 * i + 1]) - y);
      if (far < nearest) [best, nearest] = [i, far];
    }
    if (best !== null) onPick(best);
  }

  function zoom(event) {
    event.preventDefault();
    const [x, y] = pointOf(event);
    const factor = event.deltaY < 0 ? 1.2 : 1 / 1.2;
    const next = Math.min(60, Math.max(0.5, view.zoom * factor));
    const [cx, cy] = [(x - canvas.width / 2) / half(), (y - canvas.height / 2) / half()];
    view = { zoom: next, x: cx - ((cx - view.x) * next) / view.zoom, y: cy - ((cy - view.y) * next) / view.zoom };
    request();
  }

  return {
    node: canvas,
    take(found) { places = found; view = { x: 0, y: 0, zoom: 1 }; },
    colour(values) {
      shades = shadesOf(values);
      order = Array.from(shades.keys()).sort((a, b) => shades[a] - shades[b]);
      request();
    },
    show(numbers) { shown = numbers && new Set(numbers); request(); },
    setLasso(yes) { lasso = yes; },
    repaint: request,
  };
}
