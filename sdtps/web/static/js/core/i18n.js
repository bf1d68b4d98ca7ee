// Texts in the reader's language. Elements name their text by `data-t`, their label by `data-t-aria`.

/** @import { Note } from './types.js' */

/**
 * The first of the wanted languages that there are texts in.
 * @param {Record<string, object>} texts
 * @param {(string | null | undefined)[]} wanted
 */
export function chooseLanguage(texts, wanted) {
  for (const language of wanted) {
    const short = (language || '').toLowerCase().split('-')[0];
    if (texts[short]) return short;
  }
  return 'en';
}

/**
 * `{name}` and, for numbers, `{name:.2f}` or `{name:.6g}` as in Python.
 * @param {string} template
 * @param {Record<string, any>} values
 */
export function fillTemplate(template, values) {
  if (!template.includes('{')) return template;
  return template.replace(/\{(\w+)(?::\.(\d)([fg]))?\}/g, (whole, name, digits, kind) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (!kind || typeof value !== 'number') return String(value);
    return kind === 'f' ? value.toFixed(digits) : String(Number(value.toPrecision(digits)));
  });
}

/**
 * @param {Record<string, Record<string, string>>} texts by language and key
 * @param {{ language: string }} state says which language is in use
 */
export function makeTranslator(texts, state) {
  const has = (key) => key in texts[state.language];

  /**
   * @param {string} key
   * @param {Record<string, any>} [values]
   * @returns {string}
   */
  const t = (key, values = {}) => fillTemplate(texts[state.language][key] ?? texts.en[key] ?? key, values);

  /**
   * A sentence of the server: its own English, or the translation of its code.
   * @param {Note} note
   * @returns {string}
   */
  function sentence(note) {
    if (state.language === 'en' || !note.code || !has(`note.${note.code}`)) return note.text;
    const values = {};
    for (const [name, value] of Object.entries(note.values)) {
      values[name] = value && typeof value === 'object' ? sentence(value) : value;
    }
    return t(`note.${note.code}`, values);
  }

  /** @param {Element} root */
  function apply(root) {
    for (const node of elements(root, '[data-t]')) node.textContent = t(node.dataset.t);
    for (const node of elements(root, '[data-t-aria]')) node.setAttribute('aria-label', t(node.dataset.tAria));
    for (const node of elements(root, '[data-t-title]')) node.title = t(node.dataset.tTitle);
  }

  /** @param {{ title: Record<string, string> }} named */
  const titleOf = ({ title }) => title[state.language] || title.en;

  return { t, has, sentence, apply, titleOf, get language() { return state.language; } };
}

// All below a root that match.
function elements(root, selector) {
  return /** @type {any} */ (root.querySelectorAll(selector));
}
