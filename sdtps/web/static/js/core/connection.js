// Whether the server is there. Who asks gets an answer as before; the page says once that it is gone, looks for it, and
// goes on when it is back.

/** @import { LensStore, Server } from './types.js' */
import { UNREACHABLE } from './server.js';

const FIRST_LOOK = 500;
const LAST_LOOK = 4000;

const pause = (milliseconds) => new Promise((resolve) => { setTimeout(resolve, milliseconds); });

/**
 * The same server, watched.
 * @param {Server} server
 * @param {LensStore} store
 * @param {(milliseconds: number) => Promise<void>} [wait]
 * @returns {Server}
 */
export function watchServer(server, { state, update }, wait = pause) {
  const { ping } = server;
  if (!ping) return server; // numbers in the page are never gone

  async function lookForIt(/** @type {() => Promise<boolean>} */ there) {
    update({ connected: false });
    for (let delay = FIRST_LOOK; ; delay = Math.min(LAST_LOOK, delay * 2)) {
      await wait(delay);
      if (await there()) break;
    }
    update({ connected: true });
  }

  const watched = (call) => async (...given) => {
    const answer = await call(...given);
    if (state.connected && answer.error && answer.error.code === UNREACHABLE.code) lookForIt(ping);
    return answer;
  };
  return /** @type {Server} */ ({ ping, ...Object.fromEntries(
    Object.entries(server).filter(([name]) => name !== 'ping').map(([name, call]) => [name, watched(call)]),
  ) });
}
