// Photographs, heat maps and masks on a canvas. Knows nothing of the page around it.

const DIM = 'rgba(92, 102, 117, 0.82)';
const BLACK = 'rgb(0, 0, 0)';

const tileCanvas = document.createElement('canvas');

// The map as a picture of one pixel per patch, stretched by the caller.
function heatTile(values, range, table, rows, cols) {
  if (tileCanvas.width !== cols || tileCanvas.height !== rows) {
    tileCanvas.width = cols;
    tileCanvas.height = rows;
  }
  const context = tileCanvas.getContext('2d', { willReadFrequently: true });
  const tile = context.createImageData(cols, rows);
  for (let i = 0; i < values.length; i += 1) {
    const entry = colourIndex(values[i], range) * 3;
    tile.data[i * 4] = table[entry];
    tile.data[i * 4 + 1] = table[entry + 1];
    tile.data[i * 4 + 2] = table[entry + 2];
    tile.data[i * 4 + 3] = 255;
  }
  context.putImageData(tile, 0, 0);
  return tileCanvas;
}

// Whole device pixels, so that neighbouring squares neither overlap nor leave a seam.
function patchBox(canvas, rows, cols, index) {
  const row = Math.floor(index / cols);
  const col = index % cols;
  const x = Math.round((col * canvas.width) / cols);
  const y = Math.round((row * canvas.height) / rows);
  return [x, y, Math.round(((col + 1) * canvas.width) / cols) - x, Math.round(((row + 1) * canvas.height) / rows) - y];
}

function paintPhoto(context, image) {
  const { width, height } = context.canvas;
  context.globalAlpha = 1;
  context.imageSmoothingEnabled = true;
  context.imageSmoothingQuality = 'high';
  if (image) {
    context.drawImage(image, 0, 0, width, height);
    return;
  }
  context.fillStyle = 'rgb(128, 128, 128)';
  context.fillRect(0, 0, width, height);
  context.strokeStyle = 'rgba(255, 255, 255, 0.28)';
  context.lineWidth = Math.max(1, width / 80);
  context.beginPath();
  for (let x = -height; x < width; x += width / 6) {
    context.moveTo(x, height);
    context.lineTo(x + height, 0);
  }
  context.stroke();
}

function paintDropped(context, image, mask, how, rows, cols) {
  const { canvas } = context;
  for (let i = 0; i < mask.length; i += 1) {
    if (mask[i]) continue;
    const [x, y, width, height] = patchBox(canvas, rows, cols, i);
    if (how === 'black') {
      context.fillStyle = BLACK;
    } else {
      if (image) {
        const sx = image.naturalWidth / canvas.width;
        const sy = image.naturalHeight / canvas.height;
        context.drawImage(image, x * sx, y * sy, width * sx, height * sy, x, y, width, height);
      }
      context.fillStyle = DIM;
    }
    context.fillRect(x, y, width, height);
  }
}

// The line between kept and dropped: readable on a night picture, where dimming alone is not.
function paintContour(context, mask, rows, cols) {
  const { canvas } = context;
  const line = Math.max(1, Math.round(canvas.width / 90));
  context.fillStyle = 'rgba(255, 255, 255, 0.92)';
  for (let i = 0; i < mask.length; i += 1) {
    const [x, y, width, height] = patchBox(canvas, rows, cols, i);
    const col = i % cols;
    if (col + 1 < cols && mask[i] !== mask[i + 1]) context.fillRect(x + width - line / 2, y, line, height);
    if (i + cols < mask.length && mask[i] !== mask[i + cols]) context.fillRect(x, y + height - line / 2, width, line);
  }
}

// `look`: image, rows, cols, and optionally values + range + table + opacity + smooth, mask + dropped.
function paintPanel(canvas, look) {
  const context = canvas.getContext('2d', { willReadFrequently: true });
  paintPhoto(context, look.image);
  if (look.values) {
    const tile = heatTile(look.values, look.range, look.table, look.rows, look.cols);
    context.globalAlpha = look.opacity;
    context.imageSmoothingEnabled = look.smooth;
    context.drawImage(tile, 0, 0, canvas.width, canvas.height);
    context.globalAlpha = 1;
  }
  if (look.mask) {
    context.imageSmoothingEnabled = true;
    paintDropped(context, look.image, look.mask, look.dropped, look.rows, look.cols);
    paintContour(context, look.mask, look.rows, look.cols);
  }
}
