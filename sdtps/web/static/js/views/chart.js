// Small SVG charts with readable axes: lines with a band of chance, and dots on a logarithmic scale.

import { h } from '../core/dom.js';

const SVG_SPACE = 'http://www.w3.org/2000/svg';
const CHART_MARGIN = { top: 8, right: 10, bottom: 32, left: 44 };
const ARROW_MARGIN = 26;

function svg(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const node = document.createElementNS(SVG_SPACE, name);
  if (classes.length) node.setAttribute('class', classes.join(' '));
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/**
 * Round numbers that cover a range: 0, 0.2, 0.4, …
 * @param {[number, number]} range
 * @param {number} about how many
 */
export function niceTicks([low, high], about) {
  if (!(high > low)) return [low];
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999) || rough;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/**
 * Powers of ten within a range.
 * @param {[number, number]} range
 */
export function logTicks([low, high]) {
  const ticks = [];
  for (let p = Math.ceil(Math.log10(low) - 1e-9); 10 ** p <= high * 1.000001; p += 1) ticks.push(10 ** p);
  return ticks;
}

const ROOT_TICKS = [0, 0.01, 0.05, 0.15, 0.3, 0.5, 0.75, 1];

// How an axis is bent: not at all, by the logarithm, or by the square root, which widens its beginning.
const BENDS = {
  log: { bend: (value) => Math.log10(value), straighten: (value) => 10 ** value },
  root: { bend: (value) => Math.sqrt(value), straighten: (value) => value ** 2 },
};
const STRAIGHT = { bend: (value) => value, straighten: (value) => value };

/**
 * Values ↔ positions.
 * @param {[number, number]} range
 * @param {[number, number]} ends positions of the range's ends
 * @param {'log' | 'root' | null} [kind]
 */
export function makeScale(range, [start, end], kind) {
  const { bend, straighten } = kind ? BENDS[kind] : STRAIGHT;
  const [low, high] = range.map(bend);
  const span = high - low || 1;
  const at = (value) => start + ((bend(value) - low) / span) * (end - start);
  const back = (position) => straighten(low + ((position - start) / (end - start)) * span);
  return { at, back };
}

/**
 * @param {{ log?: boolean, root?: boolean }} axis
 * @returns {'log' | 'root' | null}
 */
const kindOf = ({ log, root }) => (log ? 'log' : root ? 'root' : null);

const tickText = (value) => String(Number(value.toPrecision(4)));
const thinned = (ticks) => ticks.filter((_, i) => i % Math.ceil(ticks.length / 7) === 0);
const exponentOf = (value) => Math.round(Math.log10(value));

function axes(spec, x, y, box) {
  const even = () => niceTicks(spec.x.range, Math.max(2, (box.right - box.left) / 60));
  const xTicks = spec.x.log ? logTicks(spec.x.range) : spec.x.root ? ROOT_TICKS : even();
  const yTicks = spec.y.log ? thinned(logTicks(spec.y.range)) : niceTicks(spec.y.range, Math.max(2, (box.bottom - box.top) / 34));
  return [
    ...yTicks.map((tick) => svg('g', {},
      svg('line.lens-gridline', { x1: box.left, x2: box.right, y1: y.at(tick), y2: y.at(tick) }),
      svg('text.lens-tick', { x: box.left - 5, y: y.at(tick) + 3.5, 'text-anchor': 'end' }, spec.y.log ? tick.toExponential(0) : tickText(tick)))),
    ...xTicks.map((tick) => svg('g', {},
      svg('line.lens-axis', { x1: x.at(tick), x2: x.at(tick), y1: box.bottom, y2: box.bottom + 4 }),
      svg('text.lens-tick', { x: x.at(tick), y: box.bottom + 15, 'text-anchor': 'middle' }, tickText(tick)))),
    svg('line.lens-axis', { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    svg('text.lens-axis-title', { x: (box.left + box.right) / 2, y: spec.height - 3, 'text-anchor': 'middle' }, spec.x.title),
    svg('text.lens-axis-title', { transform: `translate(9 ${(box.top + box.bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, spec.y.title),
    ...(spec.y.better ? betterArrow(spec.y.better, box) : []),
  ];
}

// Which way is good, beside the right edge.
function betterArrow({ up, text }, box) {
  const x = box.right + 9;
  const middle = (box.top + box.bottom) / 2;
  const [from, to] = up ? [box.bottom, box.top] : [box.top, box.bottom];
  const wing = up ? 5 : -5;
  return [
    svg('path.lens-better', { d: `M${x} ${from}V${to}M${x - 4} ${to + wing}L${x} ${to}L${x + 4} ${to + wing}` }),
    svg('text.lens-tick.lens-better-word', { transform: `translate(${x + 13} ${middle}) rotate(-90)`, 'text-anchor': 'middle' }, text),
  ];
}

/**
 * A place for a chart: drawn as wide as it is, and again when that changes, so that text keeps its size.
 * @param {number} height held while nothing is drawn yet, so that the page does not jump
 * @param {(width: number) => Node} draw
 */
export function fitted(height, draw) {
  const node = h('div.lens-fitted');
  node.style.minHeight = `${height}px`;
  let drawn = 0;
  new ResizeObserver(() => {
    if (!node.clientWidth || node.clientWidth === drawn) return;
    drawn = node.clientWidth;
    node.replaceChildren(draw(drawn));
  }).observe(node);
  return node;
}

// A value that is not known breaks the line instead of bending it.
function linePath(xs, ys, x, y) {
  let path = '';
  let pen = 'M';
  ys.forEach((value, i) => {
    if (value === null) { pen = 'M'; return; }
    path += `${pen}${x.at(xs[i]).toFixed(1)} ${y.at(value).toFixed(1)}`;
    pen = 'L';
  });
  return path;
}

/**
 * @typedef {object} LineSpec
 * @property {number} width
 * @property {number} height
 * @property {string} label
 * @property {{ values: number[], range: [number, number], title: string, log?: boolean, root?: boolean }} x
 * @property {{ range: [number, number], title: string, log?: boolean, better?: { up: boolean, text: string } }} y
 * @property {{ values: (number | null)[], kind: string }[]} series
 * @property {{ low: number[], high: number[], middle?: number[] }} [band]
 * @property {number | null} [now] a vertical mark
 * @property {(index: number) => void} [onPick]
 * @property {(index: number | null) => void} [onPoint]
 */

/** @param {LineSpec} spec */
export function lineChart(spec) {
  const box = {
    left: CHART_MARGIN.left, right: spec.width - (spec.y.better ? ARROW_MARGIN : CHART_MARGIN.right),
    top: CHART_MARGIN.top, bottom: spec.height - CHART_MARGIN.bottom,
  };
  const x = makeScale(spec.x.range, [box.left, box.right], kindOf(spec.x));
  const y = makeScale(spec.y.range, [box.bottom, box.top], kindOf(spec.y));
  const xs = spec.x.values;
  const node = svg('svg.lens-chart', {
    viewBox: `0 0 ${spec.width} ${spec.height}`, width: spec.width, height: spec.height, role: 'img', 'aria-label': spec.label,
  }, ...axes(spec, x, y, box));
  if (spec.band) {
    const there = linePath(xs, spec.band.high, x, y);
    const back = linePath([...xs].reverse(), [...spec.band.low].reverse(), x, y).replace('M', 'L');
    node.append(svg('path.lens-band', { d: `${there}${back}Z` }));
    if (spec.band.middle) node.append(svg('path.lens-chance', { d: linePath(xs, spec.band.middle, x, y) }));
  }
  if (spec.now !== undefined && spec.now !== null) {
    node.append(svg('line.lens-now', { x1: x.at(spec.now), x2: x.at(spec.now), y1: box.top, y2: box.bottom }));
  }
  for (const { values, kind } of spec.series) node.append(svg(`path.lens-line.lens-${kind}`, { d: linePath(xs, values, x, y) }));
  if (spec.onPoint || spec.onPick) node.append(...pointer(spec, xs, x, y, box));
  return node;
}

// A cross-line that follows the mouse along the points of a chart.
function pointer(spec, xs, x, y, box) {
  const cross = svg('line.lens-cross', { y1: box.top, y2: box.bottom, visibility: 'hidden' });
  const dots = spec.series.map(({ kind }) => svg(`circle.lens-dot.lens-${kind}`, { r: 3, visibility: 'hidden' }));
  const nearest = (event) => {
    const bounds = event.currentTarget.ownerSVGElement.getBoundingClientRect();
    const value = x.back(((event.clientX - bounds.left) / bounds.width) * spec.width);
    const away = (v) => Math.abs(x.at(v) - x.at(value));
    return xs.reduce((best, v, i) => (away(v) < away(xs[best]) ? i : best), 0);
  };
  const show = (i) => {
    cross.setAttribute('visibility', i === null ? 'hidden' : 'visible');
    if (i !== null) for (const end of ['x1', 'x2']) cross.setAttribute(end, x.at(xs[i]));
    dots.forEach((dot, n) => {
      const value = i === null ? null : spec.series[n].values[i];
      dot.setAttribute('visibility', value === null ? 'hidden' : 'visible');
      if (value !== null) { dot.setAttribute('cx', x.at(xs[i])); dot.setAttribute('cy', y.at(value)); }
    });
    if (spec.onPoint) spec.onPoint(i);
  };
  const area = svg('rect.lens-pick', {
    x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top,
    onpointermove: (event) => show(nearest(event)),
    onpointerleave: () => show(null),
    onclick: (event) => { if (spec.onPick) spec.onPick(nearest(event)); },
  });
  if (spec.onPick) area.classList.add('lens-pickable');
  return [cross, ...dots, area];
}

/**
 * Values of 0 sit left of the scale.
 * @param {{ width: number, height: number, label: string, range: [number, number], title: string, rows: { key: string, name: string,
 *   dots: { value: number | null, kind: string, text: string }[] }[] }} spec
 */
export function dotChart(spec) {
  const left = 92;
  const zero = left + 12;
  const bottom = spec.height - 34;
  const rowHeight = (bottom - 8) / spec.rows.length;
  const x = makeScale(spec.range, [left + 40, spec.width - 14], 'log');
  const at = (value) => (value === 0 ? zero : x.at(value));
  const ticks = logTicks(spec.range).filter((tick, i, all) => all.length < 10 || exponentOf(tick) % 2 === 0);
  return svg('svg.lens-chart', {
    viewBox: `0 0 ${spec.width} ${spec.height}`, width: spec.width, height: spec.height, role: 'img', 'aria-label': spec.label,
  },
  ...ticks.map((tick) => svg('g', {},
    svg('line.lens-gridline', { x1: x.at(tick), x2: x.at(tick), y1: 4, y2: bottom }),
    svg('text.lens-tick', { x: x.at(tick), y: bottom + 14, 'text-anchor': 'middle' }, '10',
      svg('tspan', { dy: -4, 'font-size': 8.5 }, String(exponentOf(tick)))))),
  svg('text.lens-tick', { x: zero, y: bottom + 14, 'text-anchor': 'middle' }, '0'),
  svg('line.lens-gridline', { x1: zero, x2: zero, y1: 4, y2: bottom }),
  svg('text.lens-axis-title', { x: spec.width / 2, y: bottom + 30, 'text-anchor': 'middle' }, spec.title),
  ...spec.rows.flatMap((row, r) => {
    const middle = 8 + rowHeight * (r + 0.5);
    return [
      svg('text.lens-row-title', { x: left - 6, y: middle + 4, 'text-anchor': 'end' }, row.name),
      svg('line.lens-rule', { x1: left, x2: spec.width - 6, y1: middle, y2: middle }),
      ...row.dots.filter((dot) => dot.value !== null).map((dot, i, all) => svg(`circle.lens-dot.lens-${dot.kind}`, {
        cx: at(dot.value), cy: middle + (i - (all.length - 1) / 2) * 3.4, r: 5, 'data-dot': dot.kind, 'data-row': row.key, 'data-value': dot.value,
      }, svg('title', {}, dot.text))),
    ];
  }));
}

/**
 * Names of the lines of a chart, beside it as text.
 * @param {{ kind: string, name: string }[]} entries
 */
export function chartLegend(entries) {
  return h('ul.lens-legend', {}, ...entries.map(({ kind, name }) => h('li', {}, h(`i.lens-key-${kind}`), name)));
}
