// Base64 of little-endian numbers ↔ typed arrays.

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function unpackBytes(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** @param {string} text */
export const unpackFloats = (text) => new Float32Array(unpackBytes(text).buffer);

/** @param {string} text */
export const unpackInts = (text) => new Int32Array(unpackBytes(text).buffer);

/** @param {Float32Array | Int32Array} values */
export function packNumbers(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return btoa(String.fromCharCode(...bytes));
}
