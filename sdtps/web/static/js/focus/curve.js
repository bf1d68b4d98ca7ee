// Scores from the best patch to the worst, with the cut.

/** @import { Analysis, Modality, Translator } from '../core/types.js' */
import { keptCount } from '../core/analysis.js';
import { rangeNumber } from '../core/numbers.js';
import { lineChart } from '../views/chart.js';

/**
 * Values in the order of their rank.
 * @param {ArrayLike<number>} values
 * @param {ArrayLike<number>} rank
 * @returns {{ sorted: number[], patches: number[] }} and which patch stands at each rank
 */
export function byRank(values, rank) {
  const patches = new Array(rank.length);
  for (let i = 0; i < rank.length; i += 1) patches[rank[i]] = i;
  return { sorted: patches.map((patch) => values[patch]), patches };
}

/**
 * @param {Analysis} analysis
 * @param {Modality} modality
 * @param {{ width: number, height: number }} size
 * @param {Translator} i18n
 * @param {(patch: number | null) => void} onPoint
 */
export function scoreCurve(analysis, modality, size, i18n, onPoint) {
  const { maps, rank, cut, ranges, weight_range: soft } = analysis.modalities[modality];
  if (!maps.score) return null;
  const { sorted, patches } = byRank(maps.score, rank);
  const kept = soft ? null : keptCount(analysis, modality);
  const key = kept === null ? 'focus.curve.soft' : 'focus.curve';
  const label = i18n.t(key, { modality: modality.toUpperCase(), kept, n: sorted.length, cut: cut === null ? '–' : rangeNumber(cut) });
  const node = lineChart({
    ...size,
    label,
    x: { values: sorted.map((_, i) => i + 1), range: [1, sorted.length], title: i18n.t('focus.rank') },
    y: { range: ranges.score, title: i18n.t('column.score') },
    series: [{ values: sorted, kind: modality }],
    now: kept,
    onPoint: (i) => onPoint(i === null ? null : patches[i]),
  });
  return { node, label };
}
