// How large pictures can be in a room. Pure arithmetic.

/** @import { Shape } from '../core/types.js' */

/** @typedef {{ width: number, height: number }} Size */

/**
 * The largest picture of a grid's shape in a room, in whole pixels.
 * @param {Shape} shape
 * @param {Size} room
 * @returns {Size}
 */
export function largestIn({ rows, cols }, room) {
  const width = Math.max(8, Math.floor(Math.min(room.width, (room.height * cols) / rows)));
  return { width, height: Math.round((width * rows) / cols) };
}

/**
 * A photograph and a map: beside each other or one above the other, whichever is larger.
 * @param {Shape} shape
 * @param {Size} room
 * @param {{ gap: number, below: number }} around between the two, and what stands below each
 * @returns {Size & { stacked: boolean }}
 */
export function pairIn(shape, room, { gap, below }) {
  const beside = largestIn(shape, { width: (room.width - gap) / 2, height: room.height - below });
  const stacked = largestIn(shape, { width: room.width, height: (room.height - gap) / 2 - below });
  return stacked.width > beside.width ? { ...stacked, stacked: true } : { ...beside, stacked: false };
}

/**
 * Many pictures in as many lines as make them largest.
 * @param {Shape} shape
 * @param {number} count
 * @param {Size} room
 * @param {{ gap: number, below: number }} around
 * @returns {Size & { perLine: number }}
 */
export function manyIn(shape, count, room, { gap, below }) {
  let best = { width: 0, height: 0, perLine: count };
  for (let lines = 1; lines <= count; lines += 1) {
    const perLine = Math.ceil(count / lines);
    const size = largestIn(shape, {
      width: (room.width - gap * (perLine - 1)) / perLine,
      height: (room.height - gap * (lines - 1)) / lines - below,
    });
    if (size.width > best.width) best = { ...size, perLine };
  }
  return best;
}
