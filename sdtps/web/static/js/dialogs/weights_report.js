// A report on weights as a page: facts, what was assumed, what is absent, and every tensor counted.

/** @import { Model, Settings, Translator } from '../core/types.js' */
import { h } from '../core/dom.js';

const FACTS = ['input_size', 'grid', 'channels', 'classes', 'cameras', 'rows', 'global_local', 'direct'];
const COUNTS = ['loaded', 'missing', 'unexpected', 'unused'];

function factText(value, i18n) {
  if (Array.isArray(value)) return value.join(' × ');
  if (typeof value === 'boolean') return i18n.t(value ? 'report.yes' : 'report.no');
  return value === 0 ? '–' : String(value);
}

function factsOf(report, card, i18n) {
  const rows = [['report.family', i18n.t(`family.${report.family}`)],
    ...FACTS.filter((name) => name in report.facts).map((name) => [`fact.${name}`, factText(report.facts[name], i18n)])];
  const { sparse_ratio: sparse, aggr_ratio: aggr, beta, tau } = report.settings;
  const trained = [['ρ', sparse], ['α', aggr], ['β', beta], ['τ', tau]].filter(([, value]) => value !== undefined);
  if (trained.length) rows.push(['fact.settings', trained.map(([symbol, value]) => `${symbol} ${value}`).join(', ')]);
  return h('dl.lens-weights-facts', {}, ...rows.map(([key, text]) => h('div', {}, h('dt', { 'data-t': key }), h('dd', {}, text))),
    h('div.lens-wide', {}, h('dt', {}, 'SHA-256'), h('dd', {}, h('code', {}, card.sha256))));
}

function tensorsOf(report) {
  const bad = (name, count) => count && (name === 'missing' || name === 'unexpected');
  const cell = (count, name) => h('td', { className: bad(name, count) ? 'lens-bad' : '' }, count ? String(count) : '–');
  return h('table.lens-tensors', {},
    h('thead', {}, h('tr', {}, h('th', { 'data-t': 'report.part' }), ...COUNTS.map((name) => h('th', { 'data-t': `report.${name}` })))),
    h('tbody', {}, ...report.groups.map((group) => h('tr', { 'data-group': group.name },
      h('th', { 'data-t': `part.${group.name}`, scope: 'row' }), ...COUNTS.map((name) => cell(group[name], name))))));
}

function namesOf(report, i18n) {
  return h('div', {}, ...['missing', 'unexpected'].filter((side) => report[side].count).map((side) => {
    const { first, count } = report[side];
    const more = count > first.length ? i18n.t('report.more', { n: count - first.length }) : '';
    return h('p.lens-names', {}, h('b', { 'data-t': `report.${side}` }), ` ${first.join(', ')}${more}`);
  }));
}

function absentOf(report, i18n) {
  const parts = report.absent.map((part) => i18n.t(`part.${part}`)).join(i18n.t('report.comma'));
  return h('p.lens-absent-note', {}, i18n.t('report.absent', { parts }));
}

/**
 * @param {Model} model
 * @param {Translator} i18n
 * @param {{ useSettings: (settings: Settings) => void, turn: () => void }} actions
 */
export function reportContent({ id, report, weights }, i18n, { useSettings, turn }) {
  if (!report) return [];
  const list = (key, notes) => [h('h3', { 'data-t': key }), h('ul', {}, ...notes.map((note) => h('li', {}, i18n.sentence(note))))];
  const button = (props) => h('button.lens-button', { type: 'button', ...props });
  return [
    factsOf(report, weights, i18n),
    ...(Object.keys(report.settings).length ? [button({
      'data-t': 'report.use', 'data-use': 'settings', onclick: () => useSettings(report.settings),
    })] : []),
    ...(report.absent.length ? [absentOf(report, i18n)] : []),
    ...(report.assumed.length ? list('report.assumed', report.assumed) : []),
    ...(report.can_turn ? [button({ 'data-turn': id, 'data-t': 'report.turn', onclick: turn })] : []),
    ...(report.notes.length ? list('notes.weights', report.notes) : []),
    ...(report.groups.length ? [h('h3', { 'data-t': 'report.tensors' }), tensorsOf(report), namesOf(report, i18n)] : []),
  ];
}
