// Another set through the model, beside the one on screen: A of a comparison that came by link.

/** @import { Analysis, Lens, Settings } from './types.js' */
import { loadPhotos, unpackAnalysis } from './analysis.js';
import { readLink } from './link.js';
import { picturesOf, sourcesOf } from './pictures.js';

/** @typedef {{ key: string, settings: Settings, analysis: Analysis, from: Record<string, any> }} Beside */

/**
 * @param {Lens} lens
 * @param {string} query of a link
 * @returns {Promise<Beside | null>} null where it cannot be opened
 */
export async function openBeside({ config, server }, query) {
  const { example, record, leaveOut, fit, settings, wanted, missed } = readLink(config, query);
  if (missed.length) return null;
  const weights = wanted || config.models[0].id;
  const card = await server.ask('weights.card', { id: weights });
  if (card.error) return null;
  const answer = await server.analyse({
    pictures: picturesOf(sourcesOf({ example, record })), leave_out: leaveOut, fit, weights, settings, matrix: false,
  });
  if (answer.error) return null;
  const analysis = await loadPhotos(unpackAnalysis(answer, null));
  return { key: answer.key, settings: { ...analysis.settings }, analysis, from: { example, record, recorded: null } };
}
