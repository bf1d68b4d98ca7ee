// One panel of one modality: its canvas, caption and colour bar, and what is painted there.

/** @import { Analysis, Modality, Panel, State, Translator } from '../core/types.js' */
/** @import { Look } from './paint.js' */
import { absentKey, keptMask } from '../core/analysis.js';
import { h, setAttribute, setText } from '../core/dom.js';
import { rangeNumber } from '../core/numbers.js';
import { paintPanel, photoLook } from './paint.js';
import { tokenRow } from './tokens.js';

/** @typedef {Look & { signature: string, absent?: boolean, cut?: number | null }} CellLook */
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
  const threshold = h('i.lens-threshold', { 'data-t-title': 'threshold', hidden: true });
  const bar = h('div.lens-bar', {}, threshold, h('i.lens-mark'));
  const absent = h('div.lens-absent', { hidden: true });
  const node = h(`figure.lens-cell${panel.what_if ? '.lens-tau' : ''}`, { 'data-panel': panel.name },
    h('figcaption', {}, h('span.lens-title', { 'data-t': `column.${panel.name}` }), caption, value),
    h('div.lens-stage', {}, canvas, h('div.lens-hair', { 'aria-hidden': 'true' }), absent),
    h('div.lens-scale', {}, bar, h('div.lens-ends', {}, low, high)));
  const painted = { signature: '', image: /** @type {HTMLImageElement | null | undefined} */ (undefined) };
  return { modality, panel, node, canvas, caption, value, low, high, bar, threshold, absent, painted, look: /** @type {CellLook | null} */ (null) };
}

/**
 * What a cell shows: its numbers, their range and its mask. Two looks with one signature and image look the same.
 * @param {{ modality: Modality, panel: Panel }} cell
 * @param {Analysis} analysis
 * @param {Pick<State, 'display' | 'token' | 'peeking'>} state
 * @returns {CellLook}
 */
export function lookOf({ modality: name, panel }, analysis, { display, token, peeking }) {
  const modality = analysis.modalities[name];
  const { rows, cols } = analysis.grid;
  const look = /** @type {CellLook} */ ({ ...photoLook(modality, display), rows, cols, signature: '' });
  if (peeking) return look;
  if (panel.masked || panel.kind === 'kept') {
    const mask = keptMask(analysis, name);
    Object.assign(look, { mask, dropped: display.dropped, signature: mask.join('') + display.dropped });
  }
  if (panel.kind === 'kept' && modality.groups) {
    Object.assign(look, { groups: modality.groups, signature: look.signature + modality.groups.join('') });
  }
  return panel.kind === 'heat' ? mapLook(look, { modality: name, panel }, analysis, { display, token }) : look;
}

// The map of a cell on top of what its photograph looks like.
function mapLook(look, { modality: name, panel }, analysis, { display, token }) {
  const modality = analysis.modalities[name];
  let values = modality.maps[panel.name];
  if (!values) return { ...look, absent: true };
  let range = (display.scale === 'shared' ? analysis.ranges : modality.ranges)[panel.name];
  let packed = modality.packed[panel.name];
  let flat = modality.flat[panel.name];
  if (panel.tokens && token !== null && modality.matrix) {
    ({ values, range } = tokenRow(modality.matrix, token, values.length, display.scale, analysis));
    packed = values.join();
    flat = false;
  }
  const hatched = modality.missing || comparesWithMissing(panel, name, analysis);
  const { over, opacity, smooth, colormap } = display;
  // On a bar for all maps a flat one has its true colour; stretched over a bar of its own it would show noise.
  return {
    ...look, values, range, hatched, flat: flat && display.scale !== 'shared', smooth: smooth === 'smooth',
    cut: panel.name === 'score' ? modality.cut : null,
    signature: look.signature + [packed, range, flat, hatched, over, opacity, smooth, colormap].join(),
  };
}

const isFlat = (panel, name, { modalities }, token) => modalities[name].flat[panel.name] && !(panel.tokens && token !== null);

function crossCaption(panel, name, analysis, i18n) {
  const other = i18n.t('caption.cross', { other: analysis.modalities[name].others[panel.other].toUpperCase() });
  return comparesWithMissing(panel, name, analysis) ? `${other}: ${i18n.t('missing')}` : other;
}

const comparesWithMissing = (panel, name, { modalities }) => (
  panel.other !== null && modalities[modalities[name].others[panel.other]].missing);

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
  setText(cell.absent, i18n.t(absentKey(analysis)));
  cell.node.classList.toggle('lens-no-scale', !ends);
  cell.node.classList.toggle('lens-flat', Boolean(look.flat));
  setText(cell.low, ends ? (look.flat ? i18n.t('flat.at', { value: ends[1] }) : ends[0]) : '');
  setText(cell.high, ends && !look.flat ? ends[1] : '');
  markThreshold(cell, look);
  setText(cell.caption, captionOf(cell, analysis, state.token, i18n));
  setAttribute(cell.canvas, 'aria-label', labelOf(cell, look, ends, analysis, i18n));
  if (look.signature === cell.painted.signature && look.image === cell.painted.image) return;
  cell.painted = { signature: look.signature, image: look.image };
  paintPanel(cell.canvas, { ...look, table: tables[state.display.colormap] });
}

/**
 * Where on the bar of the score the last kept patch stands.
 * @param {{ threshold: HTMLElement }} cell
 * @param {CellLook} look
 */
function markThreshold({ threshold }, { cut = null, range: [low, high] = [0, 0], flat }) {
  threshold.hidden = cut === null || high <= low || Boolean(flat);
  if (cut !== null && !threshold.hidden) threshold.style.setProperty('--at', String((cut - low) / (high - low)));
}

/**
 * @param {{ modality: Modality, panel: Panel }} cell
 * @param {Analysis} analysis
 * @param {number | null} token
 * @param {Translator} i18n
 */
export function captionOf({ modality: name, panel }, analysis, token, i18n) {
  const { missing, cut, kept, effective } = analysis.modalities[name];
  const { counts, settings } = analysis;
  if (panel.kind === 'photo') return missing ? i18n.t('missing') : '';
  if (panel.other !== null) return crossCaption(panel, name, analysis, i18n);
  if (isFlat(panel, name, analysis, token)) return i18n.t('flat');
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

function labelOf({ modality, panel }, look, ends, analysis, i18n) {
  const name = `${modality.toUpperCase()}, ${i18n.t(`column.${panel.name}`)}`;
  if (look.absent) return `${name}: ${i18n.t(absentKey(analysis))}`;
  return ends ? `${name}, ${i18n.t('range', { low: ends[0], high: ends[1] })}` : name;
}
