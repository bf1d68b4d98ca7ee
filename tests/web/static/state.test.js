// State that can be shared: links with what is in hand, entries of the Back button, a server that goes and comes back,
// and files told apart.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchServer } from '../../../sdtps/web/static/js/core/connection.js';
import { modalityOf, tellApart } from '../../../sdtps/web/static/js/core/file_names.js';
import { addsEntry, beginsMove, stepOf } from '../../../sdtps/web/static/js/core/history.js';
import { linkTo, readLink, setQuery } from '../../../sdtps/web/static/js/core/link.js';
import { wideOf } from '../../../sdtps/web/static/js/core/own_pictures.js';
import { walkFrom } from '../../../sdtps/web/static/js/grid/hover.js';
import { UNREACHABLE } from '../../../sdtps/web/static/js/core/server.js';
import { makeStore } from '../../../sdtps/web/static/js/core/store.js';
import { filesOf, newOwnId } from '../../../sdtps/web/static/js/core/uploads.js';
import { CONFIG } from './helpers.js';

const stateOf = (search) => {
  const link = readLink(CONFIG, search);
  return { ...link, leaveOut: new Set(link.leaveOut), pointed: { modality: 'rgb', patch: null, ...link.pinned, pinned: link.pinned !== null } };
};

test('a link holds the tab, the patch, the token and A', () => {
  const search = '?example=night&view=compare&patch=nir-3&token=1&a=example%3Dday%26beta%3D0.1';
  const state = stateOf(search);
  assert.deepEqual(state.pinned, { modality: 'nir', patch: 3 });
  assert.equal(readLink(CONFIG, state.against).settings.beta, 0.1);
  assert.equal(linkTo('http://x/', CONFIG, state), `http://x/${search}`);
  assert.equal(setQuery(CONFIG, stateOf('?beta=0.1')), 'example=day&beta=0.1');
  assert.equal(setQuery(CONFIG, stateOf('?own=abcd12')), null, 'no link can hold the reader\'s own pictures');
});

test('the first tab, nothing in hand and no A leave no trace', () => {
  assert.equal(linkTo('http://x/?view=rank&patch=rgb-1&token=2&a=b', CONFIG, { ...stateOf(''), view: 'selection' }), 'http://x/?example=day');
});

test('own pictures have a name in the link that only their browser knows', () => {
  const link = readLink(CONFIG, '?own=abcd12');
  assert.deepEqual([link.own, link.example, link.missed], ['abcd12', null, []]);
  assert.equal(readLink(CONFIG, '?own=../../x').own, null);
  assert.equal(readLink(CONFIG, `?own=${newOwnId()}`).example, null);
});

test('what a link asks for in vain is named', () => {
  const codes = readLink(CONFIG, '?example=gone&sparse=7&variant=none').missed.map(({ code }) => code);
  assert.deepEqual(codes.sort(), ['link.example', 'link.range', 'link.variant']);
  assert.match(readLink(CONFIG, '?sparse=7').missed[0].text, /ρ = 7; the nearest value there is, 1/);
  assert.deepEqual(readLink(CONFIG, '?sparse=0.4&variant=paper&example=night&patch=zzz&token=x').missed, []);
});

test('a place is a step of its own, a slider position once it settled', () => {
  const step = (search) => stepOf({ ...stateOf(search), view: 'selection' });
  assert.equal(addsEntry(null, step(''), true), false, 'what Back led to is not a new step');
  assert.equal(addsEntry(step(''), step('?example=night'), false), true);
  assert.equal(addsEntry(step(''), step('?beta=0.1'), false), false, 'still on the way');
  assert.equal(addsEntry(step(''), step('?beta=0.1'), true), true);
  assert.equal(addsEntry(step(''), step(''), true), false);
});

test('a drag is one move, however long it rests under the pointer', () => {
  assert.equal(beginsMove(Infinity, Infinity), true);
  assert.equal(beginsMove(100, Infinity), false, 'the next key press of a row');
  assert.equal(beginsMove(5000, 20), true, 'pressed just now');
  assert.equal(beginsMove(5000, 9000), false, 'pressed before the last move, and held since');
});

test('a server that is gone is said once, looked for, and said to be back', async () => {
  const answers = [{ error: UNREACHABLE }, { error: UNREACHABLE }, { fine: true }];
  const pings = [false, false, true];
  const store = makeStore({ connected: true });
  const said = [];
  store.subscribe(['connected'], () => said.push(store.state.connected));
  const server = watchServer({ ask: async () => answers.shift(), ping: async () => pings.shift() }, store, async () => {});
  assert.deepEqual(await server.ask(), { error: UNREACHABLE }, 'who asks gets the answer as before');
  await server.ask();
  while (!store.state.connected) await new Promise((resolve) => { setImmediate(resolve); });
  assert.deepEqual(said, [false, true]);
  assert.equal(pings.length, 0);
  assert.deepEqual(await server.ask(), { fine: true });
});

test('files are told apart by the words in their names, else in order', () => {
  const told = (slot, ...names) => tellApart(slot, names.map((name) => ({ name })), ['tir']).placed.map(({ slot: of, file, by }) => [of, file.name, by]);
  assert.deepEqual(told('nir', 'x_rgb.png'), [['nir', 'x_rgb.png', 'place']], 'a zone is where the reader dropped it');
  assert.deepEqual(told(null, 'a_thermal.png', 'a-VIS.png', 'a_ni.png').map(([of, , by]) => [of, by]), [['rgb', 'name'], ['nir', 'name'], ['tir', 'name']]);
  assert.deepEqual(told('rgb', '1.png', '2.png'), [['rgb', '1.png', 'order'], ['nir', '2.png', 'order']]);
  assert.deepEqual(told(null, 'one.png'), [['tir', 'one.png', 'order']], 'the slot that has none');
  assert.deepEqual(told(null, 'b.png', 'a_tir.png'), [['rgb', 'b.png', 'order'], ['tir', 'a_tir.png', 'name']]);
  assert.equal(tellApart(null, ['1', '2', '3', '4'].map((name) => ({ name }))).left.length, 1);
  assert.deepEqual(['personRGB1.png', 'rgbnt201_7.png', 'anti.png', '7TI.bmp'].map(modalityOf), ['rgb', null, null, 'tir']);
});

test('a picture twice as wide as the model\'s may hold three', () => {
  const answer = (height, width) => ({ pictures: { rgb: { size: [height, width] } } });
  const model = (rows, cols) => ({ grid: { rows, cols } });
  assert.equal(wideOf('rgb', {}, answer(256, 128), model(16, 8)), null);
  assert.ok(wideOf('rgb', {}, answer(256, 384), model(16, 8)));
  assert.equal(wideOf('rgb', {}, answer(128, 256), model(8, 16)), null, 'vehicles are wide themselves');
  assert.equal(wideOf('wide', {}, answer(256, 384), model(16, 8)), null);
});

test('a file behind several pictures is kept once', () => {
  const file = { name: 'wide.png' };
  const source = { token: 't', file, slot: 'wide' };
  assert.deepEqual(filesOf({ rgb: source, nir: source, tir: source }), [{ file, slot: 'wide' }]);
  assert.deepEqual(filesOf({ rgb: { example: 'day' }, nir: null, tir: null }), []);
});

test('arrows walk over patches and on to the next modality; Shift keeps the patch', () => {
  const grid = { rows: 4, cols: 2 };
  const shown = ['rgb', 'tir'];
  const go = (modality, patch, key, shiftKey = false) => {
    const to = walkFrom({ modality, patch }, { key, shiftKey }, grid, shown);
    return [to.modality, to.patch];
  };
  assert.deepEqual(go('rgb', null, 'ArrowUp'), ['rgb', 5], 'the middle first');
  assert.deepEqual(go('rgb', 5, 'ArrowDown'), ['rgb', 7]);
  assert.deepEqual(go('rgb', 7, 'ArrowDown'), ['tir', 1], 'a missing modality is passed over');
  assert.deepEqual(go('tir', 1, 'ArrowUp'), ['rgb', 7]);
  assert.deepEqual(go('tir', 7, 'ArrowDown'), ['tir', 7], 'the end');
  assert.deepEqual(go('rgb', 3, 'ArrowDown', true), ['tir', 3]);
  assert.deepEqual(go('rgb', 3, 'ArrowUp', true), ['rgb', 3]);
  assert.deepEqual(go('rgb', 3, 'ArrowRight'), ['rgb', 3]);
  assert.deepEqual(go('rgb', 3, 'ArrowLeft'), ['rgb', 2]);
});

test('a recorded run is a place, its epochs are positions', () => {
  const step = (recorded) => stepOf({ ...stateOf(''), view: 'training', recorded });
  const at = (name, epoch) => step({ name, epoch, probe: 0 });
  assert.equal(addsEntry(step(null), at('a', 0), false), true);
  assert.equal(addsEntry(at('a', 0), at('a', 5), false), false);
  assert.equal(addsEntry(at('a', 0), at('a', 5), true), true);
});
