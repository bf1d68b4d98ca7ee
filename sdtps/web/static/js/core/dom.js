// Small helpers for making elements; text always goes in as text, never as markup.

import { icon } from './icons.js';

/**
 * `div.lens-row` → HTMLDivElement.
 * @template {string} T
 * @typedef {T extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[T]
 *   : T extends `${infer N}.${string}` ? N extends keyof HTMLElementTagNameMap ? HTMLElementTagNameMap[N] : HTMLElement
 *   : HTMLElement} ElementOf
 */

/**
 * @template {string} T
 * @param {T} tag name and classes: `div.lens-row`
 * @param {Record<string, any>} [props] `on…` are listeners; known properties are set, the rest become attributes
 * @param {...(Node | string | null | undefined)} children
 * @returns {ElementOf<T>}
 */
export function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(' ');
  for (const key in props) setProp(node, key, props[key]);
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return /** @type {any} */ (node);
}

function setProp(node, key, value) {
  if (key.startsWith('aria-')) node.setAttribute(key, String(value));
  else if (value === null || value === undefined || value === false) return;
  else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
  else if (key in node) node[key] = value;
  else node.setAttribute(key, value === true ? '' : value);
}

/**
 * Writing what is already there would still cost a layout.
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {Element} node
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** Whether there is room for larger small pictures; the width is that of the style sheet. */
export const isWide = () => window.matchMedia('(min-width: 1800px)').matches;

/**
 * How much the style sheet magnifies an element.
 * @param {Element} node
 * @returns {number}
 */
export const zoomOf = (node) => /** @type {any} */ (node).currentCSSZoom || 1;

const ids = { last: 0 };

/**
 * @param {string} prefix
 * @returns {string}
 */
export function uniqueId(prefix) {
  ids.last += 1;
  return `lens-${prefix}-${ids.last}`;
}

/**
 * One of several named choices as a row of radio buttons.
 * @param {string} name
 * @param {string[]} options
 * @param {string} value
 * @param {(option: string) => void} onChange
 */
export function segmented(name, options, value, onChange) {
  const group = uniqueId(name);
  const inputs = options.map((option) => h('input', {
    type: 'radio', name: group, value: option, checked: option === value,
    onchange: () => onChange(option),
  }));
  const node = h('div.lens-segmented', { role: 'radiogroup', 'data-t-aria': name, 'data-option': name },
    ...options.map((option, i) => h('label', {}, inputs[i], h('span', { 'data-t': `${name}.${option}` }))));
  const select = (chosen) => { for (const input of inputs) input.checked = input.value === chosen; };
  return { node, select };
}

/**
 * The button that closes a dialog or a panel.
 * @param {() => void} onclick
 */
export function closeButton(onclick) {
  return h('button.lens-icon', { type: 'button', 'data-t-aria': 'close', 'data-t-title': 'close', onclick }, icon('close'));
}

/**
 * A picture that is ready to be painted.
 * @param {string} url
 * @returns {Promise<HTMLImageElement>}
 */
export async function decodedImage(url) {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}
