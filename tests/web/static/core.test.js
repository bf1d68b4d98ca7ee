// Numbers, colours, texts, bytes and the store: pure functions without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packNumbers, unpack } from '../../../sdtps/web/static/js/core/bytes.js';
import { colourIndex, cssGradient, makeColourMaps, paintColours } from '../../../sdtps/web/static/js/core/colours.js';
import { chooseLanguage, fillTemplate, makeTranslator } from '../../../sdtps/web/static/js/core/i18n.js';
import { clampTo, nearestIndex, orDash, placeOf, rangeNumber, roundSetting, shortNumber, signed } from '../../../sdtps/web/static/js/core/numbers.js';
import { makeStore } from '../../../sdtps/web/static/js/core/store.js';
import { floats, ints } from './helpers.js';

test('numbers are as short as a reader can use', () => {
  assert.deepEqual([0, 0.00012, 0.0512, 0.5, 12.345, 1234.5].map(shortNumber), ['0', '1.2e-4', '0.0512', '0.500', '12.35', '1235']);
  assert.deepEqual([0, 0.00012, 0.0512, 0.5, 123.4].map(rangeNumber), ['0', '1e-4', '0.051', '0.50', '123']);
  assert.equal(signed(-0.5), '−0.500');
  assert.equal(signed(0.5, 1), '+0.5');
  assert.equal(orDash(null), '–');
});

test('settings are clamped and rounded so that a link restores the same bits', () => {
  assert.equal(clampTo([0, 1], 7), 1);
  assert.equal(roundSetting(0.1 + 0.2), 0.3);
  assert.equal(nearestIndex([0.1, 0.3, 1], 0.7), 2);
  assert.equal(nearestIndex([5], -1), 0);
  assert.deepEqual(placeOf(9, { cols: 8 }), { row: 2, col: 2 });
});

test('bytes travel without loss', () => {
  const numbers = new Float32Array([0.1, -3e20, 0]);
  assert.deepEqual(unpack(packNumbers(numbers), Float32Array), numbers);
  assert.deepEqual([...unpack(ints([1, -2]), Int32Array)], [1, -2]);
  assert.deepEqual([...unpack(floats([1]), Uint8Array)], [0, 0, 128, 63]);
});

test('a part of a larger array is packed alone', () => {
  assert.deepEqual([...unpack(packNumbers(new Float32Array([1, 2, 3, 4]).subarray(1, 3)), Float32Array)], [2, 3]);
});

const RAMP = Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3));

test('a value has the colour of its place in the range', () => {
  assert.deepEqual([0, 0.5, 1, 2, -1].map((value) => colourIndex(value, [0, 1])), [0, 128, 255, 255, 0]);
  assert.equal(colourIndex(3, [3, 3]), 0, 'an empty range has one colour');
  const pixels = new Uint8ClampedArray(8);
  paintColours([1, 3], [1, 3], RAMP, pixels);
  assert.deepEqual([...pixels], [0, 0, 0, 255, 255, 255, 255, 255]);
  assert.match(cssGradient(RAMP), /^linear-gradient\(to right, rgb\(0,0,0\),rgb\(15,15,15\).*rgb\(255,255,255\)\)$/);
  assert.deepEqual(makeColourMaps({ ramp: Buffer.from(RAMP).toString('base64') }), { ramp: RAMP });
});

test('templates are filled as Python fills them', () => {
  assert.equal(fillTemplate('{n} of {all:.2f}, {x:.3g}, {gone}', { n: 3, all: 1, x: 0.123456 }), '3 of 1.00, 0.123, {gone}');
  assert.equal(fillTemplate('no braces', {}), 'no braces');
});

test('sentences are translated by their code, inside out, and fall back to English', () => {
  const texts = { en: { a: 'A {n}' }, zh: { 'note.outer': '外 {inner}', 'note.inner': '内 {n}' } };
  const state = { language: 'zh' };
  const i18n = makeTranslator(texts, state);
  const inner = { code: 'inner', values: { n: 2 }, text: 'in 2' };
  const note = { code: 'outer', values: { inner }, text: 'out in 2' };
  assert.equal(i18n.sentence(note), '外 内 2');
  assert.equal(i18n.t('a', { n: 1 }), 'A 1');
  assert.equal(i18n.sentence({ code: 'unknown', values: {}, text: 'plain' }), 'plain');
  state.language = 'en';
  assert.equal(i18n.sentence(note), 'out in 2');
  assert.equal(i18n.language, 'en');
});

test('the first language that is there is taken', () => {
  assert.equal(chooseLanguage({ en: {}, zh: {} }, [null, 'fr-FR', 'zh-CN', 'en']), 'zh');
  assert.equal(chooseLanguage({ en: {}, zh: {} }, [undefined, 'fr']), 'en');
});

test('listeners hear of what they watch, once, in order, and not after they ended it', () => {
  const store = makeStore({ a: 1, b: { c: 1 }, d: null });
  const heard = [];
  store.subscribe(['a', 'b.c'], () => heard.push(`ac ${store.state.a}${store.state.b.c}`));
  const end = store.subscribe(['d.e'], () => heard.push('d'));
  store.update({ a: 2, b: { c: 2 } });
  store.update({ b: { c: 2 } });
  store.update({ d: { e: 1 } });
  end();
  store.update({ d: null });
  assert.deepEqual(heard, ['ac 22', 'd']);
});

test('a listener may change the store; nobody hears of a state that is over', () => {
  const store = makeStore({ a: 0, b: 0 });
  const heard = [];
  store.subscribe(['a'], () => store.update({ b: store.state.a * 10 }));
  store.subscribe(['a', 'b'], () => heard.push([store.state.a, store.state.b]));
  store.update({ a: 1 });
  assert.deepEqual(heard, [[1, 10]]);
});
