// Numbers as they are written, rounded and kept within bounds.

/**
 * A number for a caption: short, never more digits than a reader can use.
 * @param {number} value
 */
export function shortNumber(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 0.001) return value.toExponential(1);
  if (size < 0.1) return value.toFixed(4);
  return size < 10 ? value.toFixed(3) : value.toPrecision(4);
}

/**
 * The same for the ends of a colour bar.
 * @param {number} value
 */
export function rangeNumber(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 0.001) return value.toExponential(0);
  if (size < 0.1) return value.toFixed(3);
  return size < 100 ? value.toFixed(2) : value.toPrecision(3);
}

/** @param {number} value */
export const percent = (value) => `${Math.round(value * 100)} %`;

/**
 * @param {number | null | undefined} value
 * @param {number} [digits]
 */
export const orDash = (value, digits = 3) => (value === null || value === undefined ? '–' : value.toFixed(digits));

/**
 * A written number with a minus that is as wide as a plus.
 * @param {string} text
 */
export const negative = (text) => text.replace('-', '−');

/**
 * @param {number} value
 * @param {number} [digits]
 */
export const signed = (value, digits = 3) => `${value > 0 ? '+' : ''}${negative(value.toFixed(digits))}`;

/**
 * @param {[number, number]} range
 * @param {number} value
 */
export const clampTo = ([low, high], value) => Math.min(high, Math.max(low, value));

/**
 * Numbers of links and fields are rounded the same way, so that a link restores the same bits.
 * @param {number} value
 */
export const roundSetting = (value) => Number(value.toPrecision(4));

/**
 * Where in a list the nearest value stands.
 * @param {ArrayLike<number>} values
 * @param {number} value
 */
export function nearestIndex(values, value) {
  let best = 0;
  for (let i = 1; i < values.length; i += 1) if (Math.abs(values[i] - value) < Math.abs(values[best] - value)) best = i;
  return best;
}

/**
 * A patch as row and column from 1, as sentences name it.
 * @param {number} patch
 * @param {{ cols: number }} grid
 */
export const placeOf = (patch, { cols }) => ({ row: Math.floor(patch / cols) + 1, col: (patch % cols) + 1 });
