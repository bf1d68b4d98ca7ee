// Axes, curves, indexes and the page without a server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpack } from '../../../sdtps/web/static/js/core/bytes.js';
import { rowAt } from '../../../sdtps/web/static/js/core/tables.js';
import { joinPlanes, positionOf, sealedAnswer } from '../../../sdtps/web/static/js/sealed.js';
import { logTicks, makeScale, niceTicks } from '../../../sdtps/web/static/js/views/chart.js';
import { logarithms } from '../../../sdtps/web/static/js/views/gradient_maps.js';
import { decadesOf } from '../../../sdtps/web/static/js/views/gradients.js';
import { indexesOf } from '../../../sdtps/web/static/js/views/rank.js';
import { chartsOf } from '../../../sdtps/web/static/js/views/sweep.js';
import { CONFIG, payload } from './helpers.js';

test('ticks are round numbers within the range', () => {
  assert.deepEqual(niceTicks([0, 1], 5), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(niceTicks([3, 3], 5), [3]);
  assert.deepEqual(logTicks([0.05, 10]), [0.1, 1, 10]);
});

test('a scale goes there and back', () => {
  const line = makeScale([0, 10], [100, 0]);
  assert.equal(line.at(5), 50);
  assert.equal(line.back(50), 5);
  const log = makeScale([0.1, 10], [0, 100], 'log');
  assert.equal(log.at(1), 50);
  assert.ok(Math.abs(log.back(50) - 1) < 1e-12);
  const root = makeScale([0, 1], [0, 100], 'root');
  assert.deepEqual([root.at(0.01), root.at(0.25), root.back(50)], [10, 50, 0.25], 'the first patches have room');
});

test('gradients are shown by their powers of ten, and nothing is dimmed but zeros', () => {
  assert.deepEqual(decadesOf([0, 0.02, 30]), [0.01, 100]);
  assert.equal(decadesOf([0, 0]), null);
  const { range, look } = logarithms({ score: { rgb: [0, 0.1], nir: [10, 1], tir: [1, 1] }, lacking: null });
  assert.deepEqual(range, [-1, 1]);
  assert.deepEqual(look('rgb'), { values: [-1, -1], range, mask: [0, 1] });
  assert.equal(look('nir').mask, undefined);
});

test('features of these settings first, else the last complete ones; half-made ones are known', () => {
  const other = { ...CONFIG.defaults, beta: 0.1 };
  const index = (settings, done) => ({ settings, done, total: 10 });
  const own = index(CONFIG.defaults, 10);
  assert.deepEqual(indexesOf({ indexes: [index(other, 10), own] }, CONFIG.defaults), { index: own, fits: true, partial: null });
  const begun = index(CONFIG.defaults, 4);
  const found = indexesOf({ indexes: [begun, index(other, 10)] }, CONFIG.defaults);
  assert.deepEqual([found.index.settings, found.fits, found.partial], [other, false, begun]);
  assert.deepEqual(indexesOf(null, CONFIG.defaults), { index: null, fits: false, partial: null });
});

test('a sweep draws the curves that tell something, as Python says', () => {
  const found = { kept: [1], tokens: [1], jaccard: { rgb: [1] }, cosine: { rgb: [0.42] }, precision: { rgb: [1] }, telling: ['precision', 'cosine'] };
  assert.deepEqual(chartsOf(found).map(({ key, range }) => [key, range]), [['precision', [0, 1]], ['cosine', [0.4, 1]]]);
  assert.deepEqual(chartsOf({ ...found, telling: [] }), []);
});

// As Python packs: all first bytes, then all second bytes, …
function planes(arrays) {
  return Uint8Array.from(Object.values(arrays).flatMap((array) => {
    const bytes = new Uint8Array(array.buffer);
    const size = array.BYTES_PER_ELEMENT;
    return Array.from({ length: size }, (_, plane) => Array.from(array, (_, i) => bytes[i * size + plane])).flat();
  }));
}

test('planes of bytes are numbers again', () => {
  const arrays = { a: new Float32Array([0.1, -2, 3, 4]), b: new Uint8Array([7, 8]) };
  const tables = joinPlanes({ a: ['float32', [2, 2]], b: ['uint8', [2]] }, planes(arrays));
  assert.deepEqual(tables.a.values, arrays.a);
  assert.deepEqual([...rowAt(tables.a, [1])], [3, 4]);
  assert.deepEqual([...tables.b.values], [7, 8]);
});

test('without a server a slider move is looked up, in the shape of an answer', () => {
  const table = (shape, make) => ({ shape, values: Float64Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => make(i)) });
  const maps = (...axes) => ({ shape: [...axes, 3, 4], values: Float32Array.from({ length: axes.reduce((a, b) => a * b, 12) }, (_, i) => i) });
  const tables = {
    rank: { shape: [2, 3, 4], values: Int32Array.from({ length: 24 }, (_, i) => i) },
    cut: table([2, 3, 3, 2], (i) => (i === 25 ? NaN : i)),
    score: maps(2), 'score.range': table([2, 3, 2], (i) => i), 'score.flat': table([2, 3, 1], (i) => Number(i === 4)), 'score.shared': table([2, 2], (i) => i),
    often: { ...maps(2, 2), values: Uint8Array.from({ length: 48 }, () => 32) }, 'often.range': table([2, 2, 3, 2], () => 0.5), 'often.flat': table([2, 2, 3, 1], () => 0),
    'often.shared': table([2, 2, 2], (i) => i),
    blend: maps(2, 3), 'blend.range': table([2, 3, 3, 2], () => 0), 'blend.flat': table([2, 3, 3, 1], () => 0), 'blend.shared': table([2, 3, 2], (i) => i),
  };
  const config = { ...CONFIG, steps: { beta: [0, 0.5], sparse_ratio: [0.25, 0.5, 1], aggr_ratio: [0.4], tau: [0.1, 1] } };
  const facts = { mix: ['m0', 'm1'], kept: [1, 2, 4], tokens: [[1], [2], [3]], notes: [[[]], [['n']], [[]]] };
  const answer = sealedAnswer({ config, facts, analysis: payload() }, tables, { ...CONFIG.defaults, aggr_ratio: 0.4, beta: 0.44, sparse_ratio: 0.3, tau: 2 });
  assert.deepEqual(answer.settings, { sparse_ratio: 0.25, beta: 0.5, tau: 1, variant: 'final', aggr_ratio: 0.4 });
  assert.deepEqual([answer.counts.kept, answer.counts.tokens, answer.mix], [1, 1, 'm1']);
  const { nir, tir } = answer.modalities;
  assert.deepEqual([...unpack(nir.maps.score, Float32Array)], [16, 17, 18, 19]);
  assert.deepEqual([...unpack(nir.maps.often, Float32Array)], [0.5, 0.5, 0.5, 0.5], 'counts of draws are shares again');
  assert.equal('blend' in nir.maps, false, 'what the weights lack is not made up');
  assert.deepEqual(nir.ranges.score, [8, 9]);
  assert.deepEqual([nir.flat.score, tir.flat.score], [true, false]);
  assert.deepEqual([answer.ranges.score, answer.ranges.near], [[2, 3], [0, 1]]);
  assert.deepEqual([tir.cut, tir.margin, answer.modalities.rgb.margin], [22, 23, 19]);
});

test('without a server a knob of another selector finds its place, and one that was not moved its own', () => {
  const axes = [['sparse_ratio', [0.1, 0.5, 0.9]], ['k', [1, 64]]];
  const own = { sparse_ratio: 0.5, knobs: { k: 64 } };
  assert.equal(positionOf(axes, { sparse_ratio: 0.1, knobs: { k: 1 } }, own), 0);
  assert.equal(positionOf(axes, { sparse_ratio: 0.56 }, own), 3);
  assert.equal(positionOf(axes, { sparse_ratio: 1, knobs: { k: 20 } }, own), 4);
});
