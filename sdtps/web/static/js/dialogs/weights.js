// About the weights: what the file holds, what was assumed, what is not in it; and, where allowed, another file.

/** @import { Lens } from '../core/types.js' */
import { closeButton, h } from '../core/dom.js';
import { fillTemplate } from '../core/i18n.js';
import { currentModel } from '../core/models.js';
import { makeWork } from '../core/work.js';
import { reportContent } from './weights_report.js';

const MISMATCH = 'weights.mismatch';
const SENDING = 'upload.busy';

function tooBig(file, limit) {
  const values = { name: file.name, megabytes: file.size / 2 ** 20, limit: limit / 2 ** 20 };
  return { code: 'weights.too_big', values, text: fillTemplate('{name} holds {megabytes:.0f} MB; the limit is {limit:.0f} MB.', values) };
}

// The file travels by the percentage; then the server reads it, which cannot be stopped.
async function upload({ i18n, server }, work, file, force) {
  const stop = new AbortController();
  work.begin(i18n.t(SENDING), () => stop.abort());
  const onProgress = (done, total) => {
    work.at(done, total);
    if (done === total) work.say(i18n.t('upload.reading'));
  };
  const answer = await server.uploadWeights(file, force, { onProgress, signal: stop.signal });
  work.end(answer.cancelled ? i18n.t('work.stopped') : '');
  return answer;
}

/** @param {Lens} lens */
export function makeWeightsDialog(lens) {
  const { config, i18n, server, store, session } = lens;
  const { state } = store;
  const title = h('h2');
  const content = h('div.lens-report');
  const picker = h('input', {
    type: 'file', accept: '.safetensors,.pth,.pt,.bin', hidden: true, 'data-upload': 'weights', 'data-t-aria': 'upload.choose',
  });
  const choose = h('button.lens-button', { type: 'button', 'data-t': 'upload.choose', onclick: () => picker.click() });
  const anyway = h('button.lens-button', { type: 'button', 'data-t': 'upload.force', hidden: true, onclick: () => send('yes') });
  const status = h('p.lens-report-status');
  const work = makeWork(lens, { 'data-upload': 'cancel' });
  const uploading = h('section.lens-upload', { hidden: !config.upload_weights.allowed },
    h('h3', { 'data-t': 'upload.title' }), h('p', { 'data-t': 'upload.text' }),
    h('div.lens-row-buttons', {}, choose, anyway), picker);
  const node = h('dialog.lens-dialog.lens-weights-dialog', { 'data-dialog': 'weights' },
    h('header', {}, title, closeButton(() => node.close())), content, uploading, work.node, status);
  let file = /** @type {File | null} */ (null);
  let said = null;

  function say(note) {
    said = note;
    status.textContent = note ? i18n.sentence(note) : '';
    lens.notice.say(status.textContent || '');
    status.classList.toggle('lens-bad', Boolean(note));
    anyway.hidden = !(note && note.code === MISMATCH);
    if (note && node.open) status.scrollIntoView({ block: 'nearest' });
  }

  function busy(yes) {
    for (const button of /** @type {any} */ (node.querySelectorAll('.lens-button:not([data-upload=cancel])'))) button.disabled = yes;
    node.setAttribute('aria-busy', String(yes));
  }

  // One request to the server that answers with a model; the page then shows it.
  async function take(request) {
    say(null);
    busy(true);
    const answer = await request();
    busy(false);
    say(answer.error || null);
    if (answer.model) session.useModel(answer.model);
  }

  async function send(force) {
    const { max_bytes: limit } = config.upload_weights;
    const chosen = file;
    if (!chosen) return;
    if (chosen.size > limit) say(tooBig(chosen, limit));
    else await take(() => upload(lens, work, chosen, force));
  }

  function refresh() {
    const model = currentModel(state);
    title.textContent = model.weights.name;
    content.replaceChildren(...reportContent(model, i18n, {
      useSettings: (settings) => session.changeSettings(settings),
      turn: () => take(() => server.ask('weights.turn', { id: model.id })),
    }));
    i18n.apply(node);
    say(said);
  }

  /** @param {string} [part] */
  function open(part) {
    say(null);
    refresh();
    node.showModal();
    if (part === 'upload') choose.focus();
  }

  node.addEventListener('click', (event) => { if (event.target === node) node.close(); });
  picker.addEventListener('change', () => {
    [file] = picker.files || [];
    picker.value = '';
    if (file) send('no');
  });
  store.subscribe(['weights', 'models', 'language'], refresh);
  return { node, open };
}
