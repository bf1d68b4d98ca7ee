// The aggregation weights as a whole: one N_c x K matrix per modality and branch, as a picture.

/** @import { Analysis, Branch, Lens, Modality } from '../core/types.js' */
import { closeButton, h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { clampTo, placeOf, rangeNumber, shortNumber } from '../core/numbers.js';
import { heatTile } from '../grid/paint.js';

/** @typedef {{ m: Modality, matrix: Branch, name: string }} Shown */

/**
 * @param {Analysis} analysis
 * @returns {Shown[]}
 */
function branchesOf({ modalities }) {
  return MODALITIES.flatMap((m) => {
    const branches = modalities[m].matrix?.branches || [];
    return branches.map((matrix, i) => ({ m, matrix, name: branches.length > 1 ? `${m.toUpperCase()} ${i + 1}` : m.toUpperCase() }));
  });
}

// Which row and column of the matrix the pointer is on.
function cellAt(event, canvas, { rows, cols }) {
  const box = canvas.getBoundingClientRect();
  return [
    clampTo([0, rows - 1], Math.floor(((event.clientY - box.top) / box.height) * rows)),
    clampTo([0, cols - 1], Math.floor(((event.clientX - box.left) / box.width) * cols)),
  ];
}

/**
 * @param {Lens} lens
 * @param {(token: number) => void} onToken
 */
export function makeMatrixDialog({ i18n, store, session, tables }, onToken) {
  const { state } = store;
  const body = h('div.lens-matrices');
  const readout = h('p.lens-matrix-readout');
  const node = h('dialog.lens-dialog', {},
    h('header', {}, h('h2', { 'data-t': 'matrix.title' }), closeButton(() => node.close())),
    h('p', { 'data-t': 'matrix.explain' }), body, readout);

  function describe({ matrix, name }, row, col) {
    return i18n.t('matrix.value', {
      modality: name, token: row + 1, rank: col + 1, ...placeOf(matrix.keep[col], /** @type {Analysis} */ (state.analysis).grid),
      value: shortNumber(matrix.weights[row * matrix.cols + col]),
    });
  }

  function figure(shown, shared) {
    const { m, matrix, name } = shown;
    const most = state.display.scale === 'shared' ? shared : matrix.max;
    const canvas = h('canvas', {
      role: 'img', 'data-matrix': m, 'aria-label': `${name}: ${matrix.rows} × ${matrix.cols}`, width: matrix.cols, height: matrix.rows,
      onpointermove: (event) => {
        const [row, col] = cellAt(event, canvas, matrix);
        readout.textContent = describe(shown, row, col);
      },
      onclick: (event) => { onToken(cellAt(event, canvas, matrix)[0]); node.close(); },
    });
    canvas.getContext('2d')?.drawImage(heatTile(matrix.weights, [0, most], tables[state.display.colormap], matrix), 0, 0);
    return h('figure', {}, h('figcaption', {}, `${name} · ${matrix.rows} × ${matrix.cols}`), canvas,
      h('div.lens-bar'), h('div.lens-ends', {}, h('span', {}, '0'), h('span', {}, rangeNumber(most))));
  }

  function update() {
    if (!node.open || !state.analysis) return;
    const shown = branchesOf(state.analysis);
    const shared = Math.max(0, ...shown.map(({ matrix }) => matrix.max));
    readout.textContent = i18n.t('matrix.hint');
    body.replaceChildren(...shown.map((one) => figure(one, shared)));
  }

  function open() {
    if (!state.analysis || !state.analysis.counts.tokens) return;
    node.showModal();
    session.openMatrix(true);
  }

  node.addEventListener('click', (event) => { if (event.target === node) node.close(); });
  node.addEventListener('close', () => store.update({ matrixOpen: false }));
  store.subscribe(['analysis'], update);
  return { node, open };
}
