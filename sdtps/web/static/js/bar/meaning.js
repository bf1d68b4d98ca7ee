// What a slider's value means for the analysis on screen, in words.

/** @import { Analysis, Translator } from '../core/types.js' */

function tokens({ counts, notes }, i18n) {
  if (counts.tokens === null) return i18n.t('absent');
  const clamped = notes.find((note) => note.code === 'aggregation.clamped');
  if (clamped) return i18n.t('means.clamped', { n: counts.tokens, asked: clamped.values.asked });
  return i18n.t(counts.tokens ? 'means.tokens' : 'means.none', { n: counts.tokens });
}

function mixture({ mix, modalities }, i18n) {
  if (mix.cosines) return i18n.t('means.cosines');
  const values = { p: mix.predictor.toFixed(2), s: mix.self.toFixed(2), c: mix.cross.toFixed(2) };
  return i18n.t(modalities.rgb.maps.predictor ? 'means.mix' : 'means.maps', values);
}

/**
 * @param {string} name of the slider
 * @param {Analysis} analysis
 * @param {Translator} i18n
 * @returns {string}
 */
export function meaningOf(name, analysis, i18n) {
  if (name === 'aggr_ratio') return tokens(analysis, i18n);
  if (name === 'beta') return mixture(analysis, i18n);
  const { kept, patches } = analysis.counts;
  return i18n.t(`means.${name}`, { kept, n: patches });
}
