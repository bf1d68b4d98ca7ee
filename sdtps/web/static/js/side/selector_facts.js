// What a selector and the fusion behind it say about the whole picture: who marked a patch, mixing weights, experts, gates.

/** @import { Analysis, Lens, Translator } from '../core/types.js' */
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { currentModel } from '../core/models.js';
import { combinationsOf, loudest } from './combinations.js';

const COMBINATIONS = ['R', 'N', 'T', 'RN', 'RT', 'NT', 'RNT'];
const GROUPS = [1, 2, 3, 4];

/**
 * @param {string[]} names
 * @param {number[]} values from 0 to 1
 * @param {string} kind
 */
function bars(names, values, kind) {
  const most = Math.max(...values, Number.EPSILON);
  return h('table.lens-bars', { 'data-fusion': kind }, h('tbody', {}, ...values.map((value, i) => h('tr', {},
    h('th', { scope: 'row' }, names[i] || String(i + 1)),
    h('td', {}, h('i', { style: `width:${(value / most) * 100}%` })),
    h('td', { 'data-value': value }, value.toFixed(3))))));
}

/** @param {Analysis} analysis */
function fusionOf({ fusion = {} }) {
  const names = MODALITIES.map((m) => m.toUpperCase());
  const found = [];
  if (fusion.experts) found.push(h('p', { 'data-t': 'fusion.experts' }), bars(COMBINATIONS, fusion.experts, 'experts'));
  for (const kind of ['gates', 'entropy_weights']) {
    if (fusion[kind] && fusion[kind].length === names.length) found.push(h('p', { 'data-t': `fusion.${kind}` }), bars(names, fusion[kind], kind));
  }
  return found;
}

/**
 * @param {Analysis} analysis
 * @param {Translator} i18n
 */
function groupsOf({ modalities }, i18n) {
  if (!modalities.rgb.groups) return [];
  const count = (m, group) => modalities[m].groups.reduce((sum, g) => sum + (g === group ? 1 : 0), 0);
  const rows = GROUPS.filter((group) => MODALITIES.some((m) => count(m, group))).map((group) => h('tr', { 'data-group': group },
    h('th', { scope: 'row' }, h(`i.lens-group-${group}`), i18n.t(`group.${group}`)), ...MODALITIES.map((m) => h('td', {}, String(count(m, group))))));
  const leak = MODALITIES.map((m) => modalities[m].numbers.leak);
  const lost = leak[0] === undefined ? [] : [h('tr', { 'data-group': 'leak' },
    h('th', { scope: 'row' }, i18n.t('group.leak')), ...leak.map((value) => h('td', {}, value.toFixed(2))))];
  return [h('table.lens-groups', {}, h('thead', {}, h('tr', {}, h('th'), ...MODALITIES.map((m) => h('th', {}, m.toUpperCase())))),
    h('tbody', {}, ...rows, ...lost))];
}

/** @param {Analysis} analysis */
function mixingOf({ modalities }, i18n) {
  if (!modalities.rgb.numbers || !modalities.rgb.numbers.mixing) return [];
  const head = ['self', 'cross1', 'cross2'].map((name) => h('th', {}, i18n.t(`column.${name}`)));
  const rows = MODALITIES.map((m) => h('tr', {}, h('th', { scope: 'row' }, m.toUpperCase()),
    ...modalities[m].numbers.mixing.map((value) => h('td', {}, value.toFixed(2)))));
  return [h('p', { 'data-t': 'mixing.title' }), h('table.lens-groups', {}, h('thead', {}, h('tr', {}, h('th'), ...head)), h('tbody', {}, ...rows))];
}

/** @param {Lens} lens */
export function makeSelectorFacts({ i18n, store, tables }) {
  const { state } = store;
  const node = h('section.lens-selector-facts', { hidden: true });
  let chosen = /** @type {number | null} */ (null); // a combination of modalities; the loudest until one is chosen

  function update() {
    const { analysis } = state;
    if (!analysis) return;
    const { report } = currentModel(state);
    const left = report && report.facts.not_run;
    const parts = [...groupsOf(analysis, i18n), ...mixingOf(analysis, i18n), ...fusionOf(analysis), ...looks(analysis)];
    if (left) parts.push(h('p.lens-hint', { 'data-not-run': '' }, i18n.t('feature.not_run', { parts: left.join(', ') })));
    node.hidden = !parts.length;
    node.replaceChildren(h('h2', { 'data-t': 'fusion.title' }), ...parts);
    i18n.apply(node);
  }

  const looks = (analysis) => combinationsOf(analysis, chosen ?? loudest(analysis), {
    display: state.display, table: tables[state.display.colormap], i18n, choose: (index) => { chosen = index; update(); },
  });

  store.subscribe(['analysis', 'language', 'display'], update);
  return { node };
}
