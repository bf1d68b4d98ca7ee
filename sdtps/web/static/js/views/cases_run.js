// Looks a gallery over: which one, the work with its progress, and whether its numbers are still those of the sliders.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';
import { aboutShown } from '../core/questions.js';
import { makeWork } from '../core/work.js';

/**
 * @param {Lens} lens
 * @param {(result: Record<string, any>) => void} onFound
 */
export function makeSurveyor(lens, onFound) {
  const { i18n, server, session, store } = lens;
  const { state } = store;
  const gallery = h('select', { 'data-cases': 'gallery', 'data-t-aria': 'matters.gallery' });
  const start = h('button.lens-button.lens-primary', { type: 'button', 'data-t': 'cases.run', 'data-cases': 'run', onclick: run });
  const work = makeWork(lens, { 'data-cases': 'cancel' });
  const status = h('span.lens-status');
  const stale = h('span.lens-badge.lens-warn', { 'data-t': 'matters.stale', hidden: true });
  let galleries = /** @type {any[]} */ ([]);
  let running = false;
  let askedFor = null;
  let measured = null; // weights and settings of the numbers that are shown

  // Tau is no part of it: it moves neither the kept set nor the feature.
  const about = () => JSON.stringify([state.weights, { ...state.analysis?.settings, tau: undefined }]);
  const markStale = () => { stale.hidden = !measured || !state.analysis || about() === measured; };

  /** @param {boolean} seen whether anybody looks at the galleries */
  async function look(seen) {
    markStale();
    if (!seen || !state.key || askedFor === state.key) return;
    askedFor = state.key;
    const answer = await server.ask('rank.galleries', { key: state.key });
    if (answer.expired && answer.expired.length) { session.analyse(); return; }
    const kept = Number(gallery.value) || 0;
    galleries = answer.galleries || [];
    gallery.replaceChildren(...galleries.map((g, i) => h('option', { value: i, selected: i === kept }, `${g.name} · ${g.split} (${g.count})`)));
    start.disabled = !galleries.length;
  }

  async function run() {
    if (!state.analysis || running) return;
    const number = Number(gallery.value) || 0;
    const { split } = galleries[number];
    const mine = about();
    busy(true);
    const { cancelled, error, result } = await work.run(i18n.t('matters.progress'), 'cases.run', aboutShown(lens, { gallery: number }));
    busy(false);
    if (cancelled) status.textContent = i18n.t('matters.cancelled');
    if (error) status.textContent = i18n.sentence(error);
    if (!result) return;
    measured = mine;
    markStale();
    onFound(result);
    store.update({ survey: { key: result.key, root: number, split } }); // the data folders are the first galleries
  }

  function busy(yes) {
    running = yes;
    start.disabled = yes;
    status.textContent = '';
  }

  return { nodes: [h('label', {}, h('span.lens-key', { 'data-t': 'matters.gallery' }), gallery), start, work.node, status, stale], look };
}
