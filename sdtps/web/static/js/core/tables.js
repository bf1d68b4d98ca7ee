// Numbers for every stop of some sliders, as a page without a server holds them.

/** @typedef {{ values: any, shape: number[] }} Table */

/**
 * The last axis of a table; `place` says where on the others.
 * @param {Table} table
 * @param {number[]} place
 */
export function rowAt({ values, shape }, place) {
  const length = shape[shape.length - 1];
  let index = 0;
  place.forEach((at, axis) => { index = index * shape[axis] + at; });
  return values.subarray(index * length, (index + 1) * length);
}
