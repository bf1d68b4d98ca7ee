// Speaks HTTP to the server: small calls, files, and analyses through its queue. An answer always comes: when the
// server refuses or is gone, it is { error } with a sentence to show.

/** @import { Answer, Note, Server } from './types.js' */

const GATEWAY = [502, 504]; // a proxy answers, and nobody behind it
const CROWDED = [413, 429, 503]; // a proxy in between may say less than our server
const FAILED = { code: 'server.failed', values: {}, text: 'The server could not finish this; try again.' };
const SIGNED_OUT = { code: 'server.signed_out', values: {}, text: 'You are signed out; reload the page and sign in.' };
const BUSY = { code: 'server.busy', values: {}, text: 'The server is busy; try again in a moment.' };
const COMPONENT = 'component_server/';
export const UNREACHABLE = {
  code: 'server.unreachable', values: {}, text: 'The server did not answer; check that it is running and try again.',
};

/**
 * Where the calls go, from Gradio's description of the page.
 * @param {Record<string, any>} page
 * @param {string} href of the document: behind a proxy, the server may know itself by another host
 */
export function findRoutes(page, href) {
  const { id } = page.components.find((component) => component.props.elem_id === 'lens');
  const event = page.dependencies.find(({ targets }) => targets.some(([of, name]) => of === id && name === 'analyse'));
  const path = new URL(page.root || '', href).pathname.replace(/\/$/, '');
  return { address: `${path}${page.api_prefix || ''}`, health: `${path}/health`, component: id, event: event.id };
}

/** @returns {Promise<{ error: Note, zone: null, expired: string[] }>} */
async function refusal(answer) {
  const { error: said } = answer.status === 401 ? { error: SIGNED_OUT } : await answer.json().catch(() => ({}));
  const plain = CROWDED.includes(answer.status) ? BUSY : GATEWAY.includes(answer.status) ? UNREACHABLE : FAILED;
  const error = said && said.code ? said : plain;
  return { error, zone: null, expired: [] };
}

/**
 * The messages of an event stream, one after the other.
 * @param {ReadableStream<Uint8Array>} body
 */
export async function* messagesOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const pieces = (text + decoder.decode(value, { stream: true })).split('\n\n');
      text = pieces.pop() || '';
      for (const piece of pieces) if (piece.startsWith('data:')) yield JSON.parse(piece.slice(5));
    }
  } finally {
    reader.cancel().catch(() => {}); // a line that broke has nothing left to cancel
  }
}

/**
 * @param {{ address: string, component: number, event: number, health?: string }} routes
 * @param {typeof globalThis.fetch} fetch
 * @param {typeof import('./upload.js').sendForm | null} [sendForm] says how far a large file is; fetch cannot
 * @returns {Server}
 */
export function makeServer({ address, component, event, health = '' }, fetch, sendForm = null) {
  const session = Math.random().toString(36).slice(2);
  const headers = { 'Content-Type': 'application/json' };
  let asked = 0;
  let last = Promise.resolve(/** @type {any} */ (null));

  /** @returns {Promise<Answer>} */
  async function post(path, body, watch) {
    const form = body instanceof FormData;
    try {
      const answer = await (watch && sendForm ? sendForm(`${address}/${path}`, body, watch)
        : fetch(`${address}/${path}`, form ? { method: 'POST', body } : { method: 'POST', body: JSON.stringify(body), headers }));
      return await (answer.ok ? answer.json() : refusal(answer));
    } catch (failure) {
      return /** @type {any} */ (failure)?.name === 'AbortError' ? { cancelled: true } : { error: UNREACHABLE };
    }
  }

  // Gradio's protocol of component functions: fields beside the name, or a form when there is a file.
  const call = (name) => (data) => post(COMPONENT, { data, fn_name: name, component_id: component, session_hash: session });
  const askTask = call('ask');

  function send(name, fields, watch) {
    const form = new FormData();
    const all = { ...fields, component_id: String(component), fn_name: name, session_hash: session };
    for (const [key, value] of Object.entries(all)) form.append(key, value);
    return post(COMPONENT, form, watch);
  }

  async function finished(id) {
    const answer = await fetch(`${address}/queue/data?session_hash=${session}`);
    if (!answer.ok || !answer.body) return refusal(answer);
    for await (const message of messagesOf(answer.body)) {
      if (message.event_id !== id || message.msg !== 'process_completed') continue;
      return message.success ? JSON.parse(message.output.data[0]) : { error: BUSY };
    }
    return { error: BUSY };
  }

  async function analyseNow(request) {
    asked += 1;
    const joined = await post('queue/join', {
      data: [], fn_index: event, trigger_id: component, session_hash: session, event_data: { id: asked, request },
    });
    return joined.error ? joined : finished(joined.event_id).catch(() => ({ error: UNREACHABLE }));
  }

  // Two at once would listen to one stream, and take each other's answers from it.
  function analyse(request) {
    last = last.then(() => analyseNow(request));
    return last;
  }

  async function ping() {
    try {
      return (await fetch(health, { cache: 'no-store' })).ok;
    } catch {
      return false;
    }
  }

  return {
    analyse,
    ping,
    decide: call('decide'),
    ask: (task, fields) => askTask({ ...fields, task }),
    stage: (file, slot) => send('stage', { slot, file }),
    uploadWeights: (file, force, watch) => send('upload_weights', { force, file }, watch),
  };
}
