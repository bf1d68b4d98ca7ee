// The grid: rows RGB, NIR, TIR; one panel per column of the table; its size follows the window.

/** @import { Config, Modality, Shape, Translator } from '../core/types.js' */
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { makeCell } from './cells.js';
import { makeFlow } from './flow.js';
import { makeHead } from './heads.js';
import { ROW_GAP, linesOf, panelSize, tracksOf } from './layout.js';

/** @typedef {ReturnType<typeof makeGrid>} Grid */
/** @typedef {{ panel?: string, modality?: Modality, whole?: boolean }} Wanted what the reader wants to see large: a panel, or a row */

const NARROW = '(max-width: 899px)'; // as in the style sheet
const MOST_TURNS = 3;

/**
 * @param {Config} config
 * @param {Translator} i18n
 * @param {{ onPrior: (modality: Modality, open: boolean) => void, onFocus: (wanted: Wanted) => void }} actions the reader opens
 *   or closes the row of a missing picture, or wants to see something large
 */
export function makeGrid({ panels }, i18n, { onPrior, onFocus }) {
  const flow = makeFlow(panels, i18n);
  const heads = panels.map((panel) => makeHead(panel, (name) => onFocus({ panel: name })));
  const rows = MODALITIES.map((modality) => panels.map((panel) => makeCell(modality, panel)));
  const tabs = h('div.lens-tabs', { role: 'group', 'data-t-aria': 'rows' }, ...MODALITIES.map((m) => h('button', {
    type: 'button', 'aria-pressed': m === 'rgb', 'data-modality': m, onclick: () => showOnly(m),
  }, m.toUpperCase())));
  const headRow = h('div.lens-heads', {}, h('div'), ...heads.map((head) => head.node));
  const priors = MODALITIES.map((m) => makePrior(m, (open) => onPrior(m, open)));
  const rowNodes = MODALITIES.map((m, i) => h('div.lens-row', { 'data-modality': m, role: 'group', 'aria-label': m.toUpperCase() },
    h('button.lens-row-name', {
      type: 'button', 'data-focus-row': m, 'data-t-title': 'focus.row', onclick: () => onFocus({ modality: m, whole: true }),
    }, h('span', {}, m.toUpperCase())), priors[i].node, ...rows[i].map((cell) => cell.node)));
  const node = h('div.lens-grid', { role: 'group', tabIndex: 0, 'data-t-aria': 'grid.label', 'data-only': 'rgb' },
    flow.node, headRow, ...rowNodes);

  /** @param {Modality} modality the one that a phone shows */
  function showOnly(modality) {
    node.dataset.only = modality;
    for (const button of /** @type {any} */ (tabs.children)) button.setAttribute('aria-pressed', button.dataset.modality === modality);
  }

  const shown = { columns: panels.length, groups: 1 };

  /** @param {string[]} names the panels that the selector has */
  function showPanels(names) {
    const there = panels.map(({ name }) => names.includes(name));
    const runs = flow.showPanels(names);
    const first = new Set(runs.slice(1).map((run) => run.names[0])); // a group begins after some room
    for (const [i, yes] of there.entries()) {
      for (const part of [heads[i], ...rows.map((cells) => cells[i])]) {
        part.node.hidden = !yes;
        part.node.classList.toggle('lens-first', first.has(panels[i].name));
      }
    }
    shown.columns = there.filter(Boolean).length;
    shown.groups = runs.length;
    node.style.setProperty('--tracks', tracksOf(runs.map((run) => run.names.length)));
  }

  /**
   * The row of a modality without a picture is collapsed until the reader asks for the model's prior.
   * @param {(m: Modality) => boolean} isMissing
   * @param {Set<Modality>} opened
   * @returns {boolean} whether a row was collapsed or opened
   */
  function collapse(isMissing, opened) {
    let changed = false;
    MODALITIES.forEach((m, i) => {
      const closed = isMissing(m) && !opened.has(m);
      changed = changed || closed !== rowNodes[i].classList.contains('lens-collapsed');
      rowNodes[i].classList.toggle('lens-collapsed', closed);
      priors[i].show(isMissing(m), opened.has(m));
    });
    return changed;
  }

  return { node, tabs, flow, headRow, heads, rowNodes, priors, cells: rows.flat(), panels, shown, showPanels, collapse };
}

// The strip that says that there was no picture, with the button that opens its row all the same.
function makePrior(modality, onToggle) {
  let opened = false;
  const button = h('button.lens-button', { type: 'button', 'data-prior': modality, 'data-t': 'prior.show', onclick: () => onToggle(!opened) });
  const node = h('div.lens-prior', { hidden: true }, h('span', { 'data-t': 'prior' }), button);

  function show(missing, open) {
    opened = open;
    node.hidden = !missing;
    button.dataset.t = open ? 'prior.hide' : 'prior.show';
    button.setAttribute('aria-expanded', String(open));
  }

  return { node, show };
}

/**
 * Make the panels as large as the area allows; true when they must be painted again.
 * @param {Grid} grid
 * @param {{ width: number, height: number, zoom: number }} area
 * @param {Shape} shape
 */
export function fitGrid(grid, area, shape) {
  const narrow = window.matchMedia(NARROW).matches;
  const layout = linesOf(shape, { columns: grid.shown.columns, groups: grid.shown.groups, narrow, width: area.width });
  grid.node.classList.toggle('lens-narrow', narrow);
  grid.node.classList.toggle('lens-wide-cells', layout.lines === 2);
  const open = grid.rowNodes.map((row) => !row.classList.contains('lens-collapsed'));
  const cell = grid.cells[open.indexOf(true) * grid.panels.length];
  const stage = /** @type {HTMLElement} */ (cell.canvas.parentNode);
  const strips = grid.priors.reduce((sum, { node }) => sum + (node.hidden ? 0 : node.offsetHeight + ROW_GAP), 0);
  const headsHeight = () => grid.headRow.offsetHeight + grid.flow.node.offsetHeight;
  const page = {
    width: area.width,
    height: area.height - strips,
    narrow,
    around: cell.node.offsetHeight - stage.offsetHeight + ROW_GAP,
    rows: open.filter(Boolean).length,
  };
  let [heads, before] = [headsHeight(), -1];
  let { width, height } = { width: 0, height: 0 };
  for (let turn = 0; turn < MOST_TURNS && heads !== before; turn += 1) { // wider columns may wrap fewer heads, and so leave more room
    ({ width, height } = panelSize(shape, layout, { ...page, heads }));
    const style = {
      '--cell': `${width}px`, '--cell-height': `${height}px`, '--per-line': layout.perLine, '--rows': shape.rows, '--cols': shape.cols,
    };
    for (const [name, value] of Object.entries(style)) grid.node.style.setProperty(name, String(value));
    [before, heads] = [heads, headsHeight()];
  }
  const ratio = (window.devicePixelRatio || 1) * area.zoom;
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
