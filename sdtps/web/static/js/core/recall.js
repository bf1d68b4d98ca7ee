// What the reader brought, shown again: a bundle, or the pictures that this browser kept over a reload.

/** @import { Config, LensStore, Server, Settings } from './types.js' */
import { unmet } from './link.js';
import { makeUploads, newOwnId } from './uploads.js';

/**
 * @param {{ config: Config, server: Server, store: LensStore }} lens
 * @param {Record<string, any>} given what the session can do
 */
export function makeRecall({ config, server, store }, given) {
  const { state, update } = store;
  const uploads = makeUploads(store);

  /** @param {File} file */
  async function openBundle(file, own = newOwnId()) {
    const answer = await server.stage(file, 'bundle');
    if (!answer.error) await given.showBundle(/** @type {any} */ (answer), file, own);
    return answer;
  }

  /**
   * The reader's own pictures, which this browser may still have.
   * @param {string} own
   * @param {{ leaveOut: string[], settings: Settings }} link
   */
  async function recall(own, { leaveOut, settings }) {
    update({ busy: true });
    const files = await uploads.recall(own);
    update({ busy: false });
    if (!files) {
      if (config.examples.length) given.useExample(config.examples[0].name);
      else update({ own: null });
      given.complain([...state.failures, { zone: null, note: unmet('link.own') }]);
    } else if (files[0].slot === 'bundle') {
      const answer = await openBundle(files[0].file, own);
      if (answer.error) given.complain([{ zone: null, note: answer.error }]);
      else given.changeSettings(settings);
    } else {
      await given.retake(files, own, leaveOut);
    }
  }

  return { openBundle, recall };
}
