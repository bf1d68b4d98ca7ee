// Epochs near the one on screen, asked for while the reader looks: the slider then shows them without waiting.

import { afterwards } from './requester.js';

const MOST = 24; // epochs ahead, of some 30 kB each
const QUIET = 120; // milliseconds without a move before anything is asked for

/** @typedef {{ run: number, epoch: number, probe: number, epochs?: number[] }} Near `epochs`: all that the run has, in order */

/** The nearest other epochs, nearest first. */
export function nearest(epochs, epoch) {
  const here = epochs.indexOf(epoch);
  const away = (e) => Math.abs(epochs.indexOf(e) - here);
  return epochs.filter((e) => e !== epoch).sort((a, b) => away(a) - away(b)).slice(0, MOST);
}

/**
 * @param {(request: any) => Promise<any>} call
 * @param {(where: Near) => any} requestOf what would be asked for an epoch, at the settings as they are
 */
export function makeEpochsAhead(call, requestOf) {
  const known = new Map(); // answers by what was asked
  let here = /** @type {Near | null} */ (null);
  const keyOf = (request) => JSON.stringify({ ...request, photos: false });

  async function fill() {
    const from = here;
    if (!from) return;
    const wanted = new Map(nearest(from.epochs ?? [], from.epoch).map((epoch) => {
      const request = requestOf({ ...from, epoch });
      return [keyOf(request), request];
    }));
    const current = keyOf(requestOf(from));
    for (const key of known.keys()) if (!wanted.has(key) && key !== current) known.delete(key);
    for (const [key, request] of wanted) {
      if (known.has(key)) continue;
      const answer = await call(request);
      if (!here || answer.error) return;
      known.set(key, answer);
      if (here !== from) return; // the reader moved on, and the next quiet moment goes on from there
    }
  }

  const later = afterwards(fill, QUIET);
  return {
    find: (/** @type {Near} */ where) => known.get(keyOf(requestOf(where))),
    /** The reader looks at this epoch. */
    from: (/** @type {Near | null} */ where) => { here = where; if (where) later(); else known.clear(); },
  };
}
