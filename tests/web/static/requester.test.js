// Slider requests: a few in flight, the newest always sent, an older answer never over a newer one. Time is the test's.
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { afterwards, latestWins, latestWinsInFlight } from '../../../sdtps/web/static/js/core/requester.js';

const clock = { now: 0, timers: new Map(), last: 0 };
const real = { setTimeout, clearTimeout };

// Timers that run only when `pass` says so.
function install() {
  Object.assign(clock, { now: 1000, timers: new Map(), last: 0 });
  performance.now = () => clock.now;
  globalThis.setTimeout = (action, delay) => { clock.last += 1; clock.timers.set(clock.last, { action, at: clock.now + delay }); return clock.last; };
  globalThis.clearTimeout = (id) => clock.timers.delete(id);
}

function pass(milliseconds) {
  const end = clock.now + milliseconds;
  for (;;) {
    const due = [...clock.timers].filter(([, timer]) => timer.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
    if (!due) break;
    clock.timers.delete(due[0]);
    clock.now = due[1].at;
    due[1].action();
  }
  clock.now = end;
}

const settled = async () => { for (let i = 0; i < 8; i += 1) await null; };

// A requester whose answers come when the test says so.
function started(make) {
  const calls = [];
  const shown = [];
  const ask = make((request) => new Promise((resolve) => { calls.push({ request, resolve: () => resolve(request) }); }), (answer) => { shown.push(answer); });
  const drag = (values, pause = 100) => values.forEach((value) => { ask(value); pass(pause); });
  const answer = async (value) => { calls.find((call) => call.request === value).resolve(); await settled(); };
  const first = async (after = 100) => { drag([0], after); await answer(0); assert.deepEqual(shown, [0]); };
  return { drag, answer, first, shown, sent: () => calls.map((call) => call.request) };
}

beforeEach(install);
after(() => Object.assign(globalThis, real));

test('a slow line carries a few requests at once', async () => {
  const line = started(latestWinsInFlight);
  await line.first(500);
  line.drag([1, 2, 3, 4, 5, 6]);
  assert.deepEqual(line.sent(), [0, 1, 2, 3, 4]);
  await line.answer(1);
  assert.deepEqual(line.sent(), [0, 1, 2, 3, 4, 6], 'the newest takes the free place; the fifth was overtaken');
});

test('an older answer never covers a newer one', async () => {
  const line = started(latestWinsInFlight);
  await line.first();
  line.drag([1, 2, 3]);
  await line.answer(2);
  await line.answer(1);
  await line.answer(3);
  assert.deepEqual(line.shown, [0, 2, 3]);
});

test('a near server gets one request at a time', async () => {
  const line = started(latestWinsInFlight);
  await line.first();
  line.drag([1, 2, 3], 10);
  assert.deepEqual(line.sent(), [0, 1]);
  await line.answer(1);
  assert.deepEqual(line.sent(), [0, 1, 3]);
  await line.answer(3);
  assert.deepEqual(line.shown, [0, 1, 3]);
});

test('a busy server is not asked more', async () => {
  const line = started(latestWinsInFlight);
  await line.first();
  line.drag([1], 900);
  await line.answer(1);
  line.drag([2, 3, 4]);
  assert.deepEqual(line.sent(), [0, 1, 2], 'nine times the quickest answer: the server is slow, not the line');
  await line.answer(2);
  assert.deepEqual(line.sent(), [0, 1, 2, 4]);
});

test('one at a time: the newest waits, those between are forgotten', async () => {
  const line = started(latestWins);
  line.drag([1, 2, 3]);
  assert.deepEqual(line.sent(), [1]);
  await line.answer(1);
  assert.deepEqual(line.sent(), [1, 3]);
  await line.answer(3);
  assert.deepEqual(line.shown, [1, 3]);
});

test('afterwards means after the last of a series', () => {
  let times = 0;
  const later = afterwards(() => { times += 1; }, 200);
  later();
  pass(150);
  later();
  pass(150);
  assert.equal(times, 0);
  pass(60);
  assert.equal(times, 1);
});
