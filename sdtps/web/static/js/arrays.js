// Base64 of little-endian numbers → typed arrays, and the payload's halves → one analysis.

const FLOAT_FIELDS = ['self', 'cross1', 'cross2', 'predictor', 'raw_self', 'raw_cross1', 'raw_cross2', 'token_norm',
  'score', 'soft', 'frequency', 'aggregation'];

function unpackBytes(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

const unpackFloats = (text) => new Float32Array(unpackBytes(text).buffer);
const unpackInts = (text) => new Int32Array(unpackBytes(text).buffer);

function unpackMatrix(matrix) {
  if (!matrix) return null;
  return {
    rows: matrix.rows,
    max: matrix.max,
    tokenMax: unpackFloats(matrix.token_max),
    branches: matrix.branches.map((branch) => {
      const keep = unpackInts(branch.keep);
      return { rows: matrix.rows, cols: keep.length, max: branch.max, keep, weights: unpackFloats(branch.weights) };
    }),
  };
}

// `arrays` are decoded once per change; `packed` stays to tell whether a panel must be painted again.
function unpackModality(payload, previous) {
  const packed = { ...(previous ? previous.packed : {}), ...payload };
  const unpacked = { packed, arrays: previous ? { ...previous.arrays } : {} };
  for (const field of FLOAT_FIELDS) {
    if (!(field in payload)) continue;
    unpacked.arrays[field] = payload[field] === null ? null : unpackFloats(payload[field]);
  }
  unpacked.arrays.rank = unpackInts(packed.rank);
  unpacked.ranges = { ...packed.still_ranges, ...packed.ranges };
  unpacked.matrix = unpackMatrix(packed.matrix);
  unpacked.image = previous && packed.photo === previous.packed.photo ? previous.image : null;
  return unpacked;
}

function unpackAnalysis(payload, previous) {
  const modalities = {};
  for (const [name, half] of Object.entries(payload.modalities)) {
    modalities[name] = unpackModality(half, previous && previous.modalities[name]);
  }
  return { ...(previous || {}), ...payload, modalities };
}

// Photographs decode asynchronously; panels are painted once all are there.
async function loadPhotos(analysis) {
  await Promise.all(Object.values(analysis.modalities).map(async (modality) => {
    if (modality.image || !modality.packed.photo) return;
    const image = new Image();
    image.src = modality.packed.photo;
    await image.decode();
    modality.image = image;
  }));
  return analysis;
}

function nearestIndex(steps, value) {
  let best = 0;
  steps.forEach((step, i) => { if (Math.abs(step - value) < Math.abs(steps[best] - value)) best = i; });
  return best;
}
