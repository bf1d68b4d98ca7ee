// Answers → what is drawn: unpacking, looks of cells, captions, sizes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptMask, maskOf, unpackAnalysis } from '../../../sdtps/web/static/js/core/analysis.js';
import { makeTranslator } from '../../../sdtps/web/static/js/core/i18n.js';
import { captionOf, lookOf } from '../../../sdtps/web/static/js/grid/cells.js';
import { stepFrom } from '../../../sdtps/web/static/js/grid/hover.js';
import { linesOf, panelSize } from '../../../sdtps/web/static/js/grid/layout.js';
import { dimmedTo, patchBox } from '../../../sdtps/web/static/js/grid/paint.js';
import { sentencesOf } from '../../../sdtps/web/static/js/grid/readout.js';
import { tokenRow } from '../../../sdtps/web/static/js/grid/tokens.js';
import { PANELS, floats, ints, move, payload } from './helpers.js';

const DISPLAY = { colormap: 'viridis', over: 'lines', opacity: 0.65, smooth: 'squares', scale: 'map', dropped: 'dim' };
const cell = (name) => ({ modality: 'rgb', panel: PANELS.find((panel) => panel.name === name) });
const look = (name, analysis, more = {}) => lookOf(cell(name), analysis, { display: DISPLAY, token: null, peeking: false, ...more });
const i18n = makeTranslator({ en: {
  missing: 'no picture', flat: 'flat', 'tokens.short': 'Σ {n}', 'token.short': 'token {n}', 'caption.score': 'cut {cut}', 'caption.cross': 'to {other}', 'caption.often': '{draws} at {tau:.3g}',
  'readout.patch': 'row {row}, column {col}', 'readout.rank': '{modality} {state} {rank}/{n}', 'readout.kept': 'kept', 'readout.dropped': 'dropped',
  'readout.raw': '{modality}: {near}, {first}, norm {norm}',
} }, { language: 'en' });

test('a slider move is laid over what was there', () => {
  const whole = unpackAnalysis(payload(), null);
  const after = unpackAnalysis(move([9, 8, 7, 6]), whole);
  const { rgb } = after.modalities;
  assert.deepEqual([...rgb.maps.score], [9, 8, 7, 6]);
  assert.deepEqual([...rgb.rank], [3, 2, 1, 0]);
  assert.equal(rgb.maps.near, whole.modalities.rgb.maps.near, 'not decoded again');
  assert.equal(rgb.maps.blend, null, 'what the weights lack stays lacking');
  assert.deepEqual(rgb.ranges, { near: [0, 1], score: [6, 9], often: [0, 1] });
  assert.equal(rgb.raw, whole.modalities.rgb.raw);
  assert.equal(after.settings.beta, 0.3);
  assert.deepEqual(after.grid, { rows: 2, cols: 2 });
  assert.deepEqual([...whole.modalities.rgb.maps.score], [4, 1, 3, 2], 'the analysis before is still what it was');
});

test('the best ranks are kept', () => {
  assert.deepEqual([...maskOf([0, 3, 1, 2], 2)], [1, 0, 1, 0]);
  assert.deepEqual([...keptMask(unpackAnalysis(payload(), null), 'tir')], [1, 0, 1, 0]);
});

test('a cell looks as its row of the table says', () => {
  const analysis = unpackAnalysis(payload(), null);
  assert.equal(look('input', analysis).values, undefined);
  assert.deepEqual(look('score', analysis).range, [1, 4]);
  assert.deepEqual(look('score', analysis, { display: { ...DISPLAY, scale: 'shared' } }).range, [0, 5]);
  assert.equal(look('score', analysis).mask, undefined);
  assert.deepEqual([...look('kept', analysis).mask], [1, 0, 1, 0]);
  assert.equal(look('kept', analysis).values, undefined);
  assert.equal(look('blend', analysis).absent, true);
});

test('a panel is painted again exactly when its look changes', () => {
  const before = unpackAnalysis(payload(), null);
  const after = unpackAnalysis(move([9, 8, 7, 6]), before);
  const same = (name) => look(name, before).signature === look(name, after).signature;
  assert.deepEqual(['input', 'near', 'often', 'score', 'kept'].filter(same), ['input', 'near', 'often']);
  assert.notEqual(look('near', before).signature, look('near', before, { display: { ...DISPLAY, opacity: 0.5 } }).signature);
});

test('a flat map is flat, but on a bar for all maps it has its true colour', () => {
  const packed = payload();
  packed.modalities.rgb.flat = { near: true, score: false };
  const analysis = unpackAnalysis(packed, null);
  assert.equal(look('near', analysis).flat, true);
  assert.equal(look('near', analysis, { display: { ...DISPLAY, scale: 'shared' } }).flat, false);
  assert.equal(Boolean(look('score', analysis).flat), false);
});

test('what lies over a map is what the reader chose', () => {
  const analysis = unpackAnalysis(payload(), null);
  analysis.modalities.rgb.drawn = { lines: 'L', relief: 'R' };
  const over = (name) => look('score', analysis, { display: { ...DISPLAY, over: name } });
  assert.deepEqual([over('lines').layer, over('relief').layer, over('blend').layer], ['L', 'R', null]);
  assert.deepEqual([over('lines').blend, over('blend').blend], [false, true]);
  assert.notEqual(over('lines').signature, over('relief').signature);
});

test('while the photograph is looked at there is no map and no mask', () => {
  const analysis = unpackAnalysis(payload(), null);
  const { values, mask } = look('blend', analysis, { peeking: true });
  assert.deepEqual([values, mask, look('kept', analysis, { peeking: true }).mask], [undefined, undefined, undefined]);
});

test('a map that compares with a missing picture is hatched, and says so', () => {
  const packed = payload();
  packed.modalities.tir.missing = true;
  const analysis = unpackAnalysis(packed, null);
  assert.equal(look('near', analysis).hatched, true);
  assert.equal(captionOf(cell('near'), analysis, null, i18n), 'to TIR: no picture');
  assert.equal(look('score', analysis).hatched, false);
});

test('dropped patches are darker than kept ones, whatever the picture', () => {
  const rest = (mask, brightness) => dimmedTo(mask, brightness);
  assert.equal(rest([1, 0], [100, 100]), 0.35);
  assert.equal(rest([1, 0], [20, 200]), 0.05, 'a dark person before a bright wall');
  assert.equal(rest([1, 1], [20, 200]), 0.35);
  assert.equal(rest([1, 0], null), 0.35);
});

test('one token is shown where a column has tokens', () => {
  const packed = payload();
  const half = packed.modalities.rgb;
  half.maps.blend = floats([1, 0, 1, 0]);
  half.ranges.blend = [0, 1];
  half.matrix = { rows: 2, max: 0.75, token_max: floats([0.75, 0.5]), branches: [{ keep: ints([0, 2]), weights: floats([0.25, 0.75, 0.5, 0.5]), max: 0.75 }] };
  const analysis = unpackAnalysis(packed, null);
  const { values, range } = look('blend', analysis, { token: 0 });
  assert.deepEqual([[...values], range], [[0.25, 0, 0.75, 0], [0, 0.75]]);
  assert.deepEqual(tokenRow(analysis.modalities.rgb.matrix, 1, 4, 'shared', analysis).range, [0, 0.75]);
  assert.deepEqual([...look('blend', analysis).values], [1, 0, 1, 0]);
});

test('captions come from the table and the texts', () => {
  const analysis = unpackAnalysis(payload(), null);
  const said = (name, token = null) => captionOf(cell(name), analysis, token, i18n);
  assert.deepEqual(['input', 'near', 'score', 'blend', 'often', 'kept'].map((name) => said(name)), ['', 'to TIR', 'cut 3.00', 'Σ 3', '64 at 1', '']);
  assert.equal(said('blend', 1), 'token 2');
  analysis.modalities.rgb.cut = null;
  assert.equal(said('score'), '', 'a selector without a cut');
});

test('a patch is told in sentences', () => {
  assert.deepEqual(sentencesOf(unpackAnalysis(payload(), null), { modality: 'nir', patch: 2 }, i18n),
    ['row 2, column 1', 'RGB kept 2/4', 'NIR kept 2/4', 'TIR kept 2/4', 'NIR: 0.300, NIR, norm 3.000']);
});

test('arrow keys walk and stop at the edges', () => {
  const grid = { rows: 16, cols: 8 };
  assert.equal(stepFrom(null, 'ArrowUp', grid), 68);
  assert.equal(stepFrom(0, 'ArrowUp', grid), 0);
  assert.equal(stepFrom(7, 'ArrowRight', grid), 7);
  assert.equal(stepFrom(7, 'ArrowDown', grid), 15);
});

test('squares tile the canvas without seams', () => {
  const boxes = Array.from({ length: 6 }, (_, i) => patchBox({ width: 10, height: 7 }, { rows: 2, cols: 3 }, i));
  assert.equal(boxes.reduce((area, [, , width, height]) => area + width * height, 0), 70);
  assert.deepEqual(boxes[1], [3, 0, 4, 4]);
});

test('panels are as large as the window allows', () => {
  const tall = { rows: 16, cols: 8 };
  const page = { width: 1100, height: 600, narrow: false, heads: 40, around: 30, rows: 3 };
  const lines = linesOf(tall, { columns: 10, groups: 4, narrow: false, width: 1100 });
  assert.deepEqual(lines, { lines: 1, perLine: 10, between: 48 });
  assert.deepEqual(panelSize(tall, lines, page), { width: 78, height: 156 }, 'the height is what is short');
  assert.equal(panelSize(tall, lines, { ...page, height: 2000 }).width, 98, 'the width is what is short');
  assert.equal(panelSize(tall, lines, { ...page, height: 100 }).width, 56, 'never too small to see');
  assert.deepEqual(linesOf({ rows: 8, cols: 16 }, { columns: 11, groups: 4, narrow: false, width: 1100 }), { lines: 2, perLine: 6, between: 0 });
  assert.deepEqual(linesOf(tall, { columns: 10, groups: 4, narrow: true, width: 400 }), { lines: 1, perLine: 3, between: 0 });
  assert.deepEqual(linesOf(tall, { columns: 10, groups: 4, narrow: true, width: 800 }), { lines: 1, perLine: 5, between: 0 });
});
