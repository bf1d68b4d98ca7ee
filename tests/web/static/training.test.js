// Curves of runs: which chart they go to, and on which axis.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartsOfRuns, rangeOf } from '../../../sdtps/web/static/js/views/training_curves.js';

const curve = (name, values, epochs = values.map((_, i) => i)) => ({ name, log: name.startsWith('grad/'), epochs, values });
const RUNS = [
  { id: 0, name: 'a', curves: [curve('loss', [9, 8, 7]), curve('accuracy', [0.1, 0.2, 0.3]), curve('grad/scores', [1e-3, 0, 1e-2])] },
  { id: 1, name: 'b', curves: [curve('loss', [9, null, 12]), curve('accuracy', [0.1]), curve('mAP', [0.2, 0.4], [1, 3])] },
];

test('each run gives the first curve that it has of a chart', () => {
  const charts = Object.fromEntries(chartsOfRuns(RUNS, 'scores').map((chart) => [chart.key, chart]));
  assert.deepEqual(Object.keys(charts), ['loss', 'accuracy', 'mAP', 'gradient']);
  assert.deepEqual(charts.loss.series.map(({ values }) => values), [[9, 8, 7], [9, null, 12]]);
  assert.deepEqual(charts.accuracy.series.map(({ values }) => values), [[0.1, 0.2, 0.3], [0.1, null, null]]);
  assert.deepEqual(charts.mAP.epochs, [1, 3]);
});

test('the heads have a chart of their own where one of them does not count', () => {
  const keys = (heads) => chartsOfRuns([{ id: 0, name: 'a', curves: [curve('loss', [9, 8]), curve('loss_heads', heads)] }], 'scores').map(({ key }) => key);
  assert.deepEqual(keys([9, 8.0001]), ['loss']);
  assert.deepEqual(keys([14, 13]), ['loss', 'loss_heads']);
});

test('a logarithmic axis has no place for zero', () => {
  const chart = chartsOfRuns(RUNS, 'scores').find(({ key }) => key === 'gradient');
  assert.deepEqual(chart.series[0].values, [1e-3, null, 1e-2]);
  assert.deepEqual(chart.range, [1e-3, 1e-2]);
  assert.deepEqual(rangeOf([5], true), [1, 10]);
});

test('a linear axis has some room, and begins at 0 where values are near it', () => {
  assert.equal(rangeOf([0.05, 1])[0], 0);
  const [low, high] = rangeOf([63.8, 63.9]);
  assert.ok(low < 63.8 && low > 63.7 && high > 63.9);
});
