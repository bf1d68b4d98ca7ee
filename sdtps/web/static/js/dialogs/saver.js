// Files that arrive inside answers, and a view's own figure: choose a format, save it.

/** @import { Lens } from '../core/types.js' */
import { unpack } from '../core/bytes.js';
import { h } from '../core/dom.js';
import { makeWork } from '../core/work.js';

const KEEP_MILLISECONDS = 10000; // a browser may still be reading it

/** @param {{ name: string, type: string, data: string }} file */
export function saveFile({ name, type, data }) {
  const link = h('a', { href: URL.createObjectURL(new Blob([unpack(data, Uint8Array)], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEEP_MILLISECONDS);
}

/**
 * How the page looks now, for a figure that should look alike.
 * @param {Lens} lens
 */
export function figureLook({ store: { state } }) {
  const { colormap, over, opacity, scale, dropped } = state.display;
  return { colormap, over, opacity, scale, dropped, language: state.language };
}

/**
 * @param {Lens} lens
 * @param {string} task
 * @param {() => object} request the task's fields
 */
export function makeFigureSaver(lens, task, request) {
  const { i18n, config } = lens;
  const kind = h('select', { 'data-t-aria': 'export.format' }, ...config.export.formats.map((f) => h('option', { value: f }, f.toUpperCase())));
  const message = h('span.lens-hint');
  const work = makeWork(lens);
  const button = h('button.lens-button', {
    type: 'button', 'data-t': 'export.save', 'data-save': task,
    onclick: async () => {
      button.disabled = true;
      message.textContent = '';
      const fields = { ...request(), look: figureLook(lens), format: kind.value, dpi: config.export.dpi };
      const answer = await work.run(i18n.t('export.drawing'), task, fields);
      button.disabled = false;
      const note = answer.error || answer.result?.notes[0];
      message.textContent = note ? i18n.sentence(note) : '';
      if (answer.result) saveFile(answer.result.file);
    },
  });
  return h('span.lens-figure-saver', {}, kind, button, work.node, message);
}
