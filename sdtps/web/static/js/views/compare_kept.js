// A of a comparison: what was on screen when the reader kept it, or what a link names.

/** @import { Answer, Lens } from '../core/types.js' */
import { openBeside } from '../core/beside.js';
import { setQuery, unmet } from '../core/link.js';

/**
 * @param {Lens} lens
 * @param {() => void} onChange
 */
export function makeKept(lens, onChange) {
  const { config, session, store } = lens;
  const { state } = store;
  let kept = /** @type {import('../core/beside.js').Beside | null} */ (null);

  function hold(found) {
    kept = found;
    onChange();
  }

  function keepShown() {
    const { analysis, key, example, record, recorded } = state;
    if (!analysis || !key) return;
    hold({ key, settings: { ...analysis.settings }, analysis, from: { example, record, recorded } });
    store.update({ against: recorded ? null : setQuery(config, state) });
  }

  /** @param {string | null} query A as a link names it, or none */
  async function compareWith(query) {
    store.update({ against: query });
    const found = query === null ? null : await openBeside(lens, query);
    if (state.against !== query) return;
    if (query === null || found) {
      hold(found);
      return;
    }
    store.update({ against: null });
    session.complain([...state.failures, { zone: null, note: unmet('link.against') }]);
  }

  /**
   * A server that forgot A is given it once more, where a link could name it.
   * @param {Answer} answer
   */
  function again(answer) {
    if (!state.against || !answer.expired || !answer.expired.length) return false;
    compareWith(state.against);
    return true;
  }

  return { get now() { return kept; }, keepShown, compareWith, again };
}
