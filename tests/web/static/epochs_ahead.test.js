// Epochs that are asked for ahead: the nearest first, at the settings as they are, and forgotten when those change.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeEpochsAhead, nearest } from '../../../sdtps/web/static/js/core/epochs_ahead.js';

const EPOCHS = [0, 5, 10, 15];
const at = (epoch) => ({ run: 1, epoch, probe: 0, epochs: EPOCHS });

// Answers when the test says so.
function pupil() {
  const asked = [];
  let settings = { beta: 0.25 };
  const call = (request) => new Promise((resolve) => { asked.push({ request, answer: (extra = {}) => resolve({ epoch: request.epoch, ...extra }) }); });
  const request = ({ run, epoch, probe }) => ({ run, epoch, probe, photos: false, settings });
  return { asked, move: (beta) => { settings = { beta }; }, ahead: makeEpochsAhead(call, request) };
}

async function until(condition) {
  while (!condition()) await new Promise((resolve) => { setTimeout(resolve, 5); });
}

test('the nearest epochs come first', () => {
  assert.deepEqual(nearest(EPOCHS, 10), [5, 15, 0]);
  assert.deepEqual(nearest(EPOCHS, 0), [5, 10, 15]);
  assert.equal(nearest(Array.from({ length: 400 }, (_, i) => i), 200).length, 24);
});

test('what was asked ahead is found, at the settings it was asked with alone', async () => {
  const { ahead, asked, move } = pupil();
  ahead.from(at(10));
  await until(() => asked.length === 1);
  assert.equal(asked[0].request.epoch, 5);
  asked[0].answer();
  await until(() => asked.length === 2);
  assert.deepEqual(ahead.find(at(5)), { epoch: 5 });
  assert.equal(ahead.find(at(15)), undefined);
  move(0.5);
  assert.equal(ahead.find(at(5)), undefined);
});

test('a reader who moved on ends it, and one who left forgets everything', async () => {
  const { ahead, asked } = pupil();
  ahead.from(at(10));
  await until(() => asked.length === 1);
  ahead.from(at(0));
  asked[0].answer();
  await until(() => asked.length === 2);
  assert.equal(asked[1].request.epoch, 10); // 5 is here already, and 15 waits until the nearer one has come
  ahead.from(null);
  asked[1].answer();
  await until(() => ahead.find(at(5)) === undefined);
  assert.equal(ahead.find(at(10)), undefined);
});

test('an error is not kept', async () => {
  const { ahead, asked } = pupil();
  ahead.from(at(10));
  await until(() => asked.length === 1);
  asked[0].answer({ error: { code: 'x' } });
  await new Promise((resolve) => { setTimeout(resolve, 20); });
  assert.equal(ahead.find(at(5)), undefined);
  assert.equal(asked.length, 1);
});
