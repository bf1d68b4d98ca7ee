// What happened, said once: a line at the foot of the page for a moment, and the page's one live region for those who
// do not see it.

import { h } from './dom.js';

const SHOWN = 5000;

export function makeNotice() {
  const live = h('div.lens-live', { role: 'status', 'aria-live': 'polite' });
  const line = h('div.lens-notice', { 'aria-hidden': true, hidden: true });
  const node = h('div', {}, live, line);
  let timer;

  /** @param {string} text for screen readers only */
  function say(text) {
    if (text && live.textContent !== text) live.textContent = text;
  }

  /** @param {string} text for everybody */
  function tell(text) {
    say(text);
    line.textContent = text;
    line.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(() => { line.hidden = true; }, SHOWN);
  }

  return { node, say, tell };
}
