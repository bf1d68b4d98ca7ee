// Long work looks the same everywhere: what is done, a bar, its percentage, and a button that stops it.

/** @import { Answer, Lens } from './types.js' */
import { h, setText } from './dom.js';
import { runJob } from './jobs.js';

/** In the place of what is still being computed: no tab is ever empty. */
export const computing = () => h('p.lens-hint.lens-computing', { 'data-t': 'work.computing' });

/**
 * @param {Lens} lens
 * @param {Record<string, string>} [button] attributes of the button that stops it
 */
export function makeWork({ i18n, notice, server }, button = {}) {
  const label = h('span');
  const bar = h('progress', { max: 1 });
  const percent = h('span.lens-work-percent');
  const stop = h('button.lens-button', { type: 'button', 'data-t': 'work.cancel', ...button, onclick: () => cancel() });
  const node = h('div.lens-work', { hidden: true }, label, bar, percent, stop);
  let cancel = () => {};

  /**
   * @param {string} text what is being done
   * @param {() => void} onCancel
   */
  function begin(text, onCancel) {
    cancel = onCancel;
    setText(label, text);
    bar.setAttribute('aria-label', text);
    bar.removeAttribute('value'); // how far it is, nobody knows yet
    setText(percent, '');
    setText(stop, i18n.t('work.cancel'));
    node.hidden = false;
    notice.say(text);
  }

  /**
   * @param {number} done
   * @param {number} total
   */
  function at(done, total) {
    if (!total) return;
    bar.value = done / total;
    setText(percent, i18n.t('work.percent', { percent: Math.round((100 * done) / total) }));
  }

  /** @param {string} [text] for those who do not see it end */
  function end(text = '') {
    node.hidden = true;
    notice.say(text);
  }

  /**
   * A job of the server from its start to its end.
   * @param {string} text
   * @param {string} task
   * @param {object} request
   * @returns {Promise<Answer>} { result }, { error } or { cancelled }
   */
  async function run(text, task, request) {
    const job = runJob(server, task, request, at);
    begin(text, job.cancel);
    const answer = await job.finished;
    end(answer.cancelled ? i18n.t('work.stopped') : answer.error ? i18n.sentence(answer.error) : i18n.t('work.done'));
    return answer;
  }

  return { node, begin, at, end, run, say: (/** @type {string} */ text) => setText(label, text) };
}
