// Links: what they say is read, clamped and written back; what is the default is left out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkTo, readLink } from '../../../sdtps/web/static/js/core/link.js';
import { possibleVariant } from '../../../sdtps/web/static/js/core/models.js';
import { picturesOf, sourcesOf } from '../../../sdtps/web/static/js/core/pictures.js';
import { figureColumns } from '../../../sdtps/web/static/js/dialogs/figure_form.js';
import { scaleOf } from '../../../sdtps/web/static/js/bar/controls.js';
import { CONFIG, PANELS } from './helpers.js';

const stateOf = (link) => ({ ...link, leaveOut: new Set(link.leaveOut) });

test('an empty link is the defaults, and writes nothing but the example', () => {
  const link = readLink(CONFIG, '');
  assert.deepEqual(link.settings, CONFIG.defaults);
  assert.equal(link.example, 'day');
  assert.equal(linkTo('http://x/lens?', CONFIG, stateOf(link)), 'http://x/lens?example=day');
});

test('a link says what its sender saw, in the names of today', () => {
  const search = '?example=night&sparse=0.3&beta=0.1&tau=2&variant=paper&missing=nir&fit=letterbox&colormap=jet&opacity=0.5&scale=shared';
  const link = readLink(CONFIG, search);
  assert.deepEqual(link.settings, { sparse_ratio: 0.3, beta: 0.1, tau: 2, variant: 'paper' });
  assert.deepEqual(link.leaveOut, ['nir']);
  assert.equal(link.display.opacity, 0.5);
  const written = new URL(linkTo('http://x/', CONFIG, stateOf(link))).searchParams;
  assert.deepEqual(Object.fromEntries(written), { ...Object.fromEntries(new URLSearchParams(search)), over: 'blend' });
});

test('an opacity alone means blending, as it did before there was a choice', () => {
  const over = (search) => readLink(CONFIG, search).display.over;
  assert.deepEqual(['', '?opacity=0.4', '?opacity=0.4&over=relief', '?over=blend', '?over=x'].map(over), ['lines', 'blend', 'relief', 'blend', 'lines']);
  const link = readLink(CONFIG, '?opacity=0.4&over=relief');
  const written = new URL(linkTo('http://x/', CONFIG, stateOf(link))).searchParams;
  assert.deepEqual([written.get('over'), written.get('opacity')], ['relief', null], 'an opacity that nothing has is not in the link');
});

test('nonsense in a link is clamped or left out', () => {
  const link = readLink(CONFIG, '?sparse=7&beta=x&variant=none&missing=rgb,nir,tir&fit=round&colormap=pink&example=gone&record=0123456789abcdef&weights=two');
  assert.equal(link.settings.sparse_ratio, 1);
  assert.equal(link.settings.beta, CONFIG.defaults.beta);
  assert.equal(link.settings.variant, 'final');
  assert.deepEqual(link.leaveOut, []);
  assert.equal(link.fit, 'stretch');
  assert.equal(link.display.colormap, 'viridis');
  assert.deepEqual([link.example, link.record], ['day', null], 'without data folders there are no records');
  assert.deepEqual([link.weights, link.wanted], ['one', 'two'], 'weights that are only listed are wanted');
});

test('a record stands instead of an example, and unknown words of a link stay', () => {
  const link = readLink({ ...CONFIG, roots: [{}] }, '?record=0123456789abcdef');
  assert.deepEqual([link.example, link.record], [null, '0123456789abcdef']);
  assert.equal(linkTo('http://x/?lang=zh&example=day', CONFIG, stateOf(link)), 'http://x/?lang=zh&record=0123456789abcdef');
});

test('an epoch of a run is named by the run, its number and the image set', () => {
  const link = readLink(CONFIG, '?run=final-s0&epoch=3&set=1&sparse=0.3');
  assert.deepEqual(link.recorded, { name: 'final-s0', epoch: 3, probe: 1 });
  assert.equal(linkTo('http://x/', CONFIG, stateOf(link)), 'http://x/?example=day&sparse=0.3&run=final-s0&epoch=3&set=1');
  assert.equal(linkTo('http://x/?run=a&epoch=3&set=1', CONFIG, { ...stateOf(link), recorded: null }), 'http://x/?example=day&sparse=0.3');
  assert.deepEqual(readLink(CONFIG, '?run=a&epoch=-2&set=x').recorded, { name: 'a', epoch: 0, probe: 0 });
  assert.equal(readLink(CONFIG, '?epoch=3').recorded, null);
});

test('sources are named as the server knows them', () => {
  assert.deepEqual(picturesOf(sourcesOf({ example: 'day', record: null })).nir, { example: 'day' });
  assert.deepEqual(picturesOf(sourcesOf({ example: null, record: 'r' })).rgb, { record: 'r' });
  const uploads = { rgb: { token: 't', preview: 'p', file: null, slot: 'rgb' }, nir: null, tir: null };
  assert.deepEqual(picturesOf(uploads), { rgb: { token: 't' }, nir: null, tir: null });
});

test('weights run the variant that was asked for where they can', () => {
  const [one, two] = CONFIG.models;
  assert.equal(possibleVariant(one, 'paper', CONFIG), 'final');
  assert.equal(possibleVariant(two, 'final', CONFIG), 'final');
});

test('a narrow figure has fewer columns', () => {
  assert.deepEqual(figureColumns(PANELS, false), ['input', 'near', 'score', 'kept', 'blend']);
  assert.deepEqual(figureColumns(PANELS, true), ['input', 'score', 'kept', 'blend']);
});

test('a logarithmic slider steps in powers of ten, and 1 lies on its grid', () => {
  const scale = scaleOf(CONFIG.sliders[2]);
  assert.equal(scale.to(1), 0);
  assert.equal(scale.from(0.3), 2);
  assert.equal(scale.from(9), 10, 'never beyond its end');
  assert.equal(scaleOf(CONFIG.sliders[0]).from(0.30000000000000004), 0.3);
});
