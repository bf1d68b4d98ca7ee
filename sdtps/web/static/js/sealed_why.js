// Why a patch was kept, without a server: the numbers that Python put into the page, looked up for one patch.

/** @import { Config, Modality, Payload, Settings } from './core/types.js' */
/** @import { Table } from './sealed.js' */
import { unpack } from './core/bytes.js';
import { MODALITIES } from './core/modalities.js';
import { nearestIndex } from './core/numbers.js';
import { rowAt } from './core/tables.js';

/** @typedef {{ config: Config, facts: Record<string, any>, analysis: Payload }} Told */
/** @typedef {{ b: number, r: number, i: number, patch: number }} Place stops of beta and ratio, modality, patch */

const numberAt = (packed, patch) => (packed ? unpack(packed, Float32Array)[patch] : null);

// The terms of the score: what each map says of the patch, times its weight.
function partsOf({ facts, analysis }, modality, { b, patch }) {
  const { maps, raw, others } = /** @type {any} */ (analysis.modalities[modality]);
  const mix = facts.mix[b];
  const values = mix.cosines ? raw : maps;
  const terms = [
    ['predictor', mix.predictor ? numberAt(maps.predictor, patch) : null, mix.predictor, false],
    ['self', numberAt(values.self, patch), mix.self, analysis.modalities[modality].missing],
    ...others.map((other, n) => [other, numberAt(values[`cross${n + 1}`], patch), mix.cross, analysis.modalities[other].missing]),
  ];
  return terms.filter(([, value]) => value !== null)
    .map(([name, value, weight, missing]) => ({ name, value, weight, share: value * weight, from_missing: missing }));
}

// The nearest stop of a slider at which the patch would be on the other side.
function flipOf(steps, now, isKept) {
  const here = isKept(now);
  const others = steps.map((_, at) => at).filter((at) => isKept(at) !== here);
  others.sort((one, two) => Math.abs(steps[one] - steps[now]) - Math.abs(steps[two] - steps[now]));
  return others.length ? steps[others[0]] : null;
}

/**
 * What a server would answer to `why.patch`, but for the aggregation weights, which such a page does not hold.
 * @param {Told} told
 * @param {Record<string, Table>} tables
 * @param {{ settings: Settings, modality: Modality, patch: number }} asked
 */
export function sealedWhy(told, tables, { settings, modality, patch }) {
  const { config, facts, analysis } = told;
  const steps = config.steps || {};
  const [b, r] = ['beta', 'sparse_ratio'].map((name) => nearestIndex(steps[name], settings[name]));
  const place = { b, r, i: MODALITIES.indexOf(modality), patch };
  const rankAt = (at, m = place.i) => rowAt(tables.rank, [at, m])[patch];
  const score = rowAt(tables.score, [b, place.i])[patch];
  const [cut, gap] = rowAt(tables.cut, [b, r, place.i]); // the gap is what the last kept leads the best dropped by
  const kept = rankAt(b) < facts.kept[r];
  const z = rowAt(tables.norm_z, [place.i])[patch];
  const margin = kept ? score - (cut - gap) : score - cut;
  const { cols } = /** @type {any} */ (analysis).grid;
  return {
    modality, patch, row: Math.floor(patch / cols), col: patch % cols, kept, score, rank: rankAt(b), kept_count: facts.kept[r],
    parts: partsOf(told, modality, place),
    margin: Number.isNaN(margin) ? null : margin,
    flips: {
      sparse_ratio: flipOf(steps.sparse_ratio, r, (at) => rankAt(b) < facts.kept[at]),
      beta: facts.mix[b].cosines ? null : flipOf(steps.beta, b, (at) => rankAt(at) < facts.kept[r]),
    },
    kept_in: Object.fromEntries(MODALITIES.map((m, n) => [m, analysis.modalities[m].missing ? null : rankAt(b, n) < facts.kept[r]])),
    norm: numberAt(analysis.modalities[modality].token_norm, patch), norm_z: z, norm_outlier: z > facts.outlier,
    weight: null, group: null, tokens: undefined, top: [...rowAt(tables['score.shared'], [b])],
  };
}
