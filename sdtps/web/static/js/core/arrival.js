// What a link asks for → what the page does: at the start, and when Back or Forward lead to another entry.

/** @import { Analysis, Lens, Note } from './types.js' */
import { FIRST_VIEW, readLink, unmet } from './link.js';
import { currentModel, possibleVariant } from './models.js';

/** @typedef {ReturnType<typeof readLink>} Link */

/**
 * The patch and the token of a link, where the picture has them.
 * @param {Link} link
 * @param {Analysis} analysis
 */
export function inReach({ pinned, token }, { grid, counts }) {
  const patch = pinned && pinned.patch < grid.rows * grid.cols ? pinned : null;
  const there = token !== null && token < (counts.tokens || 0) ? token : null;
  return { patch, token: there, missing: patch !== pinned || there !== token };
}

// What decides whether the pictures themselves must be asked for.
function setOf({ example, record, own, fit }, leaveOut, weights, variant) {
  return JSON.stringify([example, record, own, fit, [...leaveOut].sort(), weights, variant]);
}

/**
 * @param {Lens} lens
 * @param {{ hasView: (id: string) => boolean, pin: (patch: number | null, modality?: any) => void,
 *   chooseToken: (token: number | null) => void, openRecorded: ((where: any) => void) | null, compareWith: (query: string | null) => void }} page
 */
export function makeArrival({ config, session, store }, page) {
  const { state, update } = store;
  let awaited = /** @type {Link | null} */ (null); // whose pictures are on their way

  // The same pictures through the same weights: then only the sliders differ.
  const sameSet = (link) => state.analysis !== null && !state.recorded && !link.recorded
    && setOf(link, link.leaveOut, link.wanted || config.models[0].id, link.settings.variant)
      === setOf(state, state.leaveOut, state.weights, state.settings.variant);

  function openSet(link) {
    const other = link.wanted && link.wanted !== state.weights;
    if (other) session.chooseModel(link.wanted);
    else if (link.recorded && page.openRecorded) page.openRecorded(link.recorded);
    else if (!link.own) session.analyse();
    if (link.own) session.recall(link.own, link);
  }

  /**
   * The patch and the token can only be taken in hand once there are pictures.
   * @param {Link} link
   */
  function takeInHand(link) {
    const { analysis } = state;
    if (!analysis) return;
    const { patch, token, missing } = inReach(link, analysis);
    page.pin(patch && patch.patch, patch ? patch.modality : undefined);
    if (token !== state.token) page.chooseToken(token);
    if (missing) say([unmet('link.patch')]);
  }

  /** @param {Note[]} notes */
  const say = (notes) => session.complain([...state.failures, ...notes.map((note) => ({ zone: null, note }))]);

  /**
   * @param {Link} link
   * @param {boolean} whole the set itself must be opened
   */
  function settle(link, whole) {
    if (link.view && !page.hasView(link.view)) link.missed.push(unmet('link.view', { name: link.view }));
    else update({ view: link.view || FIRST_VIEW });
    if (link.missed.length) say(link.missed);
    if (whole) awaited = link;
    else takeInHand(link);
    if (link.against !== state.against) page.compareWith(link.against);
  }

  /** @param {Link} link the one that the page was opened with */
  function start(link) {
    if (link.settings.variant !== state.settings.variant) {
      link.missed.push(unmet('link.variant', { name: link.settings.variant, used: state.settings.variant }));
    }
    openSet(link);
    settle(link, true);
  }

  /** @param {string} search of the address that Back or Forward led to */
  function arrive(search) {
    const link = readLink(config, search);
    const whole = !sameSet(link);
    update({ display: link.display, failures: [] });
    if (!whole) {
      session.changeSettings(link.settings);
    } else {
      const wanted = link.wanted || config.models[0].id;
      const variant = possibleVariant(currentModel(state), link.settings.variant, config);
      if (!link.own) session.nameSources(link);
      update({ settings: { ...link.settings, variant }, fit: link.fit, leaveOut: new Set(link.leaveOut) });
      openSet({ ...link, wanted });
    }
    settle(link, whole);
  }

  store.subscribe(['analysis'], () => {
    if (!awaited) return;
    const link = awaited;
    awaited = null;
    takeInHand(link);
  });
  return { start, arrive };
}
