// Why this patch, or where an aggregated token comes from. Lies over the side bar.

/** @import { Answer, Lens, Modality } from '../core/types.js' */
import { closeButton, h } from '../core/dom.js';
import { FIRST_VIEW } from '../core/link.js';
import { latestWins } from '../core/requester.js';
import { askAbout } from '../core/questions.js';
import { patchContent } from './why_patch.js';
import { tokenContent } from './why_token.js';

/** @typedef {{ patch: number, modality: Modality, token?: undefined } | { token: number }} Subject */

/**
 * What can be done from here.
 * @typedef {object} WhyActions
 * @property {(patch: number | null, modality?: Modality) => void} pin
 * @property {(token: number | null) => void} chooseToken
 */

/**
 * @param {Lens} lens
 * @param {WhyActions} actions
 */
export function makeWhy(lens, actions) {
  const { config, i18n, store } = lens;
  const { state } = store;
  const title = h('h2');
  const body = h('div.lens-why-body');
  const node = h('section.lens-why', { hidden: true, 'data-t-aria': 'why.label' }, h('header', {}, title, closeButton(hide)), body);
  let subject = /** @type {Subject | null} */ (null);
  let answered = /** @type {Answer | null} */ (null);

  const ask = latestWins(
    (/** @type {Subject} */ asked) => askAbout(lens, asked.token === undefined ? 'why.patch' : 'why.token', asked),
    (answer, asked) => {
      if (JSON.stringify(asked) !== JSON.stringify(subject)) return;
      answered = answer;
      draw();
    },
  );

  /**
   * Without a server, or without weights behind the numbers, there is nobody to ask.
   * @param {Subject} next
   */
  function open(next) {
    if ((config.sealed && !(config.explains && next.token === undefined)) || !state.key || state.view !== FIRST_VIEW) return;
    subject = next;
    node.hidden = false;
    const side = /** @type {Element} */ (node.parentNode);
    side.classList.add('lens-covered');
    side.scrollTop = 0;
    refresh();
  }

  function hide() {
    subject = null;
    answered = null;
    node.hidden = true;
    /** @type {Element} */ (node.parentNode).classList.remove('lens-covered');
    delete node.dataset.about;
  }

  function refresh() {
    if (subject && state.key) ask(subject);
  }

  function draw() {
    if (!answered || !subject || !state.analysis) return;
    const content = subject.token === undefined ? patchContent : tokenContent;
    const [heading, nodes] = answered.error ? ['', [h('p.lens-hint', {}, i18n.sentence(answered.error))]]
      : content(answered, state.analysis, lens, { ...actions, hide });
    title.textContent = heading;
    body.replaceChildren(...nodes);
    node.dataset.about = JSON.stringify(subject);
    i18n.apply(node);
  }

  // A patch was pinned or let go: say why it was kept, or close what says so.
  function follow() {
    const { patch, modality, pinned } = state.pointed;
    if (pinned && patch !== null) open({ modality, patch });
    else if (subject && subject.token === undefined) hide();
  }

  /** @param {number | null} token chosen, or none any more */
  function showToken(token) {
    if (token !== null) open({ token });
    else if (subject && subject.token !== undefined) hide();
  }

  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !node.hidden && !document.querySelector('dialog[open]')) hide();
  });
  store.subscribe(['pointed'], follow);
  store.subscribe(['analysis'], refresh);
  store.subscribe(['language'], draw);
  return { node, hide, showToken };
}
