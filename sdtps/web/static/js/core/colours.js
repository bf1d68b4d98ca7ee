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

/**
 * Which of the 256 colours a value has.
 * @param {number} value
 * @param {Range} range
 */
export function colourIndex(value, [low, high]) {
  if (!(high > low)) return 0;
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
 * A table as a gradient for style sheets.
 * @param {Uint8Array} table
 */
export function cssGradient(table) {
  const stops = [];
  for (let i = 0; i <= 255; i += 15) stops.push(`rgb(${table[i * 3]},${table[i * 3 + 1]},${table[i * 3 + 2]})`);
  return `linear-gradient(to right, ${stops.join(',')})`;
}
