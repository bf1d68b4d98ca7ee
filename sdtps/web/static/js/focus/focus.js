// Focus: one map, or one modality's row, fills the window; arrows walk the panels, the sliders stay at hand.

/** @import { Lens, Modality } from '../core/types.js' */
/** @import { Wanted } from '../grid/grid.js' */
import { closeButton, h, segmented, setText, uniqueId } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { MODALITIES } from '../core/modalities.js';
import { panelsOf } from '../core/models.js';
import { makeScene } from './scene.js';

const STEP = { ArrowLeft: -1, ArrowRight: 1 };
const ROW_STEP = { ArrowUp: -1, ArrowDown: 1 };

/**
 * The next of a list, round and round.
 * @template T
 * @param {T[]} list
 * @param {T} from
 * @param {number} step
 * @returns {T}
 */
export const walk = (list, from, step) => list[(list.indexOf(from) + step + list.length) % list.length];

// The head of the window: what is shown, and the ways to other panels.
function makeBar(actions) {
  const title = h('h2', { id: uniqueId('focus') });
  const modalities = MODALITIES.map((m) => h('button', {
    type: 'button', 'data-focus-modality': m, onclick: () => actions.go({ modality: m }),
  }, m.toUpperCase()));
  const view = segmented('focus.view', ['map', 'row'], 'map', (value) => actions.go({ whole: value === 'row' }));
  const numbers = h('input', { type: 'checkbox', id: uniqueId('numbers'), checked: true, 'data-focus-numbers': '', onchange: () => actions.go({}) });
  const step = (name, by, sign) => h('button.lens-icon', {
    type: 'button', 'data-focus-step': name, 'data-t-aria': `focus.${name}`, 'data-t-title': `focus.${name}`, onclick: () => actions.step(by),
  }, sign);
  const node = h('header.lens-focus-head', {}, title,
    h('div.lens-segmented', { role: 'group', 'data-t-aria': 'rows' }, ...modalities), view.node,
    h('label.lens-focus-numbers', { htmlFor: numbers.id }, numbers, h('span', { 'data-t': 'focus.numbers' })),
    h('span.lens-focus-keys', { 'data-t': 'focus.keys' }),
    step('previous', -1, icon('previous')), step('next', 1, icon('next')), closeButton(actions.close));
  return { node, title, modalities, view, numbers };
}

// A drag paints once per frame, however many answers come.
function oncePerFrame(draw) {
  let waiting = 0;
  return () => {
    waiting = waiting || requestAnimationFrame(() => { waiting = 0; draw(); });
  };
}

// Arrows walk panels and modalities, but not away from a choice that is made with them.
function keys(event, { close, walkPanels, walkModalities }) {
  const choosing = event.target.matches('input[type=radio]');
  if (event.key === 'Escape') close();
  else if (!choosing && STEP[event.key]) walkPanels(STEP[event.key]);
  else if (!choosing && ROW_STEP[event.key]) walkModalities(ROW_STEP[event.key]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/**
 * @param {Lens} lens
 * @param {() => HTMLElement[]} behind what cannot be reached while it is open
 */
export function makeFocus(lens, behind) {
  const { config, i18n, store } = lens;
  const { state } = store;
  const bar = makeBar({ go, step: walkPanels, close });
  const body = h('div.lens-focus-body');
  const told = h('p.lens-focus-told');
  const scene = makeScene(lens, body, told);
  const later = oncePerFrame(draw);
  const node = h('section.lens-focus', { role: 'dialog', 'aria-labelledby': bar.title.id, tabIndex: -1, hidden: true }, bar.node, body, told);
  const at = { panel: config.panels[0], modality: /** @type {Modality} */ ('rgb'), whole: false };
  let before = /** @type {Element | null} */ (null);

  const shownPanels = () => panelsOf(config, state.analysis?.settings.variant);

  function go(change) {
    Object.assign(at, change);
    draw();
  }

  function walkPanels(by) {
    go({ panel: walk(shownPanels(), at.panel, by), whole: false });
  }

  function walkModalities(by) {
    go({ modality: walk(MODALITIES, at.modality, by) });
  }

  function draw() {
    const { analysis } = state;
    if (node.hidden || !analysis) return;
    const panels = shownPanels();
    if (!panels.includes(at.panel)) at.panel = panels[0];
    setText(bar.title, at.whole ? at.modality.toUpperCase() : `${at.modality.toUpperCase()} · ${i18n.t(`column.${at.panel.name}`)}`);
    for (const button of bar.modalities) button.setAttribute('aria-pressed', String(button.dataset.focusModality === at.modality));
    bar.view.select(at.whole ? 'row' : 'map');
    Object.assign(node.dataset, { panel: at.panel.name, modality: at.modality, view: at.whole ? 'row' : 'map' });
    const now = { analysis, numbers: bar.numbers.checked };
    if (at.whole) scene.drawRow(at, panels, now);
    else scene.drawMap(at, now);
  }

  /** @param {Wanted} wanted */
  function open({ panel, modality = state.pointed.modality, whole = false }) {
    if (!state.analysis) return;
    Object.assign(at, { panel: config.panels.find(({ name }) => name === panel) || at.panel, modality, whole });
    before = document.activeElement;
    node.hidden = false;
    cover(true);
    i18n.apply(node);
    node.focus();
    draw();
  }

  // The page behind can neither be seen nor reached; the sliders can.
  function cover(yes) {
    /** @type {Element} */ (node.parentNode).classList.toggle('lens-focused', yes);
    for (const part of behind()) part.inert = yes;
  }

  function close() {
    node.hidden = true;
    cover(false);
    body.replaceChildren();
    if (before instanceof HTMLElement) before.focus();
  }

  node.addEventListener('keydown', (event) => keys(event, { close, walkPanels, walkModalities }));
  new ResizeObserver(later).observe(body);
  store.subscribe(['analysis', 'display', 'token', 'peeking', 'language'], () => { if (!node.hidden) later(); });
  return { node, open };
}
