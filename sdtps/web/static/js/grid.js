// The grid: rows RGB, NIR, TIR; one canvas, caption and colour bar per panel; its size follows the window.

const CELL_GAP = 8;
const ROW_LABEL = 26;
const ROW_GAP = 3;
const MIN_CELL = 56;
const NARROW = '(max-width: 899px)'; // as in the style sheet

function makeCell(modality, column) {
  const canvas = h('canvas', { role: 'img', 'data-modality': modality, 'data-panel': column.panel, width: 8, height: 16 });
  const cell = {
    modality,
    panel: column.panel,
    canvas,
    caption: h('span.lens-caption'),
    value: h('output.lens-value'),
    low: h('span'),
    high: h('span'),
    bar: h('div.lens-bar', {}, h('i.lens-mark')),
    absent: h('div.lens-absent', { 'data-t': 'absent', hidden: true }),
    painted: '',
  };
  cell.node = h('figure.lens-cell', { 'data-panel': column.panel },
    h('figcaption', {}, h('span.lens-title', { 'data-t': `column.${column.panel}` }), cell.caption, cell.value),
    h('div.lens-stage', {}, canvas, h('div.lens-hair', { 'aria-hidden': 'true' }), cell.absent),
    h('div.lens-scale', {}, cell.bar, h('div.lens-ends', {}, cell.low, cell.high)));
  if (column.tau) cell.node.classList.add('lens-tau');
  return cell;
}

function makeGrid(i18n, heads) {
  const rows = MODALITIES.map((modality) => {
    const cells = COLUMNS.map((column) => makeCell(modality, column));
    const node = h('div.lens-row', { 'data-modality': modality, role: 'group', 'aria-label': modality.toUpperCase() },
      h('div.lens-row-name', {}, h('span', {}, modality.toUpperCase())), ...cells.map((cell) => cell.node));
    return { modality, cells, node };
  });
  const tabs = h('div.lens-tabs', { role: 'group', 'data-t-aria': 'rows' }, ...MODALITIES.map((m) => h('button', {
    type: 'button', 'aria-pressed': m === 'rgb', 'data-modality': m,
    onclick: () => showOnly(m),
  }, m.toUpperCase())));
  const headRow = h('div.lens-heads', {}, h('div'), ...heads.map((head) => head.node));
  const node = h('div.lens-grid', { role: 'group', tabIndex: 0, 'data-t-aria': 'grid.label', 'data-only': 'rgb' },
    headRow, ...rows.map((row) => row.node));
  const cells = rows.flatMap((row) => row.cells);

  function showOnly(modality) {
    node.dataset.only = modality;
    for (const button of tabs.children) button.setAttribute('aria-pressed', button.dataset.modality === modality);
  }

  return { node, tabs, headRow, rows, cells, size: null };
}

// The largest cell that keeps the whole grid on the screen; a phone scrolls instead.
function fitGrid(grid, area, shape) {
  const aspect = shape.rows / shape.cols;
  const narrow = window.matchMedia(NARROW).matches;
  const lines = !narrow && aspect < 1 ? 2 : 1;
  const onPhone = aspect < 1 ? 2 : 3;
  const perLine = narrow ? (area.width < 600 ? onPhone : 5) : COLUMNS.length / lines;
  const label = narrow ? 0 : ROW_LABEL;
  let width = Math.floor((area.width - label - (narrow ? perLine - 1 : perLine) * CELL_GAP) / perLine);
  grid.node.classList.toggle('lens-narrow', narrow);
  grid.node.classList.toggle('lens-wide-cells', lines === 2);
  if (!narrow) {
    // Captions and colour bars around a picture; they do not depend on its size.
    const [cell] = grid.cells;
    const around = cell.node.offsetHeight - cell.canvas.parentNode.offsetHeight + ROW_GAP;
    const height = (area.height - grid.headRow.offsetHeight) / (MODALITIES.length * lines) - around;
    width = Math.max(MIN_CELL, Math.min(width, Math.floor(height / aspect)));
  }
  width -= width % 2;
  const height = Math.round(width * aspect);
  const ratio = window.devicePixelRatio || 1;
  const size = { width, height, deviceWidth: Math.round(width * ratio), deviceHeight: Math.round(height * ratio) };
  grid.node.style.setProperty('--cell', `${width}px`);
  grid.node.style.setProperty('--cell-height', `${height}px`);
  grid.node.style.setProperty('--per-line', perLine);
  grid.node.style.setProperty('--rows', shape.rows);
  grid.node.style.setProperty('--cols', shape.cols);
  const changed = !grid.size || grid.size.deviceWidth !== size.deviceWidth || grid.size.deviceHeight !== size.deviceHeight;
  grid.size = size;
  if (changed) {
    for (const cell of grid.cells) {
      cell.canvas.width = size.deviceWidth;
      cell.canvas.height = size.deviceHeight;
      cell.painted = '';
    }
  }
  return changed;
}

// What a cell shows: its numbers, their range and its mask.
function lookOf(cell, analysis, state) {
  const modality = analysis.modalities[cell.modality];
  const { rows, cols } = analysis.grid;
  const look = { image: modality.image, rows, cols, signature: `${modality.packed.photo ? modality.packed.photo.length : 0}` };
  if (cell.panel === 'input') return look;
  if (cell.panel === 'kept' || cell.panel === 'aggregation') {
    look.mask = modality.arrays.rank.map((rank) => (rank < analysis.counts.kept ? 1 : 0));
    look.dropped = state.display.dropped;
    look.signature += look.mask.join('') + look.dropped;
  }
  if (cell.panel === 'kept') return look;
  let values = modality.arrays[cell.panel];
  let range = state.display.scale === 'shared' ? analysis.ranges[cell.panel] : modality.ranges[cell.panel];
  let packed = modality.packed[cell.panel];
  if (cell.panel === 'aggregation' && state.token !== null && modality.matrix) {
    ({ values, range } = tokenRow(modality.matrix, state.token, look.mask.length, state.display.scale, analysis));
    packed = values.join();
  }
  if (!values) return { ...look, absent: true };
  return {
    ...look,
    values,
    range,
    opacity: state.display.opacity,
    smooth: state.display.smooth === 'smooth',
    signature: look.signature + packed + range.join() + state.display.opacity + state.display.smooth + state.display.colormap,
  };
}

function paintCell(cell, analysis, state, tables, i18n) {
  const look = lookOf(cell, analysis, state);
  cell.look = look;
  if (cell.absent.hidden === Boolean(look.absent)) cell.absent.hidden = !look.absent;
  const heat = Boolean(look.values);
  cell.node.classList.toggle('lens-no-scale', !heat);
  setText(cell.low, heat ? rangeNumber(look.range[0]) : '');
  setText(cell.high, heat ? rangeNumber(look.range[1]) : '');
  setText(cell.caption, captionOf(cell, analysis, state, i18n));
  setAttribute(cell.canvas, 'aria-label', labelOf(cell, look, i18n));
  if (look.signature === cell.painted) return;
  // Photographs of equal length are possible: a new analysis clears `painted` itself.
  cell.painted = look.signature;
  paintPanel(cell.canvas, { ...look, table: tables[state.display.colormap] });
}

function captionOf(cell, analysis, state, i18n) {
  const modality = analysis.modalities[cell.modality];
  const { packed } = modality;
  switch (cell.panel) {
    case 'input': return packed.missing ? i18n.t('missing') : '';
    case 'cross1': return `← ${packed.others[0].toUpperCase()}`;
    case 'cross2': return `← ${packed.others[1].toUpperCase()}`;
    case 'score': return i18n.t('cut', { value: rangeNumber(packed.cut) });
    case 'kept': return `${analysis.counts.kept} / ${analysis.counts.patches}`;
    case 'aggregation':
      if (analysis.counts.tokens === null) return '';
      return state.token === null ? i18n.t('tokens.short', { n: analysis.counts.tokens }) : i18n.t('token.short', { n: state.token + 1 });
    case 'soft': return `τ ${Number(analysis.settings.tau.toPrecision(3))}`;
    case 'frequency': return i18n.t('draws', { n: analysis.counts.draws });
    default: return '';
  }
}

function labelOf(cell, look, i18n) {
  const name = `${cell.modality.toUpperCase()}, ${i18n.t(`column.${cell.panel}`)}`;
  if (look.absent) return `${name}: ${i18n.t('absent')}`;
  return look.values ? `${name}, ${i18n.t('range', { low: rangeNumber(look.range[0]), high: rangeNumber(look.range[1]) })}` : name;
}
