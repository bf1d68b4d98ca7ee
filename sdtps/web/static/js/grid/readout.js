// The numbers of the patch in hand: in every panel at once, and as sentences below the grid.

/** @import { Analysis, LensStore, Modality, Translator } from '../core/types.js' */
/** @import { Cell } from './cells.js' */
/** @import { Grid } from './grid.js' */
import { keptCount } from '../core/analysis.js';
import { colourIndex } from '../core/colours.js';
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { placeOf, shortNumber } from '../core/numbers.js';

/**
 * The number of a cell for a patch, and as text.
 * @param {Cell} cell
 * @param {Analysis} analysis
 * @param {number} patch
 * @returns {[number | null, string]}
 */
function valueOf(cell, analysis, patch) {
  const modality = analysis.modalities[cell.modality];
  if (cell.panel.kind === 'photo') return [modality.norms[patch], ''];
  if (cell.panel.kind === 'kept') return [modality.rank[patch] + 1, `#${modality.rank[patch] + 1}`];
  const values = cell.look && cell.look.values;
  return values ? [values[patch], shortNumber(values[patch])] : [null, '–'];
}

/**
 * @param {Analysis} analysis
 * @param {{ modality: Modality, patch: number }} pointed
 * @param {Translator} i18n
 * @returns {string[]}
 */
export function sentencesOf(analysis, { modality, patch }, i18n) {
  const { counts, modalities } = analysis;
  const ranks = MODALITIES.map((m) => {
    const rank = modalities[m].rank[patch];
    const { maps, weight_range: soft } = modalities[m];
    if (soft && maps.weight) return i18n.t('readout.weight', { modality: m.toUpperCase(), w: maps.weight[patch].toFixed(2) });
    const state = i18n.t(rank < keptCount(analysis, m) ? 'readout.kept' : 'readout.dropped');
    return i18n.t('readout.rank', { modality: m.toUpperCase(), rank: rank + 1, n: counts.patches, state });
  });
  const { raw, norms, others } = modalities[modality];
  const cosines = Object.fromEntries(Object.entries(raw).map(([name, values]) => [name, values[patch].toFixed(3)]));
  return [i18n.t('readout.patch', placeOf(patch, analysis.grid)), ...ranks, i18n.t('readout.raw', {
    ...cosines,
    modality: modality.toUpperCase(),
    first: others[0].toUpperCase(),
    second: others[1].toUpperCase(),
    norm: norms[patch].toPrecision(4),
  })];
}

/**
 * @param {Grid} grid
 * @param {LensStore} store
 * @param {Translator} i18n
 * @param {(text: string) => void} say to those who walk by keys
 */
export function makeReadout(grid, { state }, i18n, say) {
  const node = h('div.lens-readout');
  let said = '';

  function clear() {
    for (const cell of grid.cells) {
      cell.value.textContent = '';
      delete cell.value.dataset.value;
    }
    delete grid.node.dataset.patch;
  }

  function mark(analysis, patch) {
    grid.node.dataset.patch = String(patch);
    grid.node.style.setProperty('--row', String(Math.floor(patch / analysis.grid.cols)));
    grid.node.style.setProperty('--col', String(patch % analysis.grid.cols));
    for (const cell of grid.cells) {
      const [value, text] = valueOf(cell, analysis, patch);
      cell.value.dataset.value = value === null ? '' : String(value);
      cell.value.textContent = text;
      const at = value !== null && cell.look && cell.look.values && cell.look.range ? colourIndex(value, cell.look.range) / 255 : 0;
      cell.bar.style.setProperty('--at', String(at));
    }
  }

  function update() {
    const { analysis, pointed } = state;
    const { patch, pinned } = pointed;
    grid.node.classList.toggle('lens-hovering', analysis !== null && patch !== null);
    grid.node.classList.toggle('lens-pinned', pinned);
    node.classList.toggle('lens-pinned', pinned);
    if (analysis && patch !== null) {
      mark(analysis, patch);
      const sentences = sentencesOf(analysis, { ...pointed, patch }, i18n);
      node.replaceChildren(...sentences.map((text) => h('span', {}, text)));
      const walked = pinned ? `${pointed.modality} ${patch}` : '';
      if (walked && walked !== said) say(sentences.join('. '));
      said = walked;
      return;
    }
    if ('patch' in grid.node.dataset) clear();
    const hint = analysis ? i18n.t('readout.hint') : '';
    if (node.textContent !== hint) node.replaceChildren(h('span.lens-hint', {}, hint));
  }

  return { node, update };
}
