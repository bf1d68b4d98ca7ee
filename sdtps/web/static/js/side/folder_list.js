// The rows of the folder browser: a list of any length, of which only the rows in sight are in the document.

import { h, uniqueId } from '../core/dom.js';

/**
 * What the server found for the filter.
 * @typedef {object} Found
 * @property {number} total
 * @property {Map<number, { id: string, name: string, value?: number | null }>} rows those that were sent
 * @property {number | null} position of the record on screen
 * @property {{ identities: number[], cameras: number[], broken: number }} facets
 */

const ROW_HEIGHT = 21;
const UNSEEN_HEIGHT = 110; // a list that is not shown yet has no height of its own

// The number that the rows are sorted by, before the name.
const valueOf = ({ value }) => (value === undefined ? '' : `${value === null ? '–' : value.toFixed(3)} `);

/**
 * @param {Found} found
 * @param {(position: number) => void} onPress
 * @param {(position: number) => void} onLack a row in sight was not sent yet
 */
export function makeRowList(found, onPress, onLack) {
  const rowId = uniqueId('record');
  const spacer = h('div.lens-rows-all');
  const node = h('div.lens-rows', { role: 'listbox', tabIndex: 0, 'data-t-aria': 'browse.list', onscroll: () => draw() }, spacer);
  const drawn = new Map(); // position to its line in the document

  function draw() {
    const first = Math.max(0, Math.floor(node.scrollTop / ROW_HEIGHT) - 2);
    const last = Math.min(found.total, first + Math.ceil((node.clientHeight || UNSEEN_HEIGHT) / ROW_HEIGHT) + 5);
    drawn.forEach((line, i) => { if (i < first || i >= last) { line.remove(); drawn.delete(i); } });
    let lacking = null;
    for (let i = last - 1; i >= first; i -= 1) {
      const row = found.rows.get(i);
      if (!row) lacking = i;
      drawRow(i, row);
    }
    if (found.position === null) node.removeAttribute('aria-activedescendant');
    else node.setAttribute('aria-activedescendant', `${rowId}-${found.position}`);
    if (lacking !== null) onLack(lacking);
  }

  // A line that stays in sight stays the same element: one replaced between press and release would hear no click.
  function lineAt(i) {
    if (!drawn.has(i)) {
      const line = h('div.lens-row-name-only', {
        role: 'option', id: `${rowId}-${i}`, 'aria-posinset': i + 1, style: `top:${i * ROW_HEIGHT}px`, onclick: () => onPress(i),
      });
      spacer.insertBefore(line, drawn.get(i + 1) || null);
      drawn.set(i, line);
    }
    return drawn.get(i);
  }

  function drawRow(i, row) {
    const line = lineAt(i);
    line.setAttribute('aria-selected', String(i === found.position));
    line.setAttribute('aria-setsize', String(found.total));
    line.title = row ? row.name : '';
    line.textContent = row ? `${valueOf(row)}${row.name}` : '…';
    if (row) line.dataset.record = row.id;
    else delete line.dataset.record;
  }

  /** Other rows altogether: scroll to the one on screen. */
  function reset() {
    spacer.style.height = `${found.total * ROW_HEIGHT}px`;
    node.scrollTop = (found.position === null ? 0 : Math.max(0, found.position - 2)) * ROW_HEIGHT;
  }

  /** @param {number} position brought into sight */
  function reveal(position) {
    const top = position * ROW_HEIGHT;
    const seen = top >= node.scrollTop && top + ROW_HEIGHT <= node.scrollTop + node.clientHeight;
    if (!seen) node.scrollTop = Math.max(0, top - 2 * ROW_HEIGHT);
  }

  return { node, draw, reset, reveal };
}
