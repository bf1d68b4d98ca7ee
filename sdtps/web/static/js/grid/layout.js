// How large the panels are: the largest that keep the whole grid on the screen; a phone scrolls instead.

/** @import { Shape } from '../core/types.js' */

export const CELL_GAP = 8;
export const ROW_GAP = 3;
const ROW_LABEL = 26;
const MIN_CELL = 56;
const PHONE = 600;

/**
 * How the columns are laid out: wide panels stand in two lines, a narrow window shows a few panels per line.
 * @param {Shape} shape
 * @param {{ columns: number, narrow: boolean, width: number }} page
 */
export function linesOf(shape, { columns, narrow, width }) {
  const wide = shape.cols > shape.rows;
  const lines = !narrow && wide ? 2 : 1;
  const few = wide ? 2 : 3;
  return { lines, perLine: narrow ? (width < PHONE ? few : 5) : Math.ceil(columns / lines) };
}

/**
 * @param {Shape} shape
 * @param {{ lines: number, perLine: number }} layout
 * @param {{ width: number, height: number, narrow: boolean, heads: number, around: number, rows: number }} page `around`
 *   is the height of captions and colour bars at a panel, `heads` that of the column heads
 * @returns {{ width: number, height: number }} of a panel, in whole pixels
 */
export function panelSize(shape, { lines, perLine }, page) {
  const aspect = shape.rows / shape.cols;
  const gaps = (page.narrow ? perLine - 1 : perLine) * CELL_GAP;
  let width = Math.floor((page.width - (page.narrow ? 0 : ROW_LABEL) - gaps) / perLine);
  if (!page.narrow) {
    const height = (page.height - page.heads) / (page.rows * lines) - page.around;
    width = Math.max(MIN_CELL, Math.min(width, Math.floor(height / aspect)));
  }
  width -= width % 2;
  return { width, height: Math.round(width * aspect) };
}
