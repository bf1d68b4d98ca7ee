// The flow and its formula, the sizes of the focus, the card and the tour: what needs no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unpackAnalysis } from '../../../sdtps/web/static/js/core/analysis.js';
import { descriptionOf, picturesKey, weightsSentences } from '../../../sdtps/web/static/js/dialogs/about.js';
import { placeBeside } from '../../../sdtps/web/static/js/dialogs/tour.js';
import { byRank } from '../../../sdtps/web/static/js/focus/curve.js';
import { walk } from '../../../sdtps/web/static/js/focus/focus.js';
import { patchNumber } from '../../../sdtps/web/static/js/focus/pictures.js';
import { largestIn, manyIn, pairIn } from '../../../sdtps/web/static/js/focus/sizes.js';
import { formulaOf, runsOf } from '../../../sdtps/web/static/js/grid/flow.js';
import { tracksOf } from '../../../sdtps/web/static/js/grid/layout.js';
import { CONFIG, PANELS, payload } from './helpers.js';

// Keys with their values, so that a test sees which words and numbers were chosen.
const i18n = { language: 'en', t: (key, values = {}) => [key.replace('flow.', ''), ...Object.values(values)].join(' ') };
const analysis = (changes = {}) => ({
  ...unpackAnalysis(payload(), null), mix: { predictor: 0.5, self: 0.5, cross: 0.25, cosines: false }, ...changes,
});

test('columns stand in groups, and a group begins after some room', () => {
  assert.deepEqual(runsOf(PANELS), [
    { group: 'evidence', names: ['input', 'near'] }, { group: 'decision', names: ['score', 'kept'] },
    { group: 'output', names: ['blend'] }, { group: 'what-if', names: ['often'] },
  ]);
  assert.equal(tracksOf([1, 2]), 'var(--cell) calc(var(--cell) + 16px) var(--cell)');
});

test('the formula has the numbers of the analysis, for the row in hand', () => {
  const found = formulaOf(analysis(), { selector: 'sdtps' }, 'rgb', i18n);
  assert.equal(found.evidence, '0.50 × own + 0.25 × NIR + 0.25 × TIR + 0.50 × predictor');
  assert.deepEqual([found.decision, found.output, found['what-if']], ['top 2', 'tokens 3', 'noise 1']);
});

test('parts that do not count are left out, and plain cosines say so', () => {
  const alone = analysis({ mix: { predictor: 0, self: 0.5, cross: 0.25, cosines: false } });
  assert.equal(formulaOf(alone, { selector: 'sdtps' }, 'rgb', i18n).evidence, '0.50 × own + 0.25 × NIR + 0.25 × TIR');
  const cosines = analysis({ mix: { predictor: 0, self: 1, cross: 1, cosines: true } });
  assert.equal(formulaOf(cosines, { selector: 'sdtps' }, 'rgb', i18n).evidence, 'cosines own + NIR + TIR');
  const none = analysis({ counts: { patches: 4, kept: 2, tokens: null, draws: 64 } });
  assert.match(formulaOf(none, { selector: 'sdtps' }, 'rgb', i18n).output || '', /^kept /);
  assert.match(formulaOf(analysis(), { selector: 'sdtps', reads: ['beta'] }, 'rgb', i18n).output || '', /^kept /, 'it does not blend');
});

test('other selectors say what they do instead', () => {
  const soft = analysis();
  Object.assign(soft.modalities.nir, { numbers: { mixing: [0.6, 0.3, 0.1] }, effective: 3.2, weight_range: [0, 1] });
  assert.deepEqual(formulaOf(soft, { selector: 'soft' }, 'nir', i18n), {
    evidence: '0.60 × own + 0.30 × NIR + 0.10 × TIR', decision: 'mask 3 4',
  });
  const union = analysis();
  Object.assign(union.modalities.rgb, { kept: 3 });
  union.settings = { ...union.settings, knobs: { k: 2 } };
  assert.deepEqual(formulaOf(union, { selector: 'sim' }, 'rgb', i18n), { evidence: 'marks 2 NIR TIR', decision: 'union 3 4', output: 'attention' });
  assert.deepEqual(formulaOf(union, { selector: 'mine' }, 'rgb', i18n), { decision: 'top 3' });
});

test('pictures are as large as the room allows', () => {
  const [tall, wide] = [{ rows: 16, cols: 8 }, { rows: 8, cols: 16 }];
  assert.deepEqual(largestIn(tall, { width: 500, height: 600 }), { width: 300, height: 600 });
  assert.deepEqual(pairIn(tall, { width: 1000, height: 650 }, { gap: 10, below: 50 }), { width: 300, height: 600, stacked: false });
  assert.equal(pairIn(wide, { width: 800, height: 900 }, { gap: 10, below: 50 }).stacked, true);
  assert.deepEqual(manyIn(tall, 10, { width: 1000, height: 700 }, { gap: 10, below: 40 }), { width: 152, height: 304, perLine: 5 });
});

test('scores stand in the order of their ranks, and panels follow each other round and round', () => {
  assert.deepEqual(byRank([4, 1, 3, 2], [0, 3, 1, 2]), { sorted: [4, 3, 2, 1], patches: [0, 2, 3, 1] });
  assert.deepEqual([walk(['a', 'b'], 'b', 1), walk(['a', 'b'], 'a', -1)], ['a', 'b']);
});

test('a number in a patch has the digits that its map needs', () => {
  assert.deepEqual([patchNumber(0.631, [0, 1]), patchNumber(1.2, [0, 1.5]), patchNumber(0.0123, [0.004, 0.015]), patchNumber(64, [0, 128])],
    ['.63', '1.20', '.012', '64']);
});

test('weights speak for themselves or say that they are silent', () => {
  const about = { en: { line: 'l', data: 'drawn people', losses: 'maps' } };
  assert.deepEqual(descriptionOf({ about }, 'zh'), about.en, 'English where there is no other');
  assert.deepEqual(weightsSentences({ weights: { trained: true, complete: true, about } }, i18n), ['drawn people', 'maps']);
  assert.deepEqual(weightsSentences({ weights: { trained: true, complete: true, about: {} } }, i18n), ['about.silent']);
  assert.deepEqual(weightsSentences({ weights: { trained: false, complete: false, about } }, i18n), ['about.random']);
  assert.deepEqual(weightsSentences({ weights: { trained: true, complete: false, missing: 3, about: {} } }, i18n), ['banner.partial 3', 'about.silent']);
});

test('the card knows where pictures come from', () => {
  const examples = [{ name: 'day', generated: true }, { name: 'mine', generated: false }];
  const key = (state, sealed = false) => picturesKey({ example: null, record: null, recorded: null, ...state }, { ...CONFIG, examples, sealed });
  assert.deepEqual([key({ example: 'day' }), key({ example: 'mine' }), key({}), key({ record: 'r' }), key({ recorded: {} }), key({}, true)],
    ['generated', 'example', 'own', 'folder', 'run', 'author'].map((kind) => `about.pictures.${kind}`));
});

test('a card of the tour stands beside what it is about, within the window', () => {
  const [card, screen] = [{ width: 300, height: 150 }, { width: 1000, height: 700 }];
  assert.deepEqual(placeBeside({ left: 0, right: 230, top: 40, bottom: 700 }, card, screen), { left: 242, top: 40 });
  assert.deepEqual(placeBeside({ left: 800, right: 1000, top: 600, bottom: 700 }, card, screen), { left: 488, top: 538 });
  assert.deepEqual(placeBeside({ left: 20, right: 980, top: 40, bottom: 80 }, card, screen), { left: 20, top: 92 });
});
