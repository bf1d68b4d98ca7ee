// Which image sets are listed, and in which order: pure functions over the numbers of a gallery.

/**
 * Places in order of a number; those without one come last.
 * @param {Float32Array} values
 * @param {boolean} descending
 * @returns {number[]}
 */
export function sortedBy(values, descending) {
  const known = [];
  const unknown = [];
  values.forEach((value, i) => (Number.isNaN(value) ? unknown : known).push(i));
  known.sort((a, b) => (descending ? values[b] - values[a] : values[a] - values[b]) || a - b);
  return [...known, ...unknown];
}

/**
 * Those of the places whose number lies between two bounds; an empty bound means any.
 * @param {number[]} places
 * @param {Float32Array} values
 * @param {string} low
 * @param {string} high
 */
export function between(places, values, low, high) {
  if (low === '' && high === '') return places;
  return places.filter((i) => !(Number.isNaN(values[i]) || (low !== '' && values[i] < Number(low)) || (high !== '' && values[i] > Number(high))));
}
