// Speaks HTTP to the server: small calls, files, and analyses through its queue. An answer always comes: when the
// server refuses or is gone, it is { error } with a sentence to show.

/** @import { Answer, Note, Server } from './types.js' */

const SIGNED_OUT = { code: 'server.signed_out', values: {}, text: 'You are signed out; reload the page and sign in.' };
const BUSY = { code: 'server.busy', values: {}, text: 'The server is busy; try again in a moment.' };
const COMPONENT = 'component_server/';
const UNREACHABLE = {
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
  return { address: `${path}${page.api_prefix || ''}`, component: id, event: event.id };
}

/** @returns {Promise<{ error: Note, zone: null, expired: string[] }>} */
async function refusal(answer) {
  const { error: said } = answer.status === 401 ? { error: SIGNED_OUT } : await answer.json().catch(() => ({}));
  const error = said && said.code ? said : answer.status === 503 ? BUSY : UNREACHABLE; // a proxy in between may say less
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
 * @param {{ address: string, component: number, event: number }} routes
 * @param {typeof globalThis.fetch} fetch
 * @returns {Server}
 */
export function makeServer({ address, component, event }, fetch) {
  const session = Math.random().toString(36).slice(2);
  const headers = { 'Content-Type': 'application/json' };
  let asked = 0;

  /** @returns {Promise<Answer>} */
  async function post(path, body) {
    const form = body instanceof FormData;
    try {
      const answer = await fetch(`${address}/${path}`, form ? { method: 'POST', body }
        : { method: 'POST', body: JSON.stringify(body), headers });
      return await (answer.ok ? answer.json() : refusal(answer));
    } catch {
      return { error: UNREACHABLE };
    }
  }

  // Gradio's protocol of component functions: fields beside the name, or a form when there is a file.
  const call = (name) => (data) => post(COMPONENT, { data, fn_name: name, component_id: component, session_hash: session });
  const askTask = call('ask');

  function send(name, fields) {
    const form = new FormData();
    const all = { ...fields, component_id: String(component), fn_name: name, session_hash: session };
    for (const [key, value] of Object.entries(all)) form.append(key, value);
    return post(COMPONENT, form);
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

  async function analyse(request) {
    asked += 1;
    const joined = await post('queue/join', {
      data: [], fn_index: event, trigger_id: component, session_hash: session, event_data: { id: asked, request },
    });
    return joined.error ? joined : finished(joined.event_id).catch(() => ({ error: UNREACHABLE }));
  }

  return {
    analyse,
    decide: call('decide'),
    ask: (task, fields) => askTask({ ...fields, task }),
    stage: (file, slot) => send('stage', { slot, file }),
    uploadWeights: (file, force) => send('upload_weights', { force, file }),
  };
}
