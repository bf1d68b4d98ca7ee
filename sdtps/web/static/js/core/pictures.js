// Where the image set comes from: an example, a record of a data folder, or uploads; what is left out, how it is fitted.

/** @import { Config, Failure, LensStore, Modality, Note, Server, Source } from './types.js' */
import { fillTemplate } from './i18n.js';
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

// Hand a file over, unless the server would refuse it anyway.
async function stage({ config, server }, slot, file) {
  const limit = config.max_bytes;
  if (file.size <= limit) return server.stage(file, slot);
  const values = { megabytes: file.size / 2 ** 20, limit: limit / 2 ** 20 };
  const text = fillTemplate('The file has {megabytes:.1f} MB; the limit is {limit} MB.', values);
  return { error: { code: 'input.too_big', values, text } };
}

/**
 * @param {{ config: Config, server: Server, store: LensStore }} lens
 * @param {() => void} analyse
 * @param {(failures: Failure[]) => void} complain
 */
export function makePictures(lens, analyse, complain) {
  const { state, update } = lens.store;

  function open(example, record) {
    update({ example, record, sources: sourcesOf({ example, record }), failures: [] });
    analyse();
  }

  /** @param {Modality} modality */
  function toggle(modality) {
    const leaveOut = new Set(state.leaveOut);
    if (!leaveOut.delete(modality)) leaveOut.add(modality);
    update({ leaveOut });
    analyse();
  }

  // An upload replaces an example or a record as a whole: pictures of two people in one set would mislead.
  function place(slot, answer, file) {
    const previous = state.example === null && state.record === null ? state.sources : {};
    const sources = { rgb: null, nir: null, tir: null, ...previous };
    const leaveOut = new Set(state.leaveOut);
    for (const [m, picture] of Object.entries(answer.pictures)) {
      sources[m] = { token: picture.token, preview: picture.preview, file, slot };
      leaveOut.delete(m);
    }
    update({ example: null, record: null, sources, leaveOut });
  }

  /**
   * Files by the slot they are for.
   * @param {Record<string, File>} files
   * @param {(slot: string, busy: boolean) => void} onBusy
   */
  async function take(files, onBusy) {
    const failures = [];
    let placed = false;
    for (const [slot, file] of Object.entries(files)) {
      onBusy(slot, true);
      const answer = await stage(lens, slot, file);
      onBusy(slot, false);
      if (answer.error) {
        failures.push({ zone: slot, note: /** @type {Note} */ (answer.error) });
      } else {
        place(slot, answer, file);
        placed = true;
      }
    }
    complain(failures);
    if (placed) analyse();
  }

  /**
   * The server forgot a picture; the browser still has the file.
   * @param {string[]} modalities
   */
  async function restage(modalities) {
    const files = new Map();
    for (const m of modalities) {
      const source = state.sources[m];
      if (source && source.file) files.set(source.file, source.slot);
    }
    for (const [file, slot] of files) {
      const answer = await stage(lens, slot, file);
      if (answer.error) return false;
      place(slot, answer, file);
    }
    return files.size > 0;
  }

  return {
    take,
    restage,
    toggle,
    useExample: (/** @type {string} */ name) => open(name, null),
    useRecord: (/** @type {string} */ id) => open(null, id),
    chooseFit: (/** @type {string} */ fit) => { update({ fit }); analyse(); },
  };
}
