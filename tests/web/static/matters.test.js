// Pure functions of the views "Does it matter?", "Find cases" and of the explanation of a match.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundsOf, inside, shadesOf } from '../../../sdtps/web/static/js/views/cases_map.js';
import { between, sortedBy } from '../../../sdtps/web/static/js/views/cases_order.js';
import { strongestOf } from '../../../sdtps/web/static/js/views/match.js';
import { darknessOf } from '../../../sdtps/web/static/js/views/match_pair.js';
import { sortFields } from '../../../sdtps/web/static/js/side/folder_sort.js';
import { opened, reachOf, saysOf, signed } from '../../../sdtps/web/static/js/views/matters_report.js';

test('a gain is shown with its sign, and says what its digits say', () => {
  assert.equal(signed(0.021, 'mAP'), '+2.1');
  assert.equal(signed(-0.021, 'mAP'), '−2.1');
  assert.equal(signed(-0.0001, 'mAP'), '+0.0');
  assert.equal(signed(0.01234, 'cosine'), '+0.0123');
  assert.equal(saysOf({ low: 0.0003, high: 0.02 }, 'mAP'), 'open');
  assert.equal(saysOf({ low: 0.003, high: 0.02 }, 'mAP'), 'better');
  assert.equal(saysOf({ low: -0.03, high: -0.002 }, 'mAP'), 'worse');
});

test('halves are rounded as the report rounds them, and an end that is not known is infinitely far', () => {
  assert.equal(signed(0.8125, 'mAP'), '+81.3');
  assert.equal(signed(-0.0625, 'mAP'), '−6.3');
  const gain = opened({ value: 0.1, low: null, high: null });
  assert.deepEqual([signed(gain.low, 'mAP'), signed(gain.high, 'mAP'), saysOf(gain, 'mAP')], ['−∞', '∞', 'open']);
});

test('the axis holds every interval', () => {
  const rows = [{ gain: {} }, { gain: { mAP: { low: -0.1, high: 0.3 } } }];
  assert.ok(reachOf(rows, 'mAP') >= 0.3);
});

test('cases are sorted, those without a number last, and filtered', () => {
  const values = Float32Array.from([0.5, NaN, 0.1, 0.9]);
  assert.deepEqual(sortedBy(values, false), [2, 0, 3, 1]);
  assert.deepEqual(sortedBy(values, true), [3, 0, 2, 1]);
  assert.deepEqual(between([2, 0, 3, 1], values, '0.2', ''), [0, 3]);
  assert.deepEqual(between([2, 0, 3, 1], values, '', ''), [2, 0, 3, 1]);
});

test('a lasso holds what is inside it', () => {
  const square = /** @type {[number, number][]} */ ([[0, 0], [10, 0], [10, 10], [0, 10]]);
  assert.ok(inside(5, 5, square));
  assert.ok(!inside(15, 5, square));
});

test('shades run from the smallest to the largest value', () => {
  assert.deepEqual([...shadesOf(Float32Array.from([1, 3, NaN, 2]))], [0, 63, -1, 32]);
});

test('the strongest kept patches come first, whatever their modality', () => {
  const shares = { rgb: [[0.1, 0.9, 0.5], []], nir: [[0.2, 0.3, 0.8], []] };
  const kept = { rgb: [[1, 0, 1]], nir: [[1, 1, 1]] };
  assert.deepEqual(strongestOf(shares, kept, 2), [{ modality: 'nir', patch: 2 }, { modality: 'rgb', patch: 2 }]);
});

test('dropped patches are darker than kept ones', () => {
  const dark = darknessOf([0.4, 0.1, 0.9], [1, 1, 0]);
  assert.ok(dark[2] > dark[1]);
  assert.ok(dark[1] > dark[0]);
});

test('the folder browser asks for an order only where its split was measured', () => {
  const filter = { root: 0, split: 'test', pid: null, cam: null, search: '', sort: { column: 'ap', descending: true, low: '0.2', high: ' ' } };
  const survey = { key: 'k', root: 0, split: 'test' };
  assert.deepEqual(sortFields(filter, survey), { survey: 'k', column: 'ap', descending: true, low: 0.2, high: null });
  assert.deepEqual(sortFields(filter, null), {});
  assert.deepEqual(sortFields(filter, { ...survey, split: 'train' }), {});
  assert.deepEqual(sortFields({ ...filter, sort: { ...filter.sort, column: '' } }, survey), {});
});

test('the ends of a scale leave out what cannot be told', () => {
  assert.deepEqual(boundsOf(Float32Array.of(Number.NaN, 2, 1)), [1, 2]);
  assert.equal(boundsOf(Float32Array.of(Number.NaN)), null);
});
