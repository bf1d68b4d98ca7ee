// The reader's own pictures: handed to the server, kept as files here, handed over again when it forgot them.

/** @import { Config, Failure, LensStore, Model, Note, Server, State } from './types.js' */
import { fillTemplate } from './i18n.js';
import { byModality } from './modalities.js';
import { currentModel } from './models.js';
import { newOwnId } from './uploads.js';

const TOO_MANY = 'An image set has three pictures; files left over: {n}.';
const WIDE = 2; // times the shape of one picture: then it may hold three

// Hand a file over, unless the server would refuse it anyway.
async function stage({ config, server }, slot, file) {
  const limit = config.max_bytes;
  if (file.size <= limit) return server.stage(file, slot);
  const values = { megabytes: file.size / 2 ** 20, limit: limit / 2 ** 20 };
  const text = fillTemplate('The file has {megabytes:.1f} MB; the limit is {limit} MB.', values);
  return { error: { code: 'input.too_big', values, text } };
}

/**
 * A picture in one slot that is so wide that it may hold all three.
 * @param {string} slot
 * @param {File} file
 * @param {Record<string, any>} answer
 * @param {Model | undefined} model
 */
export function wideOf(slot, file, answer, model) {
  const size = answer.pictures[slot]?.size;
  if (!size || !model || !model.grid) return null;
  const shape = model.grid.cols / model.grid.rows;
  return size[1] / size[0] >= WIDE * shape ? { slot, file, size } : null;
}

const tooMany = (n) => ({ zone: null, note: { code: 'input.many', values: { n }, text: fillTemplate(TOO_MANY, { n }) } });

/**
 * @param {{ config: Config, server: Server, store: LensStore }} lens
 * @param {() => void} analyse
 * @param {(failures: Failure[]) => void} complain
 */
export function makeOwnPictures(lens, analyse, complain) {
  const { state, update } = lens.store;

  // An upload replaces an example or a record as a whole: pictures of two people in one set would mislead.
  function place(slot, answer, file) {
    const previous = state.example === null && state.record === null ? state.sources : {};
    const sources = { rgb: null, nir: null, tir: null, ...previous };
    const leaveOut = new Set(state.leaveOut);
    for (const [m, picture] of Object.entries(answer.pictures)) {
      sources[m] = { token: picture.token, preview: picture.preview, file, slot };
      leaveOut.delete(m);
    }
    update({ example: null, record: null, own: state.own || newOwnId(), sources, leaveOut });
  }

  /**
   * Files by the slot they are for.
   * @param {Record<string, File>} files
   * @param {(slot: string, busy: boolean) => void} onBusy
   * @param {{ told: State['told'], left: number }} [how] they were told apart
   */
  async function take(files, onBusy, { told, left } = { told: null, left: 0 }) {
    const failures = /** @type {Failure[]} */ (left ? [tooMany(left)] : []);
    let placed = false;
    let wide = /** @type {State['wide']} */ (null);
    for (const [slot, file] of Object.entries(files)) {
      onBusy(slot, true);
      const answer = await stage(lens, slot, file);
      onBusy(slot, false);
      if (answer.error) {
        failures.push({ zone: slot, note: /** @type {Note} */ (answer.error) });
        continue;
      }
      place(slot, answer, file);
      placed = true;
      wide = wideOf(slot, file, answer, currentModel(state));
    }
    complain(failures);
    update({ told: placed ? told : state.told, wide: Object.keys(files).length === 1 ? wide : null });
    if (placed) analyse();
  }

  /**
   * The reader's own pictures once more, after a reload or on the way back.
   * @param {{ slot: string, file: File }[]} files
   * @param {string} own
   * @param {string[]} leaveOut
   */
  async function retake(files, own, leaveOut) {
    update({ example: null, record: null, own, sources: byModality(() => null), told: null, wide: null });
    for (const { slot, file } of files) {
      const answer = await stage(lens, slot, file);
      if (answer.error) complain([{ zone: slot, note: /** @type {Note} */ (answer.error) }]);
      else place(slot, answer, file);
    }
    update({ leaveOut: new Set(leaveOut) });
    analyse();
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

  const splitWide = () => { if (state.wide) take({ wide: state.wide.file }, () => {}); };
  return { take, retake, restage, splitWide };
}
