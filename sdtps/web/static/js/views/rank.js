// The rank list: the nearest image sets of a gallery, three rows each, framed by whether they show the same identity.

/** @import { Answer, Lens, Note, Settings } from '../core/types.js' */
import { h } from '../core/dom.js';
import { runJob } from '../core/jobs.js';
import { latestWins } from '../core/requester.js';
import { makeMatchPanel } from './match.js';
import { makeRankColumns } from './rank_columns.js';
import { RANK_LENGTHS, makeRankHead, summaryOf } from './rank_head.js';

/** @typedef {{ done: number, total: number, settings: Settings }} Index features of a gallery */

/**
 * @typedef {object} RankState
 * @property {any[] | null} galleries
 * @property {string | null} for the image set that the galleries were asked for
 * @property {number} gallery
 * @property {number} length
 * @property {string | null} asked the newest question
 * @property {Answer & { request: { key: string, settings: Settings } } | null} list
 * @property {Note | null} error
 */

const RANK_SETTINGS = ['sparse_ratio', 'aggr_ratio', 'beta', 'variant']; // those that change a feature

/**
 * @param {Record<string, any>} a
 * @param {Record<string, any>} b
 */
export const sameSettings = (a, b) => RANK_SETTINGS.every((name) => a[name] === b[name]);

/**
 * The features made with the sliders' settings, or else the last ones that are complete; and what was begun.
 * @param {{ indexes: Index[] } | null} card
 * @param {Settings} settings
 */
export function indexesOf(card, settings) {
  if (!card) return { index: null, fits: false, partial: null };
  const whole = card.indexes.filter(({ done, total }) => done >= total);
  const index = whole.find((one) => sameSettings(one.settings, settings)) || whole[0] || null;
  const partial = card.indexes.find((one) => one.done < one.total && sameSettings(one.settings, settings)) || null;
  return { index, fits: index !== null && sameSettings(index.settings, settings), partial };
}

// Why there is no list, if there is none: heading and text.
function reasonOf({ error, galleries }, card, index, i18n) {
  if (error) return ['', i18n.sentence(error)];
  const reason = galleries && !galleries.length ? 'nodata' : card && !index ? 'noindex' : null;
  return reason && [i18n.t(`rank.${reason}.title`), i18n.t(`rank.${reason}.text`)];
}

// The two questions: which galleries there are, and who is nearest.
function makeQuestions({ server, session }, /** @type {RankState} */ shown, refresh, listCame) {
  const askGalleries = latestWins(
    (/** @type {string | null} */ key) => server.ask('rank.galleries', { key }),
    (answer, key, more) => {
      if (more) return;
      if (answer.expired && answer.expired.length) { session.analyse(); return; }
      Object.assign(shown, { error: answer.error || null, galleries: answer.galleries || null, for: key });
      refresh();
    },
  );
  const askList = latestWins(
    (/** @type {any} */ request) => server.ask('rank.list', request),
    async (answer, request, more) => {
      if (more || JSON.stringify(request) !== shown.asked) return; // another gallery was chosen since
      shown.error = answer.error || null;
      shown.list = answer.error ? null : { ...answer, request };
      await listCame();
    },
  );
  return { askGalleries, askList };
}

/** @param {Lens} lens */
export function makeRankView(lens) {
  const { i18n, server, store, session } = lens;
  const { state } = store;
  const shown = /** @type {RankState} */ ({
    galleries: null, for: null, gallery: 0, length: RANK_LENGTHS[0], asked: null, list: null, error: null,
  });
  let job = null;
  const head = makeRankHead(lens, shown, { refresh, runIndex, takeSettings, cancel: () => { if (job) job.cancel(); } });
  const columns = makeRankColumns(lens, shown, (error) => { shown.error = error; describe(); }, (item) => match.open(item, shown.list));
  const match = makeMatchPanel(lens);
  const empty = h('div.lens-rank-empty', { hidden: true }, h('h2'), h('p'));
  const node = h('div.lens-rank', {}, ...head.nodes, columns.node, match.node, empty);
  const { askGalleries, askList } = makeQuestions(lens, shown, refresh, () => { columns.forget(); match.close(); return draw(); });

  const chosen = () => (shown.galleries && shown.galleries[shown.gallery]) || null;
  const indexes = () => indexesOf(chosen(), state.analysis ? state.analysis.settings : state.settings);

  function refresh() {
    const { analysis } = state;
    if (!analysis || node.hidden) return;
    const other = shown.for !== analysis.key;
    columns.node.classList.toggle('lens-stale', other);
    if (other) askGalleries(analysis.key);
    else lookUp(analysis.key, indexes().index);
    describe();
  }

  function lookUp(key, index) {
    const request = index && { key, gallery: shown.gallery, length: shown.length, settings: index.settings };
    const text = index && JSON.stringify(request);
    if (index && text === shown.asked) return;
    shown.asked = text;
    if (index) {
      columns.node.classList.add('lens-stale');
      askList(request);
    } else {
      shown.list = null;
      draw();
    }
  }

  function describe() {
    const { index, fits, partial } = indexes();
    head.describe(chosen(), { index, fits, partial }, Boolean(job));
    head.sum(shown.list ? summaryOf(shown.list, i18n) : shown.galleries === null ? i18n.t('rank.looking') : '');
    const reason = reasonOf(shown, chosen(), index, i18n);
    empty.hidden = !reason;
    columns.node.hidden = !empty.hidden;
    (reason || []).forEach((text, i) => { empty.children[i].textContent = text; });
  }

  function draw() {
    describe();
    return columns.draw();
  }

  async function runIndex() {
    const { key, settings } = state.analysis || state;
    job = runJob(server, 'rank.index', { key, gallery: shown.gallery, settings }, head.progress);
    head.begin();
    describe();
    const answer = await job.finished;
    job = null;
    head.end();
    Object.assign(shown, { for: null, asked: null });
    refresh();
    shown.error = answer.error || null;
    describe();
  }

  function takeSettings() {
    const { index } = indexes();
    if (!index) return;
    const other = index.settings.variant !== state.settings.variant;
    session.changeSettings(index.settings);
    if (other) session.analyse();
  }

  return { id: 'rank', node, update: refresh, shown: refresh, retranslate() { if (!node.hidden) { draw(); match.retranslate(); } } };
}
