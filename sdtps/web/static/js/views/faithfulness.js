// Does the selection hold on to what matters, and does it beat chance? Measured on request, with progress and cancel.

/** @import { Lens } from '../core/types.js' */
import { h, segmented } from '../core/dom.js';
import { aboutShown } from '../core/questions.js';
import { makeWork } from '../core/work.js';
import { hasPerson, reportContent } from './faithfulness_report.js';

/** @param {Lens} lens */
export function makeFaithfulnessView(lens) {
  const { i18n, session, store } = lens;
  const { state } = store;
  const start = h('button.lens-button.lens-primary', { type: 'button', 'data-t': 'faith.run', 'data-faith': 'run', onclick: run });
  const work = makeWork(lens, { 'data-faith': 'cancel' });
  const stale = h('span.lens-badge.lens-warn', { 'data-t': 'faith.stale', 'data-faith': 'stale', hidden: true });
  const status = h('span.lens-status');
  let target = 'whole';
  const targets = segmented('faith.target', ['whole', 'person'], target, (value) => { target = value; draw(); });
  const body = h('div.lens-faith-body');
  const node = h('div.lens-faith', {}, h('div.lens-toolbar', {}, start, work.node, status, stale, targets.node), body);
  let found = null;
  let running = false;

  // Tau is no part of it: it moves neither the kept set nor the feature.
  const about = () => JSON.stringify([state.key, { ...state.analysis?.settings, tau: undefined }]);

  async function run() {
    if (!state.analysis || !state.key || running) return;
    const mine = about();
    busy(true);
    const answer = await work.run(i18n.t('faith.progress'), 'why.faithfulness', aboutShown(lens));
    busy(false);
    if (answer.cancelled) { status.textContent = i18n.t('faith.cancelled'); return; }
    if (answer.expired && answer.expired.length) session.analyse();
    if (answer.error) { status.textContent = i18n.sentence(answer.error); return; }
    found = { ...answer.result, about: mine };
    draw();
  }

  function busy(yes) {
    running = yes;
    start.disabled = yes;
    status.textContent = '';
  }

  function markStale() {
    stale.hidden = !found || !state.analysis || about() === found.about;
    body.classList.toggle('lens-stale', !stale.hidden);
  }

  function draw() {
    const person = found !== null && hasPerson(found);
    targets.node.hidden = !person;
    if (!found) {
      body.replaceChildren(h('div.lens-invite', {}, h('h2', { 'data-t': 'faith.empty.title' }), h('p', { 'data-t': 'faith.empty.text' })));
      i18n.apply(body);
      return;
    }
    if (!person) { target = 'whole'; targets.select(target); }
    body.replaceChildren(...reportContent(found, target, i18n));
    i18n.apply(body);
    body.dataset.report = found.about;
    markStale();
  }

  return { id: 'faithfulness', node, update: () => { if (!found && !body.firstChild) draw(); markStale(); }, retranslate: draw };
}
