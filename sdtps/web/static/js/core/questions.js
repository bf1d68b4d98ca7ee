// Questions about the analysis on screen, for the views that ask them.

/** @import { Answer, Lens } from './types.js' */

/**
 * What a question about the shown analysis names.
 * @param {Lens} lens
 * @param {object} [fields]
 */
export function aboutShown({ store: { state } }, fields = {}) {
  return { key: state.key, settings: state.analysis ? state.analysis.settings : state.settings, ...fields };
}

/**
 * One question about what is on screen. An open image set that the server has forgotten is sent again.
 * @param {Lens} lens
 * @param {string} task
 * @param {object} [fields]
 * @returns {Promise<Answer>}
 */
export async function askAbout(lens, task, fields = {}) {
  const answer = await lens.server.ask(task, aboutShown(lens, fields));
  if (answer.expired && answer.expired.length) lens.session.analyse();
  return answer;
}
