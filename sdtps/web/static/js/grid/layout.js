// How large the panels are: the largest that keep the whole grid on the screen; a phone scrolls instead.

/** @import { Shape } from '../core/types.js' */

export const CELL_GAP = 4;
export const ROW_GAP = 4;
const GROUP_GAP = 16; // before the first column of a group, for its arrow; as in the style sheet
const ROW_LABEL = 24;
const MIN_CELL = 56;
const PHONE = 600;

/**
 * How the columns are laid out: wide panels stand in two lines, a narrow window shows a few panels per line.
 * @param {Shape} shape
 * @param {{ columns: number, groups: number, narrow: boolean, width: number }} page
 */
export function linesOf(shape, { columns, groups, narrow, width }) {
  const wide = shape.cols > shape.rows;
  const lines = !narrow && wide ? 2 : 1;
  const few = wide ? 2 : 3;
  const perLine = narrow ? (width < PHONE ? few : 5) : Math.ceil(columns / lines);
  return { lines, perLine, between: narrow || lines > 1 ? 0 : (groups - 1) * GROUP_GAP };
}

/**
 * The columns of the grid as CSS: the first of a group is wider by the room before it.
 * @param {number[]} groups how many columns each has
 */
export function tracksOf(groups) {
  const track = (first) => (first ? `calc(var(--cell) + ${GROUP_GAP}px)` : 'var(--cell)');
  return groups.flatMap((columns, g) => Array.from({ length: columns }, (_, i) => track(g > 0 && i === 0))).join(' ');
}

/**
 * @param {Shape} shape
 * @param {{ lines: number, perLine: number, between: number }} layout `between` is the room between groups
 * @param {{ width: number, height: number, narrow: boolean, heads: number, around: number, rows: number }} page `around`
 *   is the height of captions and colour bars at a panel, `heads` that of the column heads
 * @returns {{ width: number, height: number }} of a panel, in whole pixels
 */
export function panelSize(shape, { lines, perLine, between }, page) {
  const aspect = shape.rows / shape.cols;
  const gaps = (page.narrow ? perLine - 1 : perLine) * CELL_GAP + between;
  let width = Math.floor((page.width - (page.narrow ? 0 : ROW_LABEL) - gaps) / perLine);
  if (!page.narrow) {
    const height = (page.height - page.heads) / (page.rows * lines) - page.around;
    width = Math.max(MIN_CELL, Math.min(width, Math.floor(height / aspect)));
  }
  width -= width % 2;
  return { width, height: Math.round(width * aspect) };
}
