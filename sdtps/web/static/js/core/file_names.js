// Which of several files is which modality: by the words in their names, else in order.

/** @import { Modality } from './types.js' */
import { MODALITIES } from './modalities.js';

const WORDS = {
  rgb: ['rgb', 'vis', 'visible', 'color', 'colour'],
  nir: ['nir', 'ni', 'near'],
  tir: ['tir', 'ti', 'thermal', 'therm', 'lwir'],
};

/**
 * The words of a name: `person7_RGB.png` → person, rgb, png.
 * @param {string} name
 */
export function wordsOf(name) {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().split(/[^a-z]+/).filter(Boolean);
}

/**
 * The modality that a name tells, if it tells one.
 * @param {string} name
 * @returns {Modality | null}
 */
export function modalityOf(name) {
  const words = wordsOf(name);
  const told = MODALITIES.filter((m) => WORDS[m].some((word) => words.includes(word)));
  return told.length === 1 ? told[0] : null;
}

/**
 * Files with the slots they go to, and how that was told; `left` are those for which there is no room.
 * @template {{ name: string }} F
 * @param {string | null} slot the one they were given to; none when they were dropped beside the zones
 * @param {F[]} files
 * @param {Modality[]} [empty] slots without a picture
 * @returns {{ placed: { slot: string, file: F, by: 'name' | 'order' | 'place' }[], left: F[] }}
 */
export function tellApart(slot, files, empty = []) {
  if (files.length === 1 && slot) return { placed: [{ slot, file: files[0], by: 'place' }], left: [] };
  const found = new Map();
  const rest = /** @type {F[]} */ ([]);
  for (const file of files) {
    const modality = modalityOf(file.name);
    if (modality && !found.has(modality)) found.set(modality, { slot: modality, file, by: 'name' });
    else rest.push(file);
  }
  const order = files.length === 1 ? [...empty, ...MODALITIES] : MODALITIES;
  for (const m of order) {
    const file = found.has(m) ? undefined : rest.shift();
    if (file) found.set(m, { slot: m, file, by: 'order' });
  }
  return { placed: MODALITIES.filter((m) => found.has(m)).map((m) => found.get(m)), left: rest };
}
