// The line to the server: what is sent, what a refusal says, and the queue's stream.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRoutes, makeServer, messagesOf } from '../../../sdtps/web/static/js/core/server.js';

const PAGE = {
  root: 'http://inside:7860/lens', api_prefix: '/gradio_api',
  components: [{ id: 3, props: {} }, { id: 7, props: { elem_id: 'lens' } }],
  dependencies: [{ id: 0, targets: [[3, 'analyse']] }, { id: 5, targets: [[7, 'analyse']] }],
};
const json = (body, status = 200) => new Response(JSON.stringify(body), { status });

// A server whose answers are given, and the calls it got.
function line(...answers) {
  const calls = [];
  const server = makeServer(findRoutes(PAGE, 'https://outside.example/lens/?a=1'), async (address, options = {}) => {
    calls.push({ address, ...options });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { server, calls };
}

// An event stream in pieces that do not respect the borders of messages.
function stream(...messages) {
  const bytes = new TextEncoder().encode(messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join(''));
  return new ReadableStream({
    start(controller) {
      for (let i = 0; i < bytes.length; i += 7) controller.enqueue(bytes.slice(i, i + 7));
      controller.close();
    },
  });
}

test('calls go to the component under the host that the reader sees', async () => {
  const { server, calls } = line(json({ fine: true }));
  assert.deepEqual(await server.ask('why.patch', { patch: 3 }), { fine: true });
  assert.equal(calls[0].address, '/lens/gradio_api/component_server/');
  const { session_hash: session, ...body } = JSON.parse(calls[0].body);
  assert.deepEqual(body, { data: { patch: 3, task: 'why.patch' }, fn_name: 'ask', component_id: 7 });
  assert.match(session, /^\w{6,}$/);
});

test('files go as a form', async () => {
  const { server, calls } = line(json({}));
  await server.stage(new Blob(['x']), 'nir');
  assert.deepEqual([...calls[0].body.keys()], ['slot', 'file', 'component_id', 'fn_name', 'session_hash']);
  assert.equal(calls[0].body.get('slot'), 'nir');
  assert.equal(calls[0].headers, undefined, 'the browser names the border itself');
});

test('a refusal is an answer with a sentence', async () => {
  const said = { code: 'server.rate', values: { seconds: 3 }, text: 'wait' };
  const { server } = line(json({ error: said }, 429), json({ detail: 'Queue is full.' }, 503), new Response('<html>', { status: 413 }),
    new Response('', { status: 401 }), new Response('', { status: 500 }), new Response('', { status: 502 }), new TypeError('gone'));
  const codes = [];
  for (let i = 0; i < 7; i += 1) codes.push((await server.decide({})).error.code);
  assert.deepEqual(codes, ['server.rate', 'server.busy', 'server.busy', 'server.signed_out', 'server.failed',
    'server.unreachable', 'server.unreachable']);
});

test('an analysis waits in the queue for its own answer', async () => {
  const other = { msg: 'process_completed', event_id: 'other', success: true, output: { data: ['{"key": "wrong"}'] } };
  const mine = { msg: 'process_completed', event_id: 'mine', success: true, output: { data: [JSON.stringify({ key: 'k', text: '图' })] } };
  const { server, calls } = line(json({ event_id: 'mine' }), new Response(stream({ msg: 'estimation', event_id: 'mine' }, other, mine)));
  assert.deepEqual(await server.analyse({ fit: 'stretch' }), { key: 'k', text: '图' });
  const body = JSON.parse(calls[0].body);
  assert.deepEqual([body.fn_index, body.trigger_id, body.event_data], [5, 7, { id: 1, request: { fit: 'stretch' } }]);
  assert.equal(calls[1].address, `/lens/gradio_api/queue/data?session_hash=${body.session_hash}`);
});

test('a queue that refuses, fails, ends early or breaks says so', async () => {
  const failed = { msg: 'process_completed', event_id: 'e', success: false, output: {} };
  const joined = () => json({ event_id: 'e' });
  const { server } = line(json({ error: { code: 'server.rate' } }, 429), joined(), new Response(stream(failed)), joined(), new Response(stream()),
    joined(), new TypeError('gone'), joined(), new Response('', { status: 401 }));
  const codes = [];
  for (let i = 0; i < 5; i += 1) codes.push((await server.analyse({})).error.code);
  assert.deepEqual(codes, ['server.rate', 'server.busy', 'server.busy', 'server.unreachable', 'server.signed_out']);
});

test('a stream that breaks off is a server that did not answer', async () => {
  const broken = new ReadableStream({ pull(controller) { controller.error(new TypeError('line cut')); } });
  const { server } = line(json({ event_id: 'e' }), new Response(broken));
  assert.equal((await server.analyse({})).error.code, 'server.unreachable');
  await new Promise((resolve) => { setImmediate(resolve); }); // a rejection that nobody heard would fail the test
});

test('messages are whole whatever pieces they came in', async () => {
  const found = [];
  for await (const message of messagesOf(stream({ a: 1 }, { b: '漢字' }))) found.push(message);
  assert.deepEqual(found, [{ a: 1 }, { b: '漢字' }]);
});
