// Where the image set comes from: an example or a record of a data folder; what is left out, how it is fitted.

/** @import { LensStore, Modality, Source } from './types.js' */
import { byModality } from './modalities.js';

/**
 * The sources as the server names them.
 * @param {Record<Modality, Source | null>} sources
 */
export function picturesOf(sources) {
  return byModality((m) => {
    const source = sources[m];
    if (!source) return null;
    if (source.record) return { record: source.record };
    return source.example ? { example: source.example } : { token: source.token };
  });
}

/**
 * The same source for all three.
 * @param {{ example: string | null, record: string | null }} chosen
 * @returns {Record<Modality, Source | null>}
 */
export function sourcesOf({ example, record }) {
  const source = record ? { record } : example ? { example } : null;
  return byModality(() => source);
}

/**
 * @param {LensStore} store
 * @param {() => void} analyse
 */
export function makePictures({ state, update }, analyse) {
  /** @param {{ example: string | null, record: string | null }} chosen */
  function nameSources({ example, record }) {
    update({ example, record, own: null, sources: sourcesOf({ example, record }), told: null, wide: null, failures: [] });
  }

  function open(example, record) {
    nameSources({ example, record });
    analyse();
  }

  /** @param {Modality} modality */
  function toggle(modality) {
    const leaveOut = new Set(state.leaveOut);
    if (!leaveOut.delete(modality)) leaveOut.add(modality);
    update({ leaveOut });
    analyse();
  }

  return {
    nameSources,
    toggle,
    useExample: (/** @type {string} */ name) => open(name, null),
    useRecord: (/** @type {string} */ id) => open(null, id),
    chooseFit: (/** @type {string} */ fit) => { update({ fit }); analyse(); },
  };
}
