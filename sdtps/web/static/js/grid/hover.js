// Hover, pin and arrow keys: which patch is in hand. `pointed` in the store says it to whoever shows it.

/** @import { LensStore, Modality } from '../core/types.js' */
import { MODALITIES } from '../core/modalities.js';
import { clampTo } from '../core/numbers.js';

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

// Where a pointer event is: modality and patch, or nothing beside the pictures.
function patchAt(event, { rows, cols }) {
  const stage = event.target.closest('.lens-stage');
  if (!stage) return null;
  const box = stage.getBoundingClientRect();
  const col = clampTo([0, cols - 1], Math.floor(((event.clientX - box.left) / box.width) * cols));
  const row = clampTo([0, rows - 1], Math.floor(((event.clientY - box.top) / box.height) * rows));
  return { modality: /** @type {Modality} */ (stage.firstChild.dataset.modality), panel: stage.firstChild.dataset.panel, patch: row * cols + col };
}

/**
 * Where an arrow key leads; the first press takes up the middle of the picture.
 * @param {number | null} patch
 * @param {string} key
 * @param {{ rows: number, cols: number }} grid
 */
export function stepFrom(patch, key, { rows, cols }) {
  if (patch === null) return Math.floor(rows / 2) * cols + Math.floor(cols / 2);
  const [down, right] = ARROWS[key] || [0, 0];
  const row = clampTo([0, rows - 1], Math.floor(patch / cols) + down);
  return row * cols + clampTo([0, cols - 1], (patch % cols) + right);
}

/**
 * The same over all rows of pictures: from the foot of one a step down leads to the head of the next, and with Shift
 * the arrows up and down keep the patch and change the modality.
 * @param {{ modality: Modality, patch: number | null }} from
 * @param {{ key: string, shiftKey: boolean }} press
 * @param {{ rows: number, cols: number }} grid
 * @param {Modality[]} shown
 * @returns {{ modality: Modality, patch: number }}
 */
export function walkFrom({ modality, patch }, { key, shiftKey }, grid, shown) {
  if (patch === null) return { modality, patch: stepFrom(null, key, grid) };
  const down = ARROWS[key][0];
  const row = Math.floor(patch / grid.cols) + down;
  const leaves = down !== 0 && (shiftKey || row < 0 || row >= grid.rows);
  const next = leaves ? shown[shown.indexOf(modality) + down] : undefined;
  if (!leaves || !next) return { modality, patch: shiftKey && down ? patch : stepFrom(patch, key, grid) };
  const head = patch % grid.cols;
  return { modality: next, patch: shiftKey ? patch : down > 0 ? head : (grid.rows - 1) * grid.cols + head };
}

/**
 * @param {HTMLElement} node the grid
 * @param {LensStore} store
 * @param {(what: { panel: string, modality: Modality }) => void} onOpen Enter was pressed on a panel
 */
export function makeHover(node, { state, update }, onOpen) {
  let panel = 'score'; // the one that was pointed at last
  const point = (changes) => update({ pointed: { ...state.pointed, ...changes } });

  /**
   * @param {number | null} patch
   * @param {Modality} [modality]
   */
  const pin = (patch, modality = state.pointed.modality) => point({ patch, modality, pinned: patch !== null });

  node.addEventListener('pointermove', (event) => {
    if (state.pointed.pinned || !state.analysis) return;
    const { panel: over, ...at } = patchAt(event, state.analysis.grid) || { panel, patch: null, modality: state.pointed.modality };
    panel = over;
    if (at.patch !== state.pointed.patch || at.modality !== state.pointed.modality) point(at);
  });
  node.addEventListener('pointerleave', () => {
    if (!state.pointed.pinned && state.pointed.patch !== null) point({ patch: null });
  });
  node.addEventListener('click', (event) => {
    const at = state.analysis && patchAt(event, state.analysis.grid);
    if (!at) return;
    // The same patch in another row is another question.
    const { pinned, patch, modality } = state.pointed;
    if (pinned && patch === at.patch && modality === at.modality) pin(null);
    else pin(at.patch, at.modality);
  });
  node.addEventListener('keydown', (event) => {
    if (!state.analysis || event.target !== node) return;
    const { patch, pinned } = state.pointed;
    if (event.key === 'Escape') pin(null);
    else if (event.key === 'Enter') onOpen({ panel, modality: state.pointed.modality });
    else if (event.key === ' ') pin(pinned ? null : patch ?? stepFrom(null, event.key, state.analysis.grid));
    else if (ARROWS[event.key]) {
      const { grid, modalities } = state.analysis;
      const to = walkFrom(state.pointed, event, grid, MODALITIES.filter((m) => !modalities[m].missing));
      pin(to.patch, to.modality);
    } else return;
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && state.pointed.pinned && !event.defaultPrevented) pin(null);
  });
  return { pin };
}
