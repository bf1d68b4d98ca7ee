// One panel of one modality: its canvas, caption and colour bar, and what is painted there.

/** @import { Analysis, Modality, Panel, State, Translator } from '../core/types.js' */
/** @import { Look } from './paint.js' */
import { keptMask } from '../core/analysis.js';
import { h, setAttribute, setText } from '../core/dom.js';
import { rangeNumber } from '../core/numbers.js';
import { paintPanel } from './paint.js';
import { tokenRow } from './tokens.js';

/** @typedef {Look & { signature: string, absent?: boolean }} CellLook */
/** @typedef {ReturnType<typeof makeCell>} Cell */

/**
 * @param {Modality} modality
 * @param {Panel} panel
 */
export function makeCell(modality, panel) {
  const canvas = h('canvas', { role: 'img', 'data-modality': modality, 'data-panel': panel.name, width: 8, height: 16 });
  const caption = h('span.lens-caption');
  const value = h('output.lens-value');
  const low = h('span');
  const high = h('span');
  const bar = h('div.lens-bar', {}, h('i.lens-mark'));
  const absent = h('div.lens-absent', { 'data-t': 'absent', hidden: true });
  const node = h(`figure.lens-cell${panel.what_if ? '.lens-tau' : ''}`, { 'data-panel': panel.name },
    h('figcaption', {}, h('span.lens-title', { 'data-t': `column.${panel.name}` }), caption, value),
    h('div.lens-stage', {}, canvas, h('div.lens-hair', { 'aria-hidden': 'true' }), absent),
    h('div.lens-scale', {}, bar, h('div.lens-ends', {}, low, high)));
  const painted = { signature: '', image: /** @type {HTMLImageElement | null | undefined} */ (undefined) };
  return { modality, panel, node, canvas, caption, value, low, high, bar, absent, painted, look: /** @type {CellLook | null} */ (null) };
}

/**
 * What a cell shows: its numbers, their range and its mask. Two looks with one signature and image look the same.
 * @param {{ modality: Modality, panel: Panel }} cell
 * @param {Analysis} analysis
 * @param {Pick<State, 'display' | 'token'>} state
 * @returns {CellLook}
 */
export function lookOf({ modality: name, panel }, analysis, { display, token }) {
  const modality = analysis.modalities[name];
  const { rows, cols } = analysis.grid;
  const look = /** @type {CellLook} */ ({ image: modality.image, rows, cols, signature: '' });
  if (panel.masked || panel.kind === 'kept') {
    const mask = keptMask(analysis, name);
    Object.assign(look, { mask, dropped: display.dropped, signature: mask.join('') + display.dropped });
  }
  if (panel.kind === 'kept' && modality.groups) {
    Object.assign(look, { groups: modality.groups, signature: look.signature + modality.groups.join('') });
  }
  if (panel.kind !== 'heat') return look;
  let values = modality.maps[panel.name];
  if (!values) return { ...look, absent: true };
  let range = (display.scale === 'shared' ? analysis.ranges : modality.ranges)[panel.name];
  let packed = modality.packed[panel.name];
  if (panel.tokens && token !== null && modality.matrix) {
    ({ values, range } = tokenRow(modality.matrix, token, values.length, display.scale, analysis));
    packed = values.join();
  }
  look.signature += packed + range.join() + display.opacity + display.smooth + display.colormap;
  return { ...look, values, range, opacity: display.opacity, smooth: display.smooth === 'smooth' };
}

/**
 * @param {Cell} cell
 * @param {Analysis} analysis
 * @param {State} state
 * @param {Record<string, Uint8Array>} tables
 * @param {Translator} i18n
 */
export function paintCell(cell, analysis, state, tables, i18n) {
  const look = lookOf(cell, analysis, state);
  const ends = look.values && look.range ? look.range.map(rangeNumber) : null;
  cell.look = look;
  cell.absent.hidden = !look.absent;
  cell.node.classList.toggle('lens-no-scale', !ends);
  setText(cell.low, ends ? ends[0] : '');
  setText(cell.high, ends ? ends[1] : '');
  setText(cell.caption, captionOf(cell, analysis, state.token, i18n));
  setAttribute(cell.canvas, 'aria-label', labelOf(cell, look, ends, i18n));
  if (look.signature === cell.painted.signature && look.image === cell.painted.image) return;
  cell.painted = { signature: look.signature, image: look.image };
  paintPanel(cell.canvas, { ...look, table: tables[state.display.colormap] });
}

/**
 * @param {{ modality: Modality, panel: Panel }} cell
 * @param {Analysis} analysis
 * @param {number | null} token
 * @param {Translator} i18n
 */
export function captionOf({ modality: name, panel }, analysis, token, i18n) {
  const { missing, others, cut, kept, effective } = analysis.modalities[name];
  const { counts, settings } = analysis;
  if (panel.kind === 'photo') return missing ? i18n.t('missing') : '';
  if (panel.other !== null) return `← ${others[panel.other].toUpperCase()}`;
  if (panel.tokens) {
    if (counts.tokens === null) return '';
    return token === null ? i18n.t('tokens.short', { n: counts.tokens }) : i18n.t('token.short', { n: token + 1 });
  }
  const key = `caption.${panel.name}`;
  if (!i18n.has(key)) return '';
  const values = { ...settings, ...counts, kept: kept ?? counts.kept, effective: Math.round(effective) };
  const caption = i18n.t(key, cut === null ? values : { ...values, cut: rangeNumber(cut) });
  return caption.includes('{') ? '' : caption; // a number that this selector does not have
}

function labelOf({ modality, panel }, look, ends, i18n) {
  const name = `${modality.toUpperCase()}, ${i18n.t(`column.${panel.name}`)}`;
  if (look.absent) return `${name}: ${i18n.t('absent')}`;
  return ends ? `${name}, ${i18n.t('range', { low: ends[0], high: ends[1] })}` : name;
}
