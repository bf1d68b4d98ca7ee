// Hover, pin and arrow keys: one patch, shown in every panel at once, with its numbers.

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function makeHover(grid, readout, i18n, current, onPin) {
  const hover = { patch: null, modality: 'rgb', pinned: false, show, pin };

  function patchAt(event) {
    const stage = event.target.closest('.lens-stage');
    if (!stage) return null;
    const { rows, cols } = current().grid;
    const box = stage.getBoundingClientRect();
    const col = Math.min(cols - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * cols)));
    const row = Math.min(rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * rows)));
    hover.modality = stage.firstChild.dataset.modality;
    return row * cols + col;
  }

  function valueOf(cell, patch) {
    const analysis = current();
    const modality = analysis.modalities[cell.modality];
    if (cell.panel === 'input') return modality.arrays.token_norm[patch];
    if (cell.panel === 'kept') return modality.arrays.rank[patch] + 1;
    return cell.look && cell.look.values ? cell.look.values[patch] : null;
  }

  function describe(patch) {
    const analysis = current();
    const { cols } = analysis.grid;
    const where = i18n.t('readout.patch', { row: Math.floor(patch / cols) + 1, col: (patch % cols) + 1 });
    const ranks = MODALITIES.map((m) => {
      const rank = analysis.modalities[m].arrays.rank[patch];
      const state = i18n.t(rank < analysis.counts.kept ? 'readout.kept' : 'readout.dropped');
      return i18n.t('readout.rank', { modality: m.toUpperCase(), rank: rank + 1, n: analysis.counts.patches, state });
    });
    const { arrays, packed } = analysis.modalities[hover.modality];
    const cosines = i18n.t('readout.raw', {
      modality: hover.modality.toUpperCase(),
      self: arrays.raw_self[patch].toFixed(3),
      first: packed.others[0].toUpperCase(),
      cross1: arrays.raw_cross1[patch].toFixed(3),
      second: packed.others[1].toUpperCase(),
      cross2: arrays.raw_cross2[patch].toFixed(3),
      norm: arrays.token_norm[patch].toPrecision(4),
    });
    return [where, ...ranks, cosines];
  }

  function show() {
    const analysis = current();
    const { patch } = hover;
    grid.node.classList.toggle('lens-hovering', analysis !== null && patch !== null);
    grid.node.classList.toggle('lens-pinned', hover.pinned);
    readout.classList.toggle('lens-pinned', hover.pinned);
    if (!analysis || patch === null) {
      if ('patch' in grid.node.dataset) {
        for (const cell of grid.cells) {
          cell.value.textContent = '';
          delete cell.value.dataset.value;
        }
        delete grid.node.dataset.patch;
      }
      const hint = analysis ? i18n.t('readout.hint') : '';
      if (readout.textContent !== hint) readout.replaceChildren(h('span.lens-hint', {}, hint));
      return;
    }
    grid.node.dataset.patch = patch;
    grid.node.style.setProperty('--row', Math.floor(patch / analysis.grid.cols));
    grid.node.style.setProperty('--col', patch % analysis.grid.cols);
    for (const cell of grid.cells) {
      const value = valueOf(cell, patch);
      cell.value.dataset.value = value === null ? '' : value;
      if (value === null) cell.value.textContent = '–';
      else if (cell.panel === 'kept') cell.value.textContent = `#${value}`;
      else cell.value.textContent = cell.panel === 'input' ? '' : shortNumber(value);
      const mark = cell.look && cell.look.values ? colourIndex(value, cell.look.range) / 255 : 0;
      cell.bar.style.setProperty('--at', mark);
    }
    readout.replaceChildren(...describe(patch).map((text) => h('span', {}, text)));
  }

  function pin(patch, modality = hover.modality) {
    const changed = hover.pinned !== (patch !== null) || hover.patch !== patch || hover.modality !== modality;
    hover.pinned = patch !== null;
    hover.patch = patch;
    hover.modality = modality;
    show();
    if (changed || hover.pinned) onPin(modality, patch);
  }

  grid.node.addEventListener('pointermove', (event) => {
    if (hover.pinned || !current()) return;
    const patch = patchAt(event);
    if (patch === hover.patch) return;
    hover.patch = patch;
    show();
  });
  grid.node.addEventListener('pointerleave', () => {
    if (hover.pinned || hover.patch === null) return;
    hover.patch = null;
    show();
  });
  grid.node.addEventListener('click', (event) => {
    if (!current()) return;
    const before = hover.modality;
    const patch = patchAt(event);
    if (patch === null) return;
    // The same patch in another row is another question.
    pin(hover.pinned && patch === hover.patch && hover.modality === before ? null : patch);
  });
  grid.node.addEventListener('keydown', (event) => {
    const analysis = current();
    if (!analysis || event.target !== grid.node) return;
    const { rows, cols } = analysis.grid;
    if (event.key === 'Escape') {
      pin(null);
    } else if (event.key === 'Enter' || event.key === ' ') {
      pin(hover.pinned ? null : hover.patch ?? Math.floor(rows / 2) * cols + Math.floor(cols / 2));
    } else if (ARROWS[event.key]) {
      const start = hover.patch ?? Math.floor(rows / 2) * cols + Math.floor(cols / 2);
      const [down, right] = hover.patch === null ? [0, 0] : ARROWS[event.key];
      const row = clampTo([0, rows - 1], Math.floor(start / cols) + down);
      const col = clampTo([0, cols - 1], (start % cols) + right);
      pin(row * cols + col);
    } else {
      return;
    }
    event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && hover.pinned && !event.defaultPrevented) pin(null);
  });
  return hover;
}
