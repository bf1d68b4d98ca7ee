// Colour tables of 256 entries, and values → colours.

/** @import { Range } from './types.js' */
import { unpack } from './bytes.js';

/**
 * @param {Record<string, string>} packedTables
 * @returns {Record<string, Uint8Array>}
 */
export function makeColourMaps(packedTables) {
  const tables = /** @type {Record<string, Uint8Array>} */ ({});
  for (const [name, packed] of Object.entries(packedTables)) tables[name] = unpack(packed, Uint8Array);
  return tables;
}

const MIDDLE = 128; // what an empty range gets: neutral in a table around zero
/** The one colour of a map that is flat. */
export const NEUTRAL = [150, 156, 164];

/**
 * Which of the 256 colours a value has.
 * @param {number} value
 * @param {Range} range
 */
export function colourIndex(value, [low, high]) {
  if (!(high > low)) return MIDDLE;
  return Math.max(0, Math.min(255, Math.round(((value - low) / (high - low)) * 255)));
}

/**
 * The pixels of a map, one per patch, as four bytes each.
 * @param {ArrayLike<number>} values
 * @param {Range} range
 * @param {Uint8Array} table
 * @param {Uint8ClampedArray} pixels filled
 */
export function paintColours(values, range, table, pixels) {
  for (let i = 0; i < values.length; i += 1) {
    const entry = colourIndex(values[i], range) * 3;
    pixels[i * 4] = table[entry];
    pixels[i * 4 + 1] = table[entry + 1];
    pixels[i * 4 + 2] = table[entry + 2];
    pixels[i * 4 + 3] = 255;
  }
}

/**
 * The same for a flat map.
 * @param {number} count
 * @param {Uint8ClampedArray} pixels filled
 */
export function paintNeutral(count, pixels) {
  for (let i = 0; i < count; i += 1) pixels.set([...NEUTRAL, 255], i * 4);
}

/**
 * A table as a gradient for style sheets; steps of five entries are nearer to it than an eye can tell.
 * @param {Uint8Array} table
 */
export function cssGradient(table) {
  const stops = [];
  for (let i = 0; i <= 255; i += 5) stops.push(`rgb(${table[i * 3]},${table[i * 3 + 1]},${table[i * 3 + 2]})`);
  return `linear-gradient(to right, ${stops.join(',')})`;
}
