// A small picture of one modality with a map, a kept set, or patches that entered and left.

const ENTERED = 'rgb(38, 190, 110)';
const LEFT = 'rgb(255, 92, 92)';

// Each sign stands on its own, so that green and red need not be told apart.
function paintMarks(context, patches, sign, colour, rows, cols) {
  const { canvas } = context;
  const line = Math.max(1.5, canvas.width / 70);
  for (const patch of patches) {
    const [x, y, width, height] = patchBox(canvas, rows, cols, patch);
    context.fillStyle = 'rgba(0, 0, 0, 0.45)';
    context.fillRect(x, y, width, height);
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.strokeRect(x + line / 2, y + line / 2, width - line, height - line);
    context.beginPath();
    const [cx, cy, arm] = [x + width / 2, y + height / 2, Math.min(width, height) * 0.24];
    context.moveTo(cx - arm, cy);
    context.lineTo(cx + arm, cy);
    if (sign === '+') {
      context.moveTo(cx, cy - arm);
      context.lineTo(cx, cy + arm);
    }
    context.stroke();
  }
}

// look: image, values + range + table + opacity, mask, entered, left, caption, label.
function miniMap(grid, width, look) {
  const { rows, cols } = grid;
  const height = Math.round((width * rows) / cols);
  const ratio = window.devicePixelRatio || 1;
  const canvas = h('canvas', { role: 'img', 'aria-label': look.label || '', width: Math.round(width * ratio), height: Math.round(height * ratio) });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  paintPanel(canvas, { dropped: 'dim', opacity: 1, smooth: false, rows, cols, ...look });
  const context = canvas.getContext('2d');
  if (look.entered) paintMarks(context, look.entered, '+', ENTERED, rows, cols);
  if (look.left) paintMarks(context, look.left, '−', LEFT, rows, cols);
  for (const [name, value] of Object.entries(look.data || {})) canvas.dataset[name] = value;
  return h('figure.lens-mini', {}, look.caption ? h('figcaption', {}, look.caption) : null, canvas);
}

// Width of a small picture: people are tall, vehicles are wide.
const miniWidth = (grid, tall, wide) => (grid.rows < grid.cols ? wide : tall);

function keptMask(analysis, modality) {
  return analysis.modalities[modality].arrays.rank.map((rank) => (rank < analysis.counts.kept ? 1 : 0));
}

// A colour bar with its numbers.
function numberedBar(table, low, high, middle) {
  const bar = h('div.lens-numbered');
  const colours = h('div.lens-bar');
  colours.style.background = cssGradient(table);
  bar.append(colours, h('div.lens-ends', {}, h('span', {}, low), ...(middle === undefined ? [] : [h('span', {}, middle)]), h('span', {}, high)));
  return bar;
}
