// On a small screen pictures come first, and where they come from lies in a drawer: a button opens it.

import { h } from '../core/dom.js';

/** @param {() => Element} page */
export function makeDrawer(page) {
  const button = h('button.lens-plain.lens-drawer-button', {
    type: 'button', 'data-choice': 'drawer', 'data-t': 'drawer', 'aria-expanded': false, onclick: () => show(!isOpen()),
  });
  const scrim = h('div.lens-scrim', { 'aria-hidden': 'true', onclick: () => show(false) });
  const isOpen = () => page().classList.contains('lens-drawer-open');

  function show(open) {
    page().classList.toggle('lens-drawer-open', open);
    button.setAttribute('aria-expanded', String(open));
    if (!open) return;
    const first = page().querySelector('.lens-side input, .lens-side button');
    if (first instanceof HTMLElement) first.focus({ preventScroll: true });
  }

  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !isOpen() || event.defaultPrevented) return;
    event.preventDefault();
    show(false);
    button.focus();
  });
  return { button, scrim, close: () => { if (isOpen()) show(false); } };
}
