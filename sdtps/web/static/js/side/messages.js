// What went wrong with the pictures, what is worth knowing about them, and what could be done with a wide one.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';

const nameOf = (zone, i18n) => (zone === 'wide' ? i18n.t('wide') : zone.toUpperCase());

/** @param {Lens} lens */
export function makeMessages({ i18n, notice, session, store }) {
  const { state } = store;
  const errors = h('div.lens-errors');
  const notes = h('ul.lens-notes', { 'data-t-aria': 'notes' });
  const split = h('button.lens-button', { type: 'button', 'data-t': 'split.do', 'data-split': '', onclick: () => session.splitWide() });
  const wide = h('span');
  const offer = h('div.lens-offer', { hidden: true }, wide, split);
  let listed = '';

  function tellErrors() {
    const sentences = state.failures.map(({ zone, note }) => [zone ? nameOf(zone, i18n) : '', i18n.sentence(note)]);
    errors.replaceChildren(...sentences.map(([zone, text], i) => h('p', { 'data-error': state.failures[i].zone || 'page' },
      zone ? h('b', {}, zone) : null, ` ${text}`)));
    notice.say(sentences.map((words) => words.join(' ')).join(' '));
  }

  function tellNotes() {
    // The slider itself says what was clamped.
    const list = (state.analysis ? state.analysis.notes.filter((note) => note.code !== 'aggregation.clamped') : []).map(i18n.sentence);
    const told = state.recorded ? [i18n.t('training.watched', { name: state.recorded.name })]
      : (state.told || []).map(({ slot, name, by }) => i18n.t(`told.${by}`, { slot: nameOf(slot, i18n), name }));
    const text = JSON.stringify([told, list]);
    if (text === listed) return;
    listed = text;
    notes.replaceChildren(...[...told, ...list].map((sentence) => h('li', {}, sentence)));
    if (told.length) notice.say(told.join(' '));
  }

  function tellOffer() {
    offer.hidden = !state.wide;
    if (!state.wide) return;
    const [height, width] = state.wide.size;
    wide.textContent = i18n.t('split', { slot: nameOf(state.wide.slot, i18n), width, height });
  }

  store.subscribe(['failures', 'language'], tellErrors);
  store.subscribe(['analysis', 'told', 'recorded', 'language'], tellNotes);
  store.subscribe(['wide', 'language'], tellOffer);
  return [errors, offer, notes];
}
