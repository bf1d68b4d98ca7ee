// The first view: the grid of panels with the numbers of the patch in hand.

/** @import { Lens, Modality, View } from '../core/types.js' */
/** @import { Wanted } from '../grid/grid.js' */
import { h, zoomOf } from '../core/dom.js';
import { currentModel } from '../core/models.js';
import { paintCell } from '../grid/cells.js';
import { fitGrid, makeGrid } from '../grid/grid.js';
import { makeHover } from '../grid/hover.js';
import { CELL_GAP } from '../grid/layout.js';
import { makeReadout } from '../grid/readout.js';
import { makeTokenChooser } from '../grid/tokens.js';

/**
 * @param {Lens} lens
 * @param {{ chooseToken: (token: number | null) => void, openMatrix: () => void, openFocus: (wanted: Wanted) => void }} actions
 */
export function makeSelection({ config, i18n, notice, store, tables }, { chooseToken, openMatrix, openFocus }) {
  const { state } = store;
  const onPrior = (modality, open) => {
    if (open) priors.add(modality);
    else priors.delete(modality);
    update();
  };
  const grid = makeGrid(config, i18n, { onPrior, onFocus: openFocus });
  const chooser = makeTokenChooser(chooseToken, openMatrix);
  const tokenColumn = config.panels.findIndex((panel) => panel.tokens);
  if (tokenColumn >= 0) grid.heads[tokenColumn].extra.append(chooser.node);
  const readout = makeReadout(grid, store, i18n, notice.say);
  const { pin } = makeHover(grid.node, store, openFocus);
  const empty = h('div.lens-empty', { hidden: true }, h('h2', { 'data-t': 'empty.title' }), h('p', { 'data-t': 'empty.text' }));
  const area = h('div.lens-area', {}, grid.node, empty);
  const node = h('div', {}, grid.tabs, area, readout.node);
  const priors = /** @type {Set<Modality>} */ (new Set()); // rows of missing pictures that the reader opened
  let fitted = '';

  function update() {
    const { analysis } = state;
    if (!analysis) return;
    if (grid.collapse((m) => analysis.modalities[m].missing, priors)) {
      i18n.apply(grid.node);
      fit();
    } else if (fitted !== `${analysis.grid.rows}x${analysis.grid.cols}`) fit();
    for (const cell of grid.cells) if (!cell.node.hidden) paintCell(cell, analysis, state, tables, i18n);
    tellFlow();
    chooser.update(analysis.counts.tokens, state.token, i18n);
    readout.update();
  }

  const variantOf = (analysis) => config.variants.find(({ name }) => name === analysis.settings.variant);

  // The formula is that of the row in hand.
  function tellFlow() {
    if (state.analysis) grid.flow.update(state.analysis, variantOf(state.analysis), state.pointed.modality);
  }

  /** As large as the window allows. */
  function fit() {
    if (node.hidden) return;
    const shape = state.analysis ? state.analysis.grid : currentModel(state).grid;
    fitted = `${shape.rows}x${shape.cols}`;
    empty.hidden = state.analysis !== null || state.example !== null || state.record !== null || state.own !== null;
    const zoom = zoomOf(node); // large screens are magnified, and the window's size is not
    // An author's introduction scrolls away; the pictures are as large as without it.
    const above = config.paper ? /** @type {Element} */ (node.closest('.lens-body')).getBoundingClientRect().top : -window.scrollY;
    const top = (area.getBoundingClientRect().top - above) / zoom;
    const height = window.innerHeight / zoom - top - readout.node.offsetHeight - CELL_GAP;
    if (fitGrid(grid, { width: node.clientWidth, height, zoom }, shape)) update();
  }

  function useVariant() {
    if (!state.analysis) return;
    for (const head of grid.heads) head.useVariant(state.analysis.settings.variant);
    const chosen = variantOf(state.analysis);
    if (chosen) grid.showPanels(chosen.panels);
    fit();
  }

  store.subscribe(['display', 'language', 'peeking'], () => { if (!node.hidden) update(); });
  store.subscribe(['token'], () => { if (state.token === null) update(); });
  store.subscribe(['pointed', 'language'], readout.update);
  store.subscribe(['pointed.modality', 'language'], tellFlow);
  store.subscribe(['busy'], () => grid.node.setAttribute('aria-busy', String(state.busy)));
  store.subscribe(['analysis.settings.variant'], useVariant);
  const view = /** @type {View} */ ({ id: 'selection', node, update, shown: fit });
  return { ...view, grid: grid.node, fit, pin };
}
