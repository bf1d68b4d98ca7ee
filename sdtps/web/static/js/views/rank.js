// The rank list: the nearest image sets of a gallery, three rows each, framed by whether they show the same identity.

/** @import { Lens, Settings } from '../core/types.js' */
import { h } from '../core/dom.js';
import { runJob } from '../core/jobs.js';
import { latestWins } from '../core/requester.js';
import { makeRankColumns } from './rank_columns.js';
import { RANK_LENGTHS, makeRankHead, summaryOf } from './rank_head.js';

const RANK_SETTINGS = ['sparse_ratio', 'aggr_ratio', 'beta', 'variant']; // those that change a feature

/**
 * @param {Record<string, any>} a
 * @param {Record<string, any>} b
 */
export const sameSettings = (a, b) => RANK_SETTINGS.every((name) => a[name] === b[name]);

/**
 * The features made with the sliders' settings, or else the last ones that are complete; and what was begun.
 * @param {{ indexes: { done: number, total: number, settings: Settings }[] } | null} card
 * @param {Settings} settings
 */
export function indexesOf(card, settings) {
  if (!card) return { index: null, fits: false, partial: null };
  const whole = card.indexes.filter(({ done, total }) => done >= total);
  const index = whole.find((one) => sameSettings(one.settings, settings)) || whole[0] || null;
  const partial = card.indexes.find((one) => one.done < one.total && sameSettings(one.settings, settings)) || null;
  return { index, fits: index !== null && sameSettings(index.settings, settings), partial };
}

/** @param {Lens} lens */
export function makeRankView(lens) {
  const { i18n, server, store, session } = lens;
  const { state } = store;
  const shown = { galleries: null, for: null, gallery: 0, length: RANK_LENGTHS[0], asked: null, list: null, error: null };
  let job = null;
  const head = makeRankHead(lens, shown, {
    refresh, runIndex, cancel: () => { if (job) job.cancel(); }, takeSettings, request: () => shown.list.request,
  });
  const columns = makeRankColumns(lens, shown, (error) => { shown.error = error; describe(); });
  const empty = h('div.lens-rank-empty', { hidden: true }, h('h2'), h('p'));
  const node = h('div.lens-rank', {}, ...head.nodes, columns.node, empty);

  const chosen = () => (shown.galleries && shown.galleries[shown.gallery]) || null;
  const chosenIndexes = () => indexesOf(chosen(), state.analysis ? state.analysis.settings : state.settings);

  const askGalleries = latestWins(
    (key) => server.ask('rank.galleries', { key }),
    (answer, key, more) => {
      if (more) return;
      if (answer.expired && answer.expired.length) { session.analyse(); return; }
      Object.assign(shown, { error: answer.error || null, galleries: answer.galleries || null, for: key });
      refresh();
    },
  );

  const askList = latestWins(
    (request) => server.ask('rank.list', request),
    async (answer, request, more) => {
      if (more) return;
      shown.error = answer.error || null;
      shown.list = answer.error ? null : { ...answer, request };
      columns.forget();
      await draw();
    },
  );

  function refresh() {
    const { analysis } = state;
    if (!analysis || node.hidden) return;
    columns.node.classList.toggle('lens-stale', shown.for !== analysis.key);
    if (shown.for !== analysis.key) {
      describe();
      askGalleries(analysis.key);
      return;
    }
    const { index } = chosenIndexes();
    if (index) {
      look({ key: analysis.key, gallery: shown.gallery, length: shown.length, settings: index.settings });
    } else {
      Object.assign(shown, { asked: null, list: null });
      draw();
    }
    describe();
  }

  function look(request) {
    const text = JSON.stringify(request);
    if (text === shown.asked) return;
    shown.asked = text;
    columns.node.classList.add('lens-stale');
    askList(request);
  }

  // Why there is no list, if there is none.
  function reasonOf(card, index) {
    if (shown.error) return 'error';
    if (shown.galleries && !shown.galleries.length) return 'nodata';
    return card && !index ? 'noindex' : null;
  }

  function describe() {
    const card = chosen();
    const indexes = chosenIndexes();
    head.describe(card, indexes, Boolean(job));
    head.sum(shown.list ? summaryOf(shown.list, i18n) : shown.galleries === null ? i18n.t('rank.looking') : '');
    const reason = reasonOf(card, indexes.index);
    empty.hidden = reason === null;
    columns.node.hidden = reason !== null;
    if (!reason) return;
    const [title, text] = reason === 'error' ? ['', i18n.sentence(shown.error)] : [i18n.t(`rank.${reason}.title`), i18n.t(`rank.${reason}.text`)];
    /** @type {Element} */ (empty.firstChild).textContent = title;
    /** @type {Element} */ (empty.lastChild).textContent = text;
  }

  async function draw() {
    describe();
    await columns.draw();
  }

  async function runIndex() {
    const { key, settings } = state.analysis;
    job = runJob(server, 'rank.index', { key, gallery: shown.gallery, settings }, head.progress);
    head.begin();
    describe();
    const answer = await job.finished;
    job = null;
    Object.assign(shown, { for: null, asked: null });
    refresh();
    shown.error = answer.error || null;
    describe();
  }

  function takeSettings() {
    const { settings } = chosenIndexes().index;
    const other = settings.variant !== state.settings.variant;
    session.changeSettings(settings);
    if (other) session.analyse();
  }

  return {
    id: 'rank', node, update: refresh, shown: refresh, retranslate() { if (!node.hidden) draw(); },
  };
}
