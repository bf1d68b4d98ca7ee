// The map of a gallery: one dot per image set, coloured by a number; drag to pan, wheel to zoom, lasso to list.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';

const DOT = 7;
const ROUND = 3000; // dots up to which they are round; more are squares, which paint faster
const SIZE = 440;
const SHARPEST = 2; // pixels of the canvas per pixel of the page, at most
const NEAR = 8; // pixels within which a click means a dot
const MARGIN = 0.92;
const SHADES = 64; // colours that dots are sorted into, so that the brush changes seldom
const UNKNOWN = '#8a97a6';
const EDGE = '#7d8b9b';
const [FAINT, NOTHING] = [-2, -1]; // dots that are not listed, and dots without a number
const LARGEST = 60;

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
 * The lowest and the highest value there is; null where there is none.
 * @param {Float32Array} values
 * @returns {[number, number] | null}
 */
export function boundsOf(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

/**
 * The shade of each value, -1 where there is none.
 * @param {Float32Array} values
 * @returns {Int16Array<ArrayBuffer>}
 */
export function shadesOf(values) {
  const [low, high] = boundsOf(values) || [0, 0];
  const span = high > low ? high - low : 1;
  return Int16Array.from(values, (value) => (Number.isNaN(value) ? NOTHING : Math.round(((value - low) / span) * (SHADES - 1))));
}

/**
 * Where a place of the map lies on the canvas.
 * @param {{ width: number, height: number }} canvas
 * @param {{ x: number, y: number, zoom: number }} view
 */
export function projection({ width, height }, view) {
  const half = Math.min(width, height) / 2;
  return {
    half,
    x: (value) => width / 2 + (value * MARGIN * view.zoom + view.x) * half,
    y: (value) => height / 2 + (value * MARGIN * view.zoom + view.y) * half,
  };
}

function colourOf(table, share) {
  const at = Math.round(share * 255) * 3;
  return `rgb(${table[at]} ${table[at + 1]} ${table[at + 2]})`;
}

function chooseBrush(context, kind, table) {
  context.fillStyle = kind < 0 ? UNKNOWN : colourOf(table, kind / (SHADES - 1));
  context.globalAlpha = kind === FAINT ? 0.25 : 0.9;
}

function roundDot(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

function paintDots(context, { order, places, shades, shown, view }, table) {
  const { canvas } = context;
  const at = projection(canvas, view);
  const dot = (DOT * canvas.width) / SIZE;
  const [few, half] = [order.length <= ROUND, dot / 2];
  context.strokeStyle = EDGE; // the lightest colours would vanish on a light page
  let brush = null;
  for (const i of order) {
    const [x, y] = [at.x(places[2 * i]), at.y(places[2 * i + 1])];
    if (x < -dot || y < -dot || x > canvas.width + dot || y > canvas.height + dot) continue;
    const kind = shown !== null && !shown.has(i) ? FAINT : shades[i];
    if (kind !== brush) {
      brush = kind;
      chooseBrush(context, kind, table);
    }
    if (few) roundDot(context, x, y, half);
    else context.fillRect(x - half, y - half, dot, dot);
  }
  context.globalAlpha = 1;
}

function outline(context, corners) {
  context.strokeStyle = UNKNOWN;
  context.lineWidth = 1.5;
  context.beginPath();
  corners.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

function nearestTo([x, y], { order, places, view }, canvas) {
  const at = projection(canvas, view);
  let [best, nearest] = [null, (NEAR * canvas.width) / SIZE];
  for (const i of order) {
    const far = Math.hypot(at.x(places[2 * i]) - x, at.y(places[2 * i + 1]) - y);
    if (far < nearest) [best, nearest] = [i, far];
  }
  return best;
}

// Drags and wheel on the canvas.
function makeGestures(canvas, map, { request, onPick, onLasso }) {
  let held = null; // the drag: where it began, and the lasso's corners
  const pointOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return /** @type {[number, number]} */ ([
      ((event.clientX - box.left) / box.width) * canvas.width, ((event.clientY - box.top) / box.height) * canvas.height]);
  };

  function begin(event) {
    canvas.setPointerCapture(event.pointerId);
    const point = pointOf(event);
    held = { from: point, view: { ...map.view }, moved: false, corners: map.lasso || event.shiftKey ? [point] : null };
  }

  function move(event) {
    if (!held) return;
    const [x, y] = pointOf(event);
    const { half } = projection(canvas, map.view);
    held.moved = held.moved || Math.hypot(x - held.from[0], y - held.from[1]) > 3;
    if (held.corners) held.corners.push([x, y]);
    else map.view = { ...map.view, x: held.view.x + (x - held.from[0]) / half, y: held.view.y + (y - held.from[1]) / half };
    map.corners = held.corners;
    request();
  }

  function end(event) {
    if (!held) return;
    const { corners, moved } = held;
    held = null;
    map.corners = null;
    const at = projection(canvas, map.view);
    const picked = moved ? null : nearestTo(pointOf(event), map, canvas);
    if (picked !== null) onPick(picked);
    if (moved && corners) onLasso(map.order.filter((i) => inside(at.x(map.places[2 * i]), at.y(map.places[2 * i + 1]), corners)));
    request();
  }

  function zoom(event) {
    event.preventDefault();
    const [x, y] = pointOf(event);
    const { half } = projection(canvas, map.view);
    const next = Math.min(LARGEST, Math.max(0.5, map.view.zoom * (event.deltaY < 0 ? 1.2 : 1 / 1.2)));
    const [cx, cy] = [(x - canvas.width / 2) / half, (y - canvas.height / 2) / half];
    const grown = next / map.view.zoom;
    map.view = { zoom: next, x: cx - (cx - map.view.x) * grown, y: cy - (cy - map.view.y) * grown };
    request();
  }

  for (const [name, listener] of Object.entries({ pointerdown: begin, pointermove: move, pointerup: end, wheel: zoom })) {
    canvas.addEventListener(name, listener);
  }
}

/**
 * @param {Lens} lens
 * @param {{ onPick: (number: number) => void, onLasso: (numbers: number[] | null) => void }} actions
 */
export function makeCasesMap({ tables, store: { state } }, { onPick, onLasso }) {
  const side = Math.round(SIZE * Math.min(SHARPEST, Math.max(1, window.devicePixelRatio || 1)));
  const canvas = h('canvas.lens-cases-map', { width: side, height: side, tabIndex: 0, role: 'img', 'data-t-aria': 'cases.map' });
  const [lowest, bar, highest] = [h('span'), h('span.lens-cases-bar'), h('span')];
  const scale = h('div.lens-cases-scale', {}, lowest, bar, highest);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const whole = { x: 0, y: 0, zoom: 1 };
  const map = {
    places: new Float32Array(0), shades: new Int16Array(0), order: /** @type {number[]} */ ([]), shown: /** @type {Set<number> | null} */ (null),
    view: whole, lasso: false, corners: /** @type {[number, number][] | null} */ (null),
  };
  let waiting = false;

  function request() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(paint);
  }

  function paint() {
    waiting = false;
    context.clearRect(0, 0, canvas.width, canvas.height);
    const table = tables[state.display.colormap];
    paintDots(context, map, table);
    const stops = Array.from({ length: 9 }, (_, i) => colourOf(table, i / 8));
    bar.style.background = `linear-gradient(to right, ${stops.join(', ')})`;
    if (map.corners) outline(context, map.corners);
    canvas.dataset.painted = String(Number(canvas.dataset.painted || 0) + 1);
  }

  makeGestures(canvas, map, { request, onPick, onLasso });
  return {
    node: canvas, scale,
    take(found) { Object.assign(map, { places: found, view: whole }); },
    colour(values) {
      map.shades = shadesOf(values);
      const ends = boundsOf(values);
      scale.hidden = !ends;
      [lowest.textContent, highest.textContent] = (ends || []).map((value) => value.toFixed(3));
      map.order = Array.from(map.shades.keys()).sort((a, b) => map.shades[a] - map.shades[b]);
      request();
    },
    show(numbers) { map.shown = numbers && new Set(numbers); request(); },
    setLasso(yes) { map.lasso = yes; },
    repaint: request,
  };
}
