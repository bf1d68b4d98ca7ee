// Base64 of little-endian numbers ↔ typed arrays.

/**
 * @template {Uint8ArrayConstructor | Int32ArrayConstructor | Float32ArrayConstructor} T
 * @param {string} text
 * @param {T} Type
 * @returns {InstanceType<T>}
 */
export function unpack(text, Type) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return /** @type {any} */ (Type === Uint8Array ? bytes : new Type(bytes.buffer));
}

/** @param {Float32Array | Int32Array} values */
export function packNumbers(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return btoa(String.fromCharCode(...bytes));
}
