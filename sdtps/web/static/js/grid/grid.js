// The grid: rows RGB, NIR, TIR; one panel per column of the table; its size follows the window.

/** @import { Config, Modality, Shape } from '../core/types.js' */
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { makeCell } from './cells.js';
import { makeHead } from './heads.js';
import { ROW_GAP, linesOf, panelSize } from './layout.js';

/** @typedef {ReturnType<typeof makeGrid>} Grid */

const NARROW = '(max-width: 899px)'; // as in the style sheet

/** @param {Config} config */
export function makeGrid({ panels }) {
  const heads = panels.map(makeHead);
  const rows = MODALITIES.map((modality) => panels.map((panel) => makeCell(modality, panel)));
  const tabs = h('div.lens-tabs', { role: 'group', 'data-t-aria': 'rows' }, ...MODALITIES.map((m) => h('button', {
    type: 'button', 'aria-pressed': m === 'rgb', 'data-modality': m, onclick: () => showOnly(m),
  }, m.toUpperCase())));
  const headRow = h('div.lens-heads', {}, h('div'), ...heads.map((head) => head.node));
  const node = h('div.lens-grid', { role: 'group', tabIndex: 0, 'data-t-aria': 'grid.label', 'data-only': 'rgb' }, headRow,
    ...MODALITIES.map((m, i) => h('div.lens-row', { 'data-modality': m, role: 'group', 'aria-label': m.toUpperCase() },
      h('div.lens-row-name', {}, h('span', {}, m.toUpperCase())), ...rows[i].map((cell) => cell.node))));

  /** @param {Modality} modality the one that a phone shows */
  function showOnly(modality) {
    node.dataset.only = modality;
    for (const button of /** @type {any} */ (tabs.children)) button.setAttribute('aria-pressed', button.dataset.modality === modality);
  }

  const shown = { columns: panels.length };

  /** @param {string[]} names the panels that the selector has */
  function showPanels(names) {
    const there = panels.map(({ name }) => names.includes(name));
    shown.columns = there.filter(Boolean).length;
    for (const [i, yes] of there.entries()) for (const part of [heads[i], ...rows.map((cells) => cells[i])]) part.node.hidden = !yes;
    node.style.setProperty('--columns', String(shown.columns));
  }

  return { node, tabs, headRow, heads, cells: rows.flat(), shown, showPanels };
}

/**
 * Make the panels as large as the area allows; true when they must be painted again.
 * @param {Grid} grid
 * @param {{ width: number, height: number }} area
 * @param {Shape} shape
 */
export function fitGrid(grid, area, shape) {
  const narrow = window.matchMedia(NARROW).matches;
  const layout = linesOf(shape, { columns: grid.shown.columns, narrow, width: area.width });
  grid.node.classList.toggle('lens-narrow', narrow);
  grid.node.classList.toggle('lens-wide-cells', layout.lines === 2);
  const [cell] = grid.cells;
  const stage = /** @type {HTMLElement} */ (cell.canvas.parentNode);
  const { width, height } = panelSize(shape, layout, {
    ...area,
    narrow,
    heads: grid.headRow.offsetHeight,
    around: cell.node.offsetHeight - stage.offsetHeight + ROW_GAP,
    rows: MODALITIES.length,
  });
  const style = {
    '--cell': `${width}px`, '--cell-height': `${height}px`, '--per-line': layout.perLine, '--rows': shape.rows, '--cols': shape.cols,
  };
  for (const [name, value] of Object.entries(style)) grid.node.style.setProperty(name, String(value));
  const ratio = window.devicePixelRatio || 1;
  return resize(grid, Math.round(width * ratio), Math.round(height * ratio));
}

// A canvas that gets a size is empty, so it gets one only when it is another.
function resize(grid, width, height) {
  if (grid.cells[0].canvas.width === width && grid.cells[0].canvas.height === height) return false;
  for (const cell of grid.cells) {
    cell.canvas.width = width;
    cell.canvas.height = height;
    cell.painted = { signature: '', image: undefined };
  }
  return true;
}
