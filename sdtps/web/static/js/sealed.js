// Without a server: every number was computed before and lies in the page; a slider move looks it up.

const SEALED_TYPES = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array };

// The inverse of the packing in Python: planes of bytes → numbers.
async function unpackSealed({ kinds, content }) {
  const stream = new Blob([unpackBytes(content)]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const arrays = {};
  let start = 0;
  for (const [name, [kind, shape]] of Object.entries(kinds)) {
    const Type = SEALED_TYPES[kind];
    const count = shape.reduce((product, length) => product * length, 1);
    const size = Type.BYTES_PER_ELEMENT;
    const whole = new Uint8Array(count * size);
    for (let plane = 0; plane < size; plane += 1) {
      const from = start + plane * count;
      for (let i = 0; i < count; i += 1) whole[i * size + plane] = bytes[from + i];
    }
    start += count * size;
    arrays[name] = { values: new Type(whole.buffer), shape };
  }
  return arrays;
}

// The last two axes are modality and patch; `place` says where on the others.
function sealedMap({ values, shape }, place, modality) {
  const patches = shape[shape.length - 1];
  let index = 0;
  [...place, modality].forEach((at, axis) => { index = index * shape[axis] + at; });
  return values.subarray(index * patches, (index + 1) * patches);
}

function packNumbers(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return btoa(String.fromCharCode(...bytes));
}

const extremes = (values) => [Math.min(...values), Math.max(...values)];

function sealedAnswer({ config, facts, analysis }, arrays, asked) {
  const at = Object.fromEntries(Object.entries(config.steps).map(([name, steps]) => [name, nearestIndex(steps, asked[name])]));
  const { beta: b, tau: t, sparse_ratio: r, aggr_ratio: a } = at;
  const settings = { ...asked };
  for (const [name, steps] of Object.entries(config.steps)) settings[name] = steps[at[name]];
  const { patches } = analysis.counts;
  const modalities = {};
  const shared = { soft: [0, 0], aggregation: [0, 0] };
  // K as Python counts it, in the same double arithmetic.
  const kept = Math.max(1, Math.ceil(patches * settings.sparse_ratio));
  MODALITIES.forEach((modality, m) => {
    const score = sealedMap(arrays.score, [b], m);
    const rank = sealedMap(arrays.rank, [b], m);
    const soft = sealedMap(arrays.soft, [b, t], m);
    const frequency = Float32Array.from(sealedMap(arrays.frequency, [b, t, r], m), (count) => count / facts.draws);
    const aggregation = facts.blended ? sealedMap(arrays.aggregation, [b, a, r], m) : null;
    const cut = score[rank.indexOf(kept - 1)];
    const ranges = { score: extremes(score), soft: extremes(soft), frequency: extremes(frequency), aggregation: [0, aggregation ? Math.max(...aggregation) : 0] };
    shared.soft[1] = Math.max(shared.soft[1], ranges.soft[1]);
    shared.aggregation[1] = Math.max(shared.aggregation[1], ranges.aggregation[1]);
    modalities[modality] = {
      score: packNumbers(score), rank: packNumbers(rank), soft: packNumbers(soft), frequency: packNumbers(frequency),
      aggregation: aggregation && packNumbers(aggregation), cut, ranges, matrix: null,
      margin: kept < patches ? cut - score[rank.indexOf(kept)] : null,
    };
  });
  return {
    key: analysis.key,
    settings,
    counts: { ...analysis.counts, kept, tokens: facts.tokens[r][a] },
    mix: facts.mix[b],
    ranges: { ...analysis.ranges, score: facts.scores[b], ...shared },
    notes: facts.notes[r][a],
    modalities,
  };
}

async function mountSealed(root, data) {
  const arrays = await unpackSealed(data.arrays);
  const alone = { error: { code: 'sealed', values: {}, text: 'This page has no server, so it cannot compute this.' } };
  return mountLens(root, data.config, {
    stage: async () => alone,
    analyse: async () => data.analysis,
    decide: async (request) => sealedAnswer(data, arrays, request.settings),
  });
}

document.body.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
mountSealed(document.querySelector('.lens-root'), JSON.parse(document.querySelector('#lens-data').textContent));
