// The reader's own pictures outlive a reload: they are kept in this browser, under the id that the link names, until
// another set is opened. They go nowhere else.

/** @import { LensStore, State } from './types.js' */
import { afterwards } from './requester.js';

/** @typedef {{ slot: string, file: File }[]} Files */

const NAME = 'sdtps-lens';
const SETS = 'uploads';
const MOST = 4; // one per open tab is enough; what closed tabs left behind goes
const DELAY = 300;

const request = (asked) => new Promise((resolve, reject) => {
  asked.onsuccess = () => resolve(asked.result);
  asked.onerror = () => reject(asked.error);
});

// Private windows may forbid it; the pictures then last as long as the page.
async function withSets(mode, work) {
  try {
    const opening = indexedDB.open(NAME, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(SETS, { keyPath: 'id' });
    const database = await request(opening);
    try {
      return await work(database.transaction(SETS, mode).objectStore(SETS));
    } finally {
      database.close();
    }
  } catch {
    return null;
  }
}

/** A name for a set that nobody else has seen. */
export const newOwnId = () => Math.random().toString(36).slice(2, 12).padEnd(6, '0');

/**
 * The files behind the pictures, each once: a wide picture and a bundle hold several.
 * @param {State['sources']} sources
 * @returns {Files}
 */
export function filesOf(sources) {
  const files = new Map();
  for (const source of Object.values(sources)) if (source && source.file) files.set(source.file, source.slot || '');
  return [...files].map(([file, slot]) => ({ file, slot }));
}

// As bytes: private windows of WebKit keep no files.
const packed = async ({ file, slot }) => ({ slot, name: file.name, type: file.type, bytes: await file.arrayBuffer() });
const unpacked = ({ slot, name, type, bytes }) => ({ slot, file: new File([bytes], name, { type }) });

async function save(id, files) {
  const stored = await Promise.all(files.map(packed)).catch(() => null);
  if (!stored) return; // a file was moved away meanwhile
  await withSets('readwrite', async (sets) => {
    sets.put({ id, files: stored, at: Date.now() });
    const all = await request(sets.getAll());
    const old = all.filter((set) => set.id !== id).sort((a, b) => b.at - a.at).slice(MOST - 1);
    await Promise.all(old.map((set) => request(sets.delete(set.id))));
  });
}

/** @param {LensStore} store */
export function makeUploads({ state, subscribe }) {
  const memory = /** @type {Map<string, Files>} */ (new Map()); // Back leads to them as long as the page lives
  let kept = state.own;

  const keep = afterwards(async () => {
    const { own, sources } = state;
    const files = filesOf(sources);
    if (kept && kept !== own) await withSets('readwrite', (sets) => request(sets.delete(/** @type {string} */ (kept))));
    kept = own;
    if (!own || !files.length) return;
    memory.set(own, files);
    await save(own, files);
  }, DELAY);

  /**
   * @param {string} id
   * @returns {Promise<Files | null>}
   */
  async function recall(id) {
    const files = memory.get(id) || (await withSets('readonly', (sets) => request(sets.get(id))))?.files.map(unpacked);
    if (!files || !files.length) return null;
    memory.set(id, files); // the next set takes them out of the browser's store, and Back may still lead here
    return files;
  }

  subscribe(['own', 'sources'], keep);
  return { recall };
}
