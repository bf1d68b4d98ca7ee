// Above the rank list: which gallery, how many, its features, and what the list says as a whole.

/** @import { Lens, Translator } from '../core/types.js' */
import { variantTitle } from '../bar/variant.js';
import { h, setText } from '../core/dom.js';
import { currentModel } from '../core/models.js';
import { makeWork } from '../core/work.js';
import { makeFigureSaver } from '../dialogs/saver.js';

export const RANK_LENGTHS = [10, 20, 50];

/**
 * @param {Record<string, any>} list
 * @param {Translator} i18n
 */
export function summaryOf(list, i18n) {
  const parts = [i18n.t('rank.searched', { n: list.searched })];
  if (list.left_out) parts.push(i18n.t(`rank.left.${list.apart}`, { n: list.left_out }));
  if (list.right === null) parts.push(i18n.t(list.comparable ? 'rank.nameless' : 'rank.stranger'));
  else parts.push(i18n.t(list.right < 2 ? `rank.right.${list.right}` : 'rank.right', { n: list.right }));
  if (list.right !== null && list.average_precision !== null) {
    parts.push(i18n.t('rank.precision', { ap: list.average_precision, first: list.first_right }));
  }
  return parts.join(' ');
}

/**
 * @param {Lens} lens
 * @param {Record<string, any>} shown
 * @param {{ refresh: () => void, runIndex: () => void, cancel: () => void, takeSettings: () => void }} actions
 */
export function makeRankHead(lens, shown, { refresh, runIndex, cancel, takeSettings }) {
  const { i18n } = lens;
  const menu = (name, options) => {
    const change = () => { shown[name] = Number(select.value); refresh(); };
    const select = h('select', { 'data-rank': name, 'data-t-aria': `rank.${name}`, onchange: change },
      ...options.map((n) => h('option', { value: n }, String(n))));
    return select;
  };
  const gallery = menu('gallery', []);
  const length = menu('length', RANK_LENGTHS);
  const button = (name, onclick, props) => h('button.lens-button', { type: 'button', 'data-rank': name, onclick, ...props });
  const index = button('index', runIndex, {});
  const work = makeWork(lens, { 'data-rank': 'cancel' });
  const use = button('use', takeSettings, { 'data-t': 'rank.use', hidden: true });
  const status = h('span.lens-rank-state');
  const saver = makeFigureSaver(lens, 'export.ranks', () => shown.list.request);
  const summary = h('p.lens-rank-summary');
  const feature = h('span.lens-hint', { 'data-rank': 'feature' });
  const labelled = (name, field) => h('label', {}, h('span.lens-key', { 'data-t': `rank.${name}` }), field);
  const node = h('div.lens-rank-head', {}, labelled('gallery', gallery), labelled('length', length), status, work.node, index, use, saver, feature);

  function indexText(card, { index: made, partial }) {
    if (partial) return i18n.t('rank.continue', { n: card.count, done: partial.done });
    return i18n.t(made ? 'rank.again' : 'rank.index', { n: card ? card.count : 0 });
  }

  // What is compared, and what the author's own test compared besides.
  function describeFeature() {
    const { report } = currentModel(lens.store.state);
    if (!report || !report.facts.feature) return;
    const left = report.facts.not_run;
    setText(feature, [i18n.t('feature.parts', { parts: report.facts.feature.join(' + ') }),
      left ? i18n.t('feature.not_run', { parts: left.join(', ') }) : ''].join(' '));
  }

  function describe(card, indexes, busy) {
    describeFeature();
    const { index: made, fits } = indexes;
    gallery.replaceChildren(...(shown.galleries || []).map((g, i) => h('option', {
      value: i, selected: i === shown.gallery,
    }, `${g.name} · ${g.split} (${g.count})`)));
    node.hidden = !card;
    index.hidden = busy || !card || fits;
    index.textContent = indexText(card, indexes);
    use.hidden = busy || !made || fits;
    saver.hidden = !shown.list;
    if (busy) return;
    const { sparse_ratio: sparse, aggr_ratio: aggr, beta, variant } = made ? made.settings : /** @type {any} */ ({});
    status.textContent = made && !fits ? i18n.t('rank.other', { sparse, aggr, beta, variant: variantTitle(variant, i18n) }) : '';
  }

  function progress(done, total) {
    work.at(done, total);
    if (total) work.say(i18n.t('rank.progress', { done, total }));
  }

  function begin() {
    status.textContent = '';
    work.begin(i18n.t('rank.indexing'), cancel);
  }

  function sum(text) {
    summary.hidden = text === '';
    if (summary.textContent === text) return;
    summary.textContent = text;
    lens.notice.say(text);
  }

  return { nodes: [node, summary], describe, progress, begin, end: () => work.end(), sum };
}
