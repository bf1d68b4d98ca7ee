// What a slider's value means for the analysis on screen, in words.

/** @import { Analysis, Translator, Variant } from '../core/types.js' */
import { absentKey } from '../core/analysis.js';

function tokens({ counts, notes, weights }, i18n) {
  if (counts.tokens === null) return i18n.t(absentKey({ weights }));
  const clamped = notes.find((note) => note.code === 'aggregation.clamped');
  if (clamped) return i18n.t('means.clamped', { n: counts.tokens, asked: clamped.values.asked });
  return i18n.t(counts.tokens ? 'means.tokens' : 'means.none', { n: counts.tokens });
}

function mixture({ mix, modalities }, i18n) {
  const values = { p: mix.predictor.toFixed(2), s: mix.self.toFixed(2), c: mix.cross.toFixed(2) };
  return i18n.t(modalities.rgb.maps.predictor ? 'means.mix' : 'means.maps', values);
}

function weighed({ counts, modalities }, i18n) {
  const { effective, weight_range: [low, high] } = modalities.rgb;
  return i18n.t('means.soft', { n: counts.patches, e: effective.toFixed(0), low: low.toFixed(2), high: high.toFixed(2) });
}

// A knob says what its value does; the words of a selector of one's own stand in where there is no text.
function knobMeaning(knob, value, { counts }, i18n) {
  const exact = `means.${knob.name}.${value}`;
  const key = i18n.has(exact) ? exact : `means.${knob.name}`;
  return i18n.has(key) ? i18n.t(key, { n: Math.floor(counts.patches * value), all: counts.patches }) : knob.words;
}

// Why a slider does nothing.
const unread = (name, { mix }, i18n) => i18n.t(name === 'beta' && mix.cosines ? 'means.cosines' : 'means.not_read');

/**
 * @param {string} name of the slider
 * @param {Analysis} analysis
 * @param {Translator} i18n
 * @param {Variant} [variant] what is selected with
 * @returns {string}
 */
export function meaningOf(name, analysis, i18n, variant) {
  const knob = variant && variant.knobs.find((k) => k.name === name);
  if (knob) return knobMeaning(knob, analysis.settings.knobs?.[name] ?? knob.default, analysis, i18n);
  if (variant && !variant.reads.includes(name)) return unread(name, analysis, i18n);
  if (name === 'sparse_ratio' && analysis.modalities.rgb.weight_range) return weighed(analysis, i18n);
  if (name === 'aggr_ratio') return tokens(analysis, i18n);
  if (name === 'beta') return mixture(analysis, i18n);
  const { kept, patches } = analysis.counts;
  return i18n.t(`means.${name}`, { kept, n: patches });
}
