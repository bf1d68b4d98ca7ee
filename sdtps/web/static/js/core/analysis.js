// The server's answer → what is drawn; an answer to a slider move is laid over what was there.

/** @import { Analysis, Modality, ModalityAnalysis, PackedModality, Payload, TokenMatrix } from './types.js' */
import { unpack } from './bytes.js';
import { decodedImage } from './dom.js';

/** @returns {TokenMatrix | null} */
function unpackMatrix(matrix) {
  if (!matrix) return null;
  return {
    rows: matrix.rows,
    max: matrix.max,
    tokenMax: unpack(matrix.token_max, Float32Array),
    branches: matrix.branches.map((branch) => {
      const keep = unpack(branch.keep, Int32Array);
      return { rows: matrix.rows, cols: keep.length, max: branch.max, keep, weights: unpack(branch.weights, Float32Array) };
    }),
  };
}

/**
 * Each map is decoded once; `packed` stays to tell whether a panel must be painted again.
 * @param {PackedModality} half
 * @param {ModalityAnalysis | null} previous
 * @returns {ModalityAnalysis}
 */
function unpackModality(half, previous) {
  const { maps: packed, raw, ranges, flat, token_norm: norms, brightness, rank, matrix, groups, ...plain } = half;
  const maps = { ...previous?.maps };
  for (const name in packed) maps[name] = packed[name] === null ? null : unpack(packed[name], Float32Array);
  const unpacked = {
    ...previous,
    ...plain,
    maps,
    packed: { ...previous?.packed, ...packed },
    ranges: { ...previous?.ranges, ...ranges },
    flat: { ...previous?.flat, ...flat },
    rank: unpack(rank, Int32Array),
    matrix: matrix ? unpackMatrix(matrix) : null,
    groups: groups ? unpack(groups, Int32Array) : null,
  };
  if (raw) unpacked.raw = Object.fromEntries(Object.entries(raw).map(([name, values]) => [name, unpack(values, Float32Array)]));
  if (norms) unpacked.norms = unpack(norms, Float32Array);
  if (brightness) unpacked.brightness = unpack(brightness, Float32Array);
  return /** @type {ModalityAnalysis} */ ({ image: null, drawn: {}, brightness: null, ...unpacked });
}

/**
 * @param {Payload} payload whole, or what a slider changes
 * @param {Analysis | null} previous what a slider moved away from
 * @returns {Analysis}
 */
export function unpackAnalysis(payload, previous) {
  const modalities = /** @type {Record<Modality, ModalityAnalysis>} */ ({});
  for (const name in payload.modalities) {
    modalities[name] = unpackModality(payload.modalities[name], previous && previous.modalities[name]);
  }
  return /** @type {any} */ ({ ...previous, ...payload, modalities });
}

/**
 * Photographs and what is drawn of them over maps decode asynchronously; panels are painted once all are there.
 * @param {Analysis} analysis
 * @returns {Promise<Analysis>}
 */
export async function loadPhotos(analysis) {
  await Promise.all(Object.values(analysis.modalities).map(async (modality) => {
    if (!modality.photo || modality.image) return;
    const layers = Object.entries(modality.layers || {});
    const [image, ...drawn] = await Promise.all([modality.photo, ...layers.map(([, url]) => url)].map(decodedImage));
    modality.image = image;
    modality.drawn = Object.fromEntries(layers.map(([name], i) => [name, drawn[i]]));
  }));
  return analysis;
}

/**
 * 1 where a patch is kept.
 * @param {ArrayLike<number>} rank
 * @param {number} kept
 * @returns {Uint8Array}
 */
export function maskOf(rank, kept) {
  const mask = new Uint8Array(rank.length);
  for (let i = 0; i < rank.length; i += 1) mask[i] = rank[i] < kept ? 1 : 0;
  return mask;
}

/**
 * How many patches a modality keeps: some selectors keep another number in each.
 * @param {Analysis} analysis
 * @param {Modality} modality
 */
export const keptCount = (analysis, modality) => analysis.modalities[modality].kept ?? analysis.counts.kept;

/**
 * @param {Analysis} analysis
 * @param {Modality} modality
 */
export const keptMask = (analysis, modality) => maskOf(analysis.modalities[modality].rank, keptCount(analysis, modality));

/**
 * What shows the decision in a small picture: the kept patches, or the weights of a selector that drops none.
 * @param {Analysis} analysis
 * @param {Modality} modality
 */
export function decisionLook(analysis, modality) {
  const { maps, weight_range: soft } = analysis.modalities[modality];
  return soft ? { values: maps.weight, range: [0, 1] } : { mask: keptMask(analysis, modality) };
}

/**
 * What stands in the place of numbers that are not there: weights lack a part, a recording did not keep it.
 * @param {Pick<Analysis, 'weights'>} analysis
 */
export const absentKey = ({ weights }) => (weights.family === 'recorded' ? 'absent.recorded' : 'absent');
