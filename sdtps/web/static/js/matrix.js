// The aggregation weights: one aggregated token in the grid, or the whole N_c x K matrix as a picture.

function tokenRow(matrix, token, patches, scale, analysis) {
  const values = new Float32Array(patches);
  for (const { keep, cols, weights } of matrix.branches) {
    for (let k = 0; k < cols; k += 1) values[keep[k]] += weights[token * cols + k];
  }
  const shared = Math.max(...Object.values(analysis.modalities).map((m) => (m.matrix ? m.matrix.max : 0)));
  return { values, range: [0, scale === 'shared' ? shared : matrix.tokenMax[token]] };
}

// Choose all tokens or one; sits in the aggregation column's head.
function makeTokenChooser(onChange, onOpen) {
  const select = h('select', { 'data-t-aria': 'token.choose', onchange: () => onChange(select.value === '' ? null : Number(select.value)) });
  const open = h('button.lens-icon', { type: 'button', 'data-t-aria': 'matrix.open', 'data-t-title': 'matrix.open', onclick: onOpen }, '▦');
  const node = h('div.lens-token', {}, select, open);
  const update = (tokens, chosen, i18n) => {
    node.hidden = tokens === null;
    if (select.dataset.for === `${tokens}${i18n.language}`) {
      select.value = chosen === null ? '' : String(chosen);
      return;
    }
    select.dataset.for = `${tokens}${i18n.language}`;
    select.replaceChildren(h('option', { value: '' }, i18n.t('token.all')));
    for (let i = 0; i < tokens; i += 1) select.append(h('option', { value: String(i) }, i18n.t('token.one', { n: i + 1 })));
    select.value = chosen === null ? '' : String(chosen);
  };
  return { node, update };
}

function paintMatrix(canvas, matrix, range, table) {
  canvas.width = matrix.cols;
  canvas.height = matrix.rows;
  const tile = heatTile(matrix.weights, range, table, matrix.rows, matrix.cols);
  canvas.getContext('2d').drawImage(tile, 0, 0);
}

function makeMatrixDialog(i18n, onToken) {
  const body = h('div.lens-matrices');
  const readout = h('p.lens-matrix-readout', { 'aria-live': 'polite' });
  const close = h('button.lens-icon', { type: 'button', 'data-t-aria': 'close', onclick: () => node.close() }, '✕');
  const node = h('dialog.lens-dialog', {},
    h('header', {}, h('h2', { 'data-t': 'matrix.title' }), close),
    h('p', { 'data-t': 'matrix.explain' }), body, readout);
  node.addEventListener('click', (event) => { if (event.target === node) node.close(); });

  function update(analysis, state, tables) {
    const shown = MODALITIES.flatMap((m) => (analysis.modalities[m].matrix || { branches: [] }).branches.map(
      (matrix, i, all) => ({ m, matrix, name: all.length > 1 ? `${m.toUpperCase()} ${i + 1}` : m.toUpperCase() })));
    const shared = Math.max(0, ...shown.map(({ matrix }) => matrix.max));
    readout.textContent = i18n.t('matrix.hint');
    body.replaceChildren(...shown.map(({ m, matrix, name }) => {
      const range = [0, state.display.scale === 'shared' ? shared : matrix.max];
      const canvas = h('canvas', { role: 'img', 'data-matrix': m, 'aria-label': `${name}: ${matrix.rows} × ${matrix.cols}` });
      paintMatrix(canvas, matrix, range, tables[state.display.colormap]);
      const at = (event) => {
        const box = canvas.getBoundingClientRect();
        return [
          clampTo([0, matrix.rows - 1], Math.floor(((event.clientY - box.top) / box.height) * matrix.rows)),
          clampTo([0, matrix.cols - 1], Math.floor(((event.clientX - box.left) / box.width) * matrix.cols)),
        ];
      };
      canvas.addEventListener('pointermove', (event) => {
        const [row, col] = at(event);
        const patch = matrix.keep[col];
        readout.textContent = i18n.t('matrix.value', {
          modality: name, token: row + 1, rank: col + 1,
          row: Math.floor(patch / analysis.grid.cols) + 1, col: (patch % analysis.grid.cols) + 1,
          value: shortNumber(matrix.weights[row * matrix.cols + col]),
        });
      });
      canvas.addEventListener('click', (event) => { onToken(at(event)[0]); node.close(); });
      return h('figure', {},
        h('figcaption', {}, `${name} · ${matrix.rows} × ${matrix.cols}`), canvas,
        h('div.lens-bar'), h('div.lens-ends', {}, h('span', {}, '0'), h('span', {}, rangeNumber(range[1]))));
    }));
  }
  return { node, update };
}
