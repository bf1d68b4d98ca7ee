// What belongs to the reader, not to the link: language, theme, and whether the tour was seen.

const MEMORY = 'sdtps-lens';

/** @typedef {{ language?: string, theme?: string, toured?: boolean }} Memory */

/** @returns {Memory} */
export function remembered() {
  try {
    return JSON.parse(localStorage.getItem(MEMORY) || 'null') || {};
  } catch {
    return {};
  }
}

/** @param {Memory} values */
export function remember(values) {
  try {
    localStorage.setItem(MEMORY, JSON.stringify({ ...remembered(), ...values }));
  } catch {
    // Private windows may forbid it; the choice then lasts as long as the page.
  }
}
