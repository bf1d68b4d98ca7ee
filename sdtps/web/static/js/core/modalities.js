// The three modalities in the order in which everything shows them.

/** @import { Modality } from './types.js' */

export const MODALITIES = /** @type {Modality[]} */ (['rgb', 'nir', 'tir']);

/**
 * One value per modality.
 * @template T
 * @param {(modality: Modality) => T} make
 * @returns {Record<Modality, T>}
 */
export const byModality = (make) => /** @type {any} */ (Object.fromEntries(MODALITIES.map((m) => [m, make(m)])));
