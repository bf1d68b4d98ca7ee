// Where the seven combinations of modalities look (HDM): one is chosen, three small maps show the attention of its token.

/** @import { Analysis, Display, Translator } from '../core/types.js' */
import { unpack } from '../core/bytes.js';
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { rangeNumber } from '../core/numbers.js';
import { miniMap, miniWidth, numberedBar } from '../grid/minimap.js';
import { photoLook } from '../grid/paint.js';

const percent = (share) => `${Math.round(share * 100)} %`;

/**
 * The combination that speaks most, by its expert's weight; the one of all modalities without experts.
 * @param {Analysis} analysis
 */
export function loudest({ combinations = [], fusion = {} }) {
  const { experts } = fusion;
  return experts ? experts.indexOf(Math.max(...experts)) : combinations.length - 1;
}

/**
 * @param {Analysis} analysis
 * @param {number} chosen
 * @param {{ display: Display, table: Uint8Array, i18n: Translator, choose: (index: number) => void }} ways
 */
export function combinationsOf(analysis, chosen, { display, table, i18n, choose }) {
  const { combinations = [], grid, fusion = {} } = analysis;
  const one = combinations[chosen];
  if (!one) return [];
  const button = ({ name }, i) => h('button', {
    type: 'button', 'data-combination': name, 'aria-pressed': String(i === chosen), onclick: () => choose(i),
  }, name);
  const range = /** @type {[number, number]} */ ([0, one.max]);
  const picture = (m) => miniMap(grid, miniWidth(grid, 58, 64), {
    ...photoLook(analysis.modalities[m], display),
    ...(one.maps[m] ? { values: unpack(one.maps[m], Float32Array), range, table } : { mask: new Uint8Array(grid.rows * grid.cols) }),
    caption: `${m.toUpperCase()} ${one.shares[m] === undefined ? '–' : percent(one.shares[m])}`,
    label: `${one.name}, ${m.toUpperCase()}`, data: { looks: one.name, modality: m },
  });
  const weight = fusion.experts ? ` ${i18n.t('fusion.speaks', { weight: fusion.experts[chosen].toFixed(3) })}` : '';
  return [
    h('p', {}, i18n.t('fusion.looks')),
    h('div.lens-segmented.lens-combinations', { role: 'group', 'aria-label': i18n.t('fusion.looks') }, ...combinations.map(button)),
    h('p', { 'data-looks-said': one.name }, `${one.name}:${weight} ${i18n.t('fusion.globals', { share: percent(one.globals) })}`),
    h('div.lens-minis', {}, ...MODALITIES.map(picture)),
    numberedBar(table, '0', rangeNumber(one.max)),
  ];
}
