// What belongs to the reader, not to the link: language and theme.

const MEMORY = 'sdtps-lens';

/** @returns {{ language?: string, theme?: string }} */
export function remembered() {
  try {
    return JSON.parse(localStorage.getItem(MEMORY) || 'null') || {};
  } catch {
    return {};
  }
}

/** @param {{ language?: string, theme?: string }} values */
export function remember(values) {
  try {
    localStorage.setItem(MEMORY, JSON.stringify({ ...remembered(), ...values }));
  } catch {
    // Private windows may forbid it; the choice then lasts as long as the page.
  }
}
