// How the same numbers are drawn: colour map, what lies over maps, squares or smooth, scaling, dropped patches.

/** @import { LensStore } from '../core/types.js' */
import { h, segmented, uniqueId } from '../core/dom.js';
import { DISPLAY_CHOICES } from '../core/link.js';

const TYPING = 'input:not([type=range], [type=radio], [type=checkbox]), textarea, select, dialog';

/**
 * A button, and the key P, that show the photographs in place of the maps while they are held.
 * @param {LensStore} store
 */
function makePeek(store) {
  const peek = (peeking) => {
    if (store.state.peeking !== peeking) store.update({ peeking });
    button.setAttribute('aria-pressed', String(peeking));
  };
  const button = h('button.lens-plain.lens-peek', {
    type: 'button', 'data-t': 'peek', 'data-t-title': 'peek.title', 'aria-pressed': false, 'aria-keyshortcuts': 'P',
    onpointerdown: () => peek(true), onpointerup: () => peek(false), onpointerleave: () => peek(false), onblur: () => peek(false),
    onkeydown: (event) => { if (event.key === ' ' || event.key === 'Enter') peek(true); },
    onkeyup: () => peek(false),
  });
  const isPeek = (event) => event.key.toLowerCase() === 'p' && !event.ctrlKey && !event.metaKey && !event.altKey;
  const isTyping = ({ target }) => target instanceof Element && target.closest(TYPING) !== null;
  document.addEventListener('keydown', (event) => { if (isPeek(event) && !isTyping(event)) peek(true); });
  document.addEventListener('keyup', (event) => { if (isPeek(event)) peek(false); });
  window.addEventListener('blur', () => peek(false));
  return button;
}

/** @param {{ store: LensStore }} lens */
export function makeDisplay({ store }) {
  const { display } = store.state;
  const change = (name) => (value) => store.update({ display: { ...store.state.display, [name]: value } });
  const colours = h('select', { id: uniqueId('colormap'), 'data-option': 'colormap', onchange: () => change('colormap')(colours.value) },
    ...DISPLAY_CHOICES.colormap.map((name) => h('option', { value: name, selected: name === display.colormap }, name)));
  const opacity = h('input', {
    type: 'range', id: uniqueId('opacity'), min: 0, max: 1, step: 0.05, 'data-option': 'opacity',
    oninput: () => { fill(); change('opacity')(Number(opacity.value)); },
  });
  const fill = () => opacity.style.setProperty('--filled', `${Number(opacity.value) * 100}%`);
  opacity.value = String(display.opacity);
  fill();
  const field = (name, control) => h('div.lens-field', {},
    control.id ? h('label', { htmlFor: control.id, 'data-t': name }) : h('span', { 'data-t': name }), control);
  const choice = (name) => field(name, segmented(name, DISPLAY_CHOICES[name], display[name], change(name)).node);
  const share = field('opacity', opacity);
  const mixed = h('p.lens-hint.lens-mixed', { 'data-t': 'mixed' });
  const showBlend = () => { share.hidden = mixed.hidden = store.state.display.over !== 'blend'; };
  store.subscribe(['display.over'], showBlend);
  showBlend();
  const node = h('section.lens-display', {}, h('div.lens-display-head', {}, h('h2', { 'data-t': 'display' }), makePeek(store)),
    field('colormap', colours), choice('over'), share, mixed, choice('smooth'), choice('scale'), choice('dropped'));
  return { node };
}
