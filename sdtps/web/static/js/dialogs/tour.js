// The tour: four steps beside what they are about. It greets a first visitor once, and comes again when it is called.

/** @import { Lens } from '../core/types.js' */
import { h, uniqueId, zoomOf } from '../core/dom.js';
import { remember, remembered } from '../core/memory.js';
import { clampTo } from '../core/numbers.js';

const STEPS = [
  { key: 'pictures', at: '.lens-sources' },
  { key: 'flow', at: '.lens-flow' },
  { key: 'settings', at: '.lens-controls' },
  { key: 'patch', at: '.lens-area' },
];
const EDGE = 12;

/**
 * Where a card stands: to the right of its target, else to the left, else below, and always within the window.
 * @param {{ left: number, right: number, top: number, bottom: number }} target
 * @param {{ width: number, height: number }} card
 * @param {{ width: number, height: number }} window_
 * @returns {{ left: number, top: number }}
 */
export function placeBeside(target, card, window_) {
  const within = (value, size, whole) => clampTo([EDGE, Math.max(EDGE, whole - size - EDGE)], value);
  const right = target.right + EDGE;
  const left = target.left - card.width - EDGE;
  const top = within(target.top, card.height, window_.height);
  if (right + card.width + EDGE <= window_.width) return { left: right, top };
  if (left >= EDGE) return { left, top };
  return { left: within(target.left, card.width, window_.width), top: within(target.bottom + EDGE, card.height, window_.height) };
}

/**
 * @param {Lens} lens
 * @param {() => HTMLElement} page
 */
export function makeTour({ config, i18n, store }, page) {
  const [title, text] = [h('h2', { id: uniqueId('tour') }), h('p', { id: uniqueId('tour-text') })];
  const count = h('span.lens-tour-count');
  const button = (name, onclick, kind = 'lens-button') => h(`button.${kind}`, { type: 'button', 'data-tour': name, onclick });
  const back = button('back', () => show(at - 1));
  const next = button('next', () => (at + 1 < STEPS.length ? show(at + 1) : end()), 'lens-button.lens-primary');
  const skip = button('skip', end, 'lens-plain');
  const node = h('section.lens-tour', {
    role: 'dialog', 'aria-labelledby': title.id, 'aria-describedby': text.id, hidden: true,
    onkeydown: (event) => { if (event.key === 'Escape') { event.preventDefault(); end(); } },
  }, title, text, h('div.lens-tour-foot', {}, count, skip, back, next));
  let at = 0;
  let marked = /** @type {Element | null} */ (null);
  let before = /** @type {Element | null} */ (null);

  function mark(target) {
    if (marked) marked.classList.remove('lens-toured');
    marked = target;
    if (target) target.classList.add('lens-toured');
  }

  function write() {
    const { key } = STEPS[at];
    title.textContent = i18n.t(`tour.${key}.title`);
    text.textContent = i18n.t(`tour.${key}`);
    count.textContent = i18n.t('tour.count', { i: at + 1, n: STEPS.length });
    back.textContent = i18n.t('tour.back');
    skip.textContent = i18n.t('tour.skip');
    next.textContent = i18n.t(at + 1 < STEPS.length ? 'tour.next' : 'tour.done');
    back.hidden = at === 0;
    skip.hidden = at + 1 === STEPS.length;
  }

  function show(step) {
    at = step;
    node.hidden = false;
    node.dataset.step = STEPS[at].key;
    write();
    const target = page().querySelector(STEPS[at].at);
    mark(target);
    place();
    next.focus({ preventScroll: true });
  }

  function place() {
    if (node.hidden || !marked) return;
    const zoom = zoomOf(node);
    const { width, height } = node.getBoundingClientRect();
    const spot = placeBeside(marked.getBoundingClientRect(), { width, height }, { width: window.innerWidth, height: window.innerHeight });
    node.style.left = `${spot.left / zoom}px`;
    node.style.top = `${spot.top / zoom}px`;
  }

  function start() {
    before = document.activeElement;
    show(0);
  }

  function end() {
    mark(null);
    node.hidden = true;
    remember({ toured: true });
    if (before instanceof HTMLElement) before.focus();
  }

  /** A first visitor sees it; whoever was here before, a program that drives the page and a file on disk do not. */
  function greet() {
    if (!remembered().toured && !navigator.webdriver && !config.sealed) start();
  }

  write();
  window.addEventListener('resize', place);
  store.subscribe(['language'], write);
  return { node, start, greet };
}
