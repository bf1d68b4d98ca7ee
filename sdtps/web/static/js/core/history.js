// The address bar and the Back button: an entry for each image set, each tab and each slider position that was kept.

/** @import { Lens, State } from './types.js' */
import { linkTo } from './link.js';
import { afterwards } from './requester.js';

// Browsers limit how often the address may change, and a drag changes it sixty times a second.
const LINK_DELAY = 200;
const SETTLED = 700; // milliseconds without a move: the position before was meant
const PLACES = ['weights', 'fit', 'leaveOut', 'example', 'record', 'own', 'view', 'settings.variant', 'busy'];
const LOOKS = ['display', 'token', 'against'];

/**
 * What Back walks through: places are steps at once, positions once they settled.
 * @param {State} state
 */
export function stepOf({ example, record, own, view, weights, fit, leaveOut, recorded, settings }) {
  const { variant, ...position } = settings;
  const place = [example, record, own, view, weights, fit, [...leaveOut], recorded?.name, recorded?.probe, variant];
  return { place: JSON.stringify(place), position: JSON.stringify([position, recorded?.epoch]) };
}

/**
 * @param {ReturnType<typeof stepOf> | null} before what the newest entry holds; none when it was only arrived at
 * @param {ReturnType<typeof stepOf>} now
 * @param {boolean} settled the position before was meant, not passed
 */
export function addsEntry(before, now, settled) {
  if (!before) return false;
  return before.place !== now.place || (settled && before.position !== now.position);
}

/**
 * Whether a move begins another drag: `sinceLast` and `pressed` are milliseconds since the move before and since the
 * pointer went down, Infinity when it is up.
 * @param {number} sinceLast
 * @param {number} pressed
 */
export const beginsMove = (sinceLast, pressed) => sinceLast > SETTLED && !(Number.isFinite(pressed) && pressed > sinceLast);

// When the pointer went down, as long as it is.
function watchPointer() {
  let down = Infinity;
  window.addEventListener('pointerdown', () => { down = performance.now(); }, true);
  for (const end of ['pointerup', 'pointercancel']) window.addEventListener(end, () => { down = Infinity; }, true);
  return () => (down === Infinity ? Infinity : performance.now() - down);
}

/**
 * @param {Lens} lens
 * @param {(search: string) => void} arrive what an address asks for
 */
export function keepAddress({ config, session, store }, arrive) {
  if (config.sealed) return; // a file on disk has no address to share
  const { state } = store;
  const pressed = watchPointer();
  let newest = /** @type {ReturnType<typeof stepOf> | null} */ (null);
  let settled = false;
  let moved = -Infinity;
  let pinned = state.pointed.pinned;

  function saveNow() {
    if (state.busy) return; // a set that is refused never gets an entry
    const shown = session.linked();
    const href = linkTo(location.href, config, shown);
    const step = stepOf(shown);
    const add = addsEntry(newest, step, settled);
    newest = step;
    settled = false;
    if (href === location.href) return;
    if (add) history.pushState(null, '', href);
    else history.replaceState(history.state, '', href);
  }

  const save = afterwards(saveNow, LINK_DELAY);

  store.subscribe(['settings', 'recorded'], () => {
    const now = performance.now();
    if (beginsMove(now - moved, pressed())) settled = true;
    moved = now;
    save();
  });
  store.subscribe([...PLACES, ...LOOKS], save);
  store.subscribe(['analysis'], () => { if (!newest) saveNow(); }); // whoever is quick must still find the way back
  store.subscribe(['pointed'], () => { // hovering changes it, too
    if (state.pointed.pinned || pinned) save();
    pinned = state.pointed.pinned;
  });
  window.addEventListener('popstate', () => {
    newest = null;
    arrive(location.search);
  });
  save();
}
