// The story of Gumbel and the decision matrix in five notes, told with the numbers of the triplet on screen.

/** @import { Analysis, Translator } from '../core/types.js' */
import { h } from '../core/dom.js';
import { orDash } from '../core/numbers.js';

/** @param {number | null} value */
export const power = (value) => (value === 0 ? '0' : value === null ? '–' : value.toExponential(1).replace('e+', 'e'));
const times = (value) => (Number.isFinite(value) ? (value >= 1e4 ? power(value) : String(Number(value.toPrecision(2)))) : '–');

/**
 * The flow of one route in an answer.
 * @param {Record<string, any>} found
 * @param {string} key
 * @param {boolean} [cut]
 */
export const flowOf = (found, key, cut = false) => found.flows.find((flow) => flow.route.key === key && flow.detached === cut);

const TOLD = ['final', 'importance', 'gumbel-tau1', 'gumbel-tau5']; // the routes that the story is about

/**
 * Why the story cannot be told with these weights; null where it can.
 * @param {Record<string, any>} found
 */
export const lackingOf = (found) => TOLD.map((key) => flowOf(found, key).lacking).find(Boolean) || null;

/** @returns {[string, Record<string, any>][]} */
function storyNotes(found, analysis) {
  const [final, importance, wild, calmer] = TOLD.map((key) => flowOf(found, key));
  const cut = flowOf(found, 'final', true);
  const { noise } = found;
  return [
    ['n0', { trials: noise.trials, changed: noise.changed }],
    ['n1', { kept: analysis.counts.kept + 1, tokens: (analysis.counts.tokens ?? 0) + 1 }],
    ['n2', { calm: power(final.norms.score), wild: power(wild.norms.score), factor: times(wild.norms.score / final.norms.score) }],
    ['n3', {
      free: power(final.norms.patches), cut: power(cut.norms.patches), globals: power(final.norms.globals), globals_cut: power(cut.norms.globals),
    }],
    ['n4', { factor: times(wild.norms.score / calmer.norms.score), direction: orDash(wild.direction, 2), agreement: orDash(wild.agreement, 2) }],
    ['means', {
      zeros: Math.round(final.zeros_kept * 100), soft: noise.soft_max.toFixed(3), uniform: noise.uniform.toFixed(4),
      factor: times(importance.norms.score / final.norms.score),
    }],
  ];
}

/**
 * @param {Record<string, any>} found
 * @param {Analysis} analysis
 * @param {Translator} i18n
 */
export function drawStory(found, analysis, i18n) {
  const lacking = lackingOf(found);
  if (lacking) return [h('p.lens-lacking', {}, i18n.sentence(lacking))];
  return storyNotes(found, analysis).map(([key, values]) => h('article.lens-note', { 'data-note': key },
    h('h3', {}, i18n.t(`story.${key}.title`)), h('p', {}, i18n.t(`story.${key}`, values))));
}
