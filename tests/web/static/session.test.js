// What the reader does, without a browser: commands change the store and ask the server, answers come back.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeSession } from '../../../sdtps/web/static/js/core/session.js';
import { sourcesOf } from '../../../sdtps/web/static/js/core/pictures.js';
import { makeStore } from '../../../sdtps/web/static/js/core/store.js';
import { CONFIG, move, payload } from './helpers.js';

const settled = () => new Promise((resolve) => { setImmediate(resolve); });

function opened(server) {
  const store = makeStore({
    settings: { ...CONFIG.defaults }, models: CONFIG.models, weights: 'one', fit: 'stretch', leaveOut: new Set(), example: 'day', record: null,
    sources: sourcesOf({ example: 'day', record: null }), photos: {}, token: null, matrixOpen: false, key: null, analysis: null, busy: false, failures: [],
  });
  const asked = [];
  const noted = Object.fromEntries(Object.entries(server).map(([name, answer]) => [name, async (...request) => { asked.push([name, ...request]); return answer(...request); }]));
  return { store, state: store.state, asked, session: makeSession({ config: { max_bytes: 10, ...CONFIG }, server: noted, store }) };
}

test('an analysis, then a slider move', async () => {
  const { state, session, asked } = opened({ analyse: () => payload(), decide: () => move([9, 8, 7, 6]) });
  session.analyse();
  assert.equal(state.busy, true);
  await settled();
  assert.equal(state.busy, false);
  assert.equal(state.key, 'k');
  session.changeSettings({ beta: 0.3 });
  await settled();
  assert.deepEqual(asked.map(([name]) => name), ['analyse', 'decide']);
  assert.deepEqual(asked[1][1], { key: 'k', settings: { ...CONFIG.defaults, beta: 0.3 }, matrix: false });
  assert.deepEqual([...state.analysis.modalities.rgb.maps.score], [9, 8, 7, 6]);
});

test('a refused image set leaves what was on screen, and the controls say so', async () => {
  const answers = [payload(), { error: { text: 'no' }, zone: 'rgb' }];
  const { state, session } = opened({ analyse: () => answers.shift() });
  session.analyse();
  await settled();
  const { analysis } = state;
  session.useExample('night');
  assert.equal(state.example, 'night');
  await settled();
  assert.equal(state.example, 'day');
  assert.equal(state.analysis, analysis);
  assert.deepEqual(state.failures, [{ zone: 'rgb', note: { text: 'no' } }]);
});

test('settings that moved while the model ran are asked for afterwards', async () => {
  let finish;
  const { session, asked } = opened({ analyse: () => new Promise((resolve) => { finish = resolve; }), decide: () => move([1, 2, 3, 4]) });
  session.analyse();
  await settled();
  session.changeSettings({ beta: 0.1 });
  finish(payload());
  await settled();
  assert.deepEqual(asked.map(([name, request]) => [name, request.settings.beta]), [['analyse', 0.25], ['decide', 0.1]]);
});

test('a set that the server forgot is sent again, with its files', async () => {
  const gone = { error: { text: 'gone' }, expired: ['rgb'] };
  const answers = [payload(), gone, payload()];
  const moves = [gone, move([1, 2, 3, 4])];
  const { state, session, asked } = opened({
    analyse: () => answers.shift(), decide: () => moves.shift(), stage: () => ({ pictures: { rgb: { token: 'fresh', preview: 'p' } } }),
  });
  await session.take({ rgb: { size: 1 } }, () => {});
  await settled();
  session.changeSettings({ beta: 0.3 });
  await settled();
  await settled();
  assert.deepEqual(asked.map(([name]) => name), ['stage', 'analyse', 'decide', 'analyse', 'stage', 'analyse', 'decide']);
  assert.equal(state.sources.rgb.token, 'fresh');
});

test('a file over the limit is not sent; an upload replaces an example as a whole', async () => {
  const { state, session, asked } = opened({ analyse: () => payload(), stage: () => ({ pictures: { nir: { token: 't', preview: 'p' } } }) });
  await session.take({ rgb: { size: 11 }, nir: { size: 1 } }, () => {});
  await settled();
  assert.deepEqual(asked.map(([name]) => name), ['stage', 'analyse']);
  assert.deepEqual(state.failures.map(({ zone, note }) => [zone, note.code]), [['rgb', 'input.too_big']]);
  assert.deepEqual([state.example, state.sources.rgb, state.sources.nir.token], [null, null, 't']);
});

test('weights that are only listed are loaded first, and run what they can', async () => {
  const card = { ...CONFIG.models[1], lacking: { final: { text: 'no' } }, report: {} };
  const { state, session } = opened({ analyse: () => payload(), decide: () => move([1, 2, 3, 4]), ask: () => ({ model: card }) });
  session.chooseModel('two');
  await settled();
  assert.deepEqual([state.weights, state.settings.variant, state.models[1]], ['two', 'paper', card]);
});

test('fewer tokens than the chosen one: the last is shown', async () => {
  const fewer = { ...move([1, 2, 3, 4]), counts: { patches: 4, kept: 2, tokens: 1, draws: 64 } };
  const { state, session, asked } = opened({ analyse: () => payload(), decide: () => fewer });
  session.analyse();
  await settled();
  session.chooseToken(2);
  assert.equal(asked[1][1].matrix, true);
  await settled();
  assert.equal(state.token, 0);
});
