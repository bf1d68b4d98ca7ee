// What the notes say of their experiments beside what the lab saw, and whether the two agree.

/** @import { Note, Translator } from '../core/types.js' */
import { h } from '../core/dom.js';
import { rangeNumber } from '../core/numbers.js';
import { runKind } from './training_curves.js';

/**
 * @typedef {object} LabLine one experiment over its seeds
 * @property {string} name
 * @property {Note} words
 * @property {Note | null} notes
 * @property {number} seeds
 * @property {number | null} first
 * @property {number | null} last
 * @property {number | null} spread
 * @property {number | null} accuracy
 * @property {number | null} mAP
 * @property {number | null} gradient
 * @property {string[]} flagged
 * @property {'agrees' | 'contradicts' | '-'} verdict
 * @property {Note} said
 */

const COMPARED = 'final'; // every experiment is looked at beside it
const COLUMNS = ['experiment', 'notes', 'loss', 'accuracy', 'mAP', 'gradient', 'verdict', 'said'];
const NUMBERS = ['loss', 'accuracy', 'mAP', 'gradient'];
const digits = (value, count) => (value === null ? '–' : value.toFixed(count));
const ending = ({ last, spread }, i18n) => (last === null ? i18n.t('lab.nan') : `${digits(last, 1)} ± ${digits(spread, 2)}`);

/**
 * Names of the experiments whose result is not what the notes say.
 * @param {LabLine[]} lines
 */
export const contradicted = (lines) => lines.filter(({ verdict }) => verdict === 'contradicts').map(({ name }) => name);

/**
 * @param {LabLine[]} lines
 * @param {{ id: number, name: string }[]} runs
 * @param {Translator} i18n
 * @param {(names: string[]) => void} only shows these runs alone
 */
export function labTable(lines, runs, i18n, only) {
  const keyOf = (name) => {
    const run = runs.find((r) => r.name === `${name}-s0`);
    return run ? h(`i.lens-key-${runKind(run.id)}`) : null;
  };
  const names = (line) => [...new Set([line.name, COMPARED])];
  const seeds = Math.max(...lines.map((line) => line.seeds));
  const cell = (column, content) => h(`td${NUMBERS.includes(column) ? '.lens-number' : ''}`, {
    'data-column': i18n.t(`lab.column.${column}`), 'data-empty': content === '–',
  }, content);
  const row = (line) => h('tr', { 'data-lab': line.name, 'data-verdict': line.verdict },
    h('th', { scope: 'row' }, keyOf(line.name),
      h('button.lens-link', { type: 'button', title: i18n.t('lab.only'), onclick: () => only(names(line)) }, line.name),
      h('small', {}, i18n.sentence(line.words))),
    cell('notes', line.notes ? i18n.sentence(line.notes) : '–'),
    cell('loss', `${digits(line.first, 1)} → ${ending(line, i18n)}`),
    cell('accuracy', digits(line.accuracy, 2)),
    cell('mAP', digits(line.mAP, 3)),
    cell('gradient', line.gradient === null ? '–' : rangeNumber(line.gradient)),
    cell('verdict', line.verdict === '-' ? '–' : h(`b.lens-verdict-${line.verdict}`, {}, i18n.t(`lab.${line.verdict}`))),
    cell('said', i18n.sentence(line.said)));
  const against = contradicted(lines);
  return [
    h('h2', {}, i18n.t('lab.title')),
    h('p.lens-intro', {}, i18n.t('lab.intro', { seeds }),
      against.length ? h('b', { 'data-contradicted': against.join(' ') }, ` ${i18n.t('lab.against', { names: against.join(', ') })}`) : null),
    h('div.lens-scroll', {}, h('table.lens-lab-table', {},
      h('thead', {}, h('tr', {}, ...COLUMNS.map((name) => h('th', { scope: 'col' }, i18n.t(`lab.column.${name}`))))),
      h('tbody', {}, ...lines.map(row)))),
    h('p', {}, h('button.lens-button', { type: 'button', onclick: () => only([]) }, i18n.t('lab.all'))),
  ];
}
