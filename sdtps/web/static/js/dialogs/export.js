// Taking results home: figure, bundle, supplement; and opening a bundle again.

/** @import { Lens } from '../core/types.js' */
import { closeButton, h, uniqueId } from '../core/dom.js';
import { askJob } from '../core/jobs.js';
import { afterwards, latestWins } from '../core/requester.js';
import { makeWork } from '../core/work.js';
import { makeFigureForm } from './figure_form.js';
import { saveFile } from './saver.js';

const PREVIEW_DPI = 110;
const PREVIEW_DELAY = 250;

const action = (name, onclick) => h('button.lens-button', { type: 'button', 'data-t': `export.${name}`, 'data-do': name, onclick });
const part = (name, ...content) => h('section', {},
  h('h3', { 'data-t': `export.${name}.title` }), h('p', { 'data-t': `export.${name}.text` }), ...content);

// The figure as it will be, beside its form.
function makePreview({ i18n, server }, request, say) {
  const picture = h('img', { alt: '' });
  const wait = h('p.lens-hint', { 'data-t': 'export.drawing' });
  const size = h('figcaption');
  const draw = latestWins(
    () => askJob(server, 'export.figure', { ...request(), format: 'png', dpi: PREVIEW_DPI }),
    (answer) => {
      wait.hidden = true;
      if (answer.error) { say(answer.error); return; }
      say(answer.notes[0] || null);
      picture.src = `data:${answer.file.type};base64,${answer.file.data}`;
      picture.dataset.for = JSON.stringify(request().look);
      size.textContent = i18n.t('export.size', { width: answer.inches[0].toFixed(2), height: answer.inches[1].toFixed(2) });
    },
  );
  return { node: h('figure', {}, wait, picture, size), draw: () => draw(null), wait };
}

// What the author of a supplementary page says above its pictures.
function makeWords() {
  const title = h('input', { type: 'text', id: uniqueId('title'), maxLength: 200, 'data-export': 'title' });
  const introduction = h('textarea', { id: uniqueId('introduction'), rows: 3, maxLength: 6000, 'data-export': 'introduction' });
  const row = (key, field) => h('div.lens-field', {}, h('label', { htmlFor: field.id, 'data-t': key }), field);
  return {
    nodes: [row('export.title', title), row('export.introduction', introduction)],
    given: () => ({ title: title.value, introduction: introduction.value }),
  };
}

/** @param {Lens} lens */
export function makeExport(lens) {
  const { i18n, store, session } = lens;
  const { state } = store;
  const message = h('p.lens-export-message');
  const work = makeWork(lens, { 'data-do': 'stop' });
  const say = (note) => {
    message.textContent = note ? i18n.sentence(note) : '';
    lens.notice.say(message.textContent || '');
  };
  const request = () => ({ key: state.key, settings: state.settings, look: form.look() });
  const preview = makePreview(lens, request, say);
  const redraw = afterwards(() => { if (dialog.open && state.key && form.look().columns.length) preview.draw(); }, PREVIEW_DELAY);
  const form = makeFigureForm(lens, redraw);
  const file = h('input', {
    type: 'file', accept: '.zip,application/zip', hidden: true, 'data-t-aria': 'export.open', 'data-export': 'bundle', onchange: open,
  });
  const buttons = {
    figure: action('figure', () => download('export.figure', form.file())),
    bundle: action('bundle', () => download('export.bundle', {})),
    supplement: action('supplement', () => download('export.supplement', words.given())),
    open: action('open', () => file.click()),
  };
  const words = makeWords();
  const dialog = h('dialog.lens-dialog.lens-export', {},
    h('header', {}, h('h2', { 'data-t': 'export' }), closeButton(() => dialog.close())),
    h('div.lens-export-body', {},
      h('div', {}, part('figure', ...form.nodes, buttons.figure), part('bundle', buttons.bundle, file, buttons.open),
        part('supplement', ...words.nodes, buttons.supplement), work.node, message),
      preview.node));
  const button = h('button.lens-plain', { type: 'button', 'data-t': 'export', 'data-choice': 'export', onclick: show });

  async function download(task, more) {
    busy(true);
    const answer = await work.run(i18n.t('work.file'), task, { ...request(), ...more });
    busy(false);
    if (answer.cancelled) message.textContent = i18n.t('work.stopped');
    else say(answer.error || null);
    if (answer.result) saveFile(answer.result.file);
  }

  async function open() {
    const [chosen] = file.files || [];
    if (!chosen) return;
    busy(true);
    const answer = await session.openBundle(chosen);
    file.value = '';
    busy(false);
    say(answer.error || null);
    if (!answer.error) dialog.close();
  }

  function busy(yes) {
    dialog.setAttribute('aria-busy', String(yes));
    for (const name of ['figure', 'bundle', 'supplement']) buttons[name].disabled = yes || !state.key;
    buttons.open.disabled = yes;
  }

  function show() {
    busy(false);
    say(null);
    preview.wait.hidden = !state.key;
    dialog.showModal();
    redraw();
  }

  return { button, dialog };
}
