// What reaches the scores when the module trains: norms on a logarithmic scale, maps, and the story behind them.

/** @import { Lens } from '../core/types.js' */
import { h, segmented } from '../core/dom.js';
import { runJob } from '../core/jobs.js';
import { aboutShown } from '../core/questions.js';
import { afterwards } from '../core/requester.js';
import { computing, makeWork } from '../core/work.js';
import { chartLegend, dotChart, fitted } from './chart.js';
import { makeEffects } from './effects.js';
import { ROUTES, makeGradientMaps } from './gradient_maps.js';
import { drawStory, flowOf, power } from './story.js';

const GROUPS = ['score', 'predictor', 'patches', 'globals', 'aggregation']; // what a gradient is taken of
const DELAY = 400;
const CHART_HEIGHT = 152;

/**
 * Whole powers of ten around all norms; nothing when all are 0.
 * @param {number[]} norms
 * @returns {[number, number] | null}
 */
export function decadesOf(norms) {
  const positive = norms.filter((v) => v > 0);
  if (!positive.length) return null;
  return [10 ** Math.floor(Math.log10(Math.min(...positive))), 10 ** Math.ceil(Math.log10(Math.max(...positive)))];
}

function normsChart(data, cut, i18n) {
  const range = decadesOf(data.flows.flatMap((flow) => Object.values(flow.norms)));
  if (!range) return [];
  const dot = (group) => ({ key, kind }) => {
    const value = flowOf(data, key, cut).norms[group] ?? null;
    return { kind, value, text: `${i18n.t(`route.${key}`)}: ${value === null ? '–' : power(value)}` };
  };
  return [
    chartLegend(ROUTES.map(({ key, kind }) => ({ kind, name: i18n.t(`route.${key}`) }))),
    fitted(CHART_HEIGHT, (width) => dotChart({
      width, height: CHART_HEIGHT, label: i18n.t('gradient.norms'), title: i18n.t('gradient.norms'), range,
      rows: GROUPS.map((group) => ({ key: group, name: i18n.t(`gradient.${group}`), dots: ROUTES.map(dot(group)) })),
    })),
  ];
}

// One job at a time, for what is on screen; a newer question stops the older one.
function makeGradientJob(lens, onDone, work) {
  const { state } = lens.store;
  let asked = null; // what the newest job was started for
  let job = null;

  const about = () => JSON.stringify([state.key, state.analysis && state.analysis.settings]);

  async function run() {
    const mine = about();
    if (!state.analysis || !state.key || mine === asked) return;
    asked = mine;
    if (job) job.cancel();
    job = runJob(lens.server, 'why.gradients', aboutShown(lens), work.at);
    work.begin(lens.i18n.t('gradient.working'), job.cancel);
    const answer = await job.finished;
    if (asked !== mine) return;
    job = null;
    work.end();
    if (answer.cancelled || (answer.expired && answer.expired.length)) asked = null;
    if (!answer.cancelled && asked === null) lens.session.analyse();
    else onDone(answer, mine);
  }

  return { run, about };
}

/**
 * @param {Lens} lens
 * @param {{ seeTraining: (names: string[]) => void }} ways
 */
export function makeGradientsView(lens, { seeTraining }) {
  const { i18n, store } = lens;
  const { state } = store;
  const look = { source: 'triplet', cosines: 'free' };
  const work = makeWork(lens, { 'data-gradient-cancel': '' });
  const job = makeGradientJob(lens, done, work);
  const story = h('div.lens-story', {}, computing());
  const chart = h('div.lens-norms');
  const choices = h('div.lens-story');
  const maps = makeGradientMaps(lens);
  const effects = makeEffects(lens);
  const status = h('span.lens-status');
  const choice = (name, options) => segmented(`gradient.${name}`, options, look[name], (value) => { look[name] = value; draw(); }).node;
  const node = h('div.lens-split.lens-gradients', {}, story, h('section', { 'data-t-aria': 'view.gradients' },
    h('div.lens-toolbar', {}, choice('source', ['triplet', 'reference']), choice('cosines', ['free', 'cut']), work.node, status),
    chart, maps.node, choices));
  const run = () => { if (!node.hidden) job.run(); };
  const later = afterwards(run, DELAY);
  let found = null;

  function done(answer, about) {
    status.textContent = '';
    if (answer.cancelled) { status.textContent = i18n.t('faith.cancelled'); return; }
    found = answer.error ? { error: answer.error } : { ...answer.result, about };
    draw();
  }

  function draw() {
    const { analysis } = state;
    if (!found || !analysis) return;
    if (found.error) {
      story.replaceChildren(h('p.lens-hint', {}, i18n.sentence(found.error)));
      return;
    }
    story.replaceChildren(...drawStory(found.triplet, analysis, i18n));
    choices.replaceChildren(effects.ofRoutes(found.triplet, seeTraining));
    chart.replaceChildren(...normsChart(found[look.source], look.cosines === 'cut', i18n));
    maps.draw(analysis, found.triplet, look.cosines === 'cut');
    node.dataset.gradients = found.about;
  }

  function update(analysis) {
    if (found && !found.error) maps.draw(analysis, found.triplet, look.cosines === 'cut');
    if (found) later(); else run();
  }

  return { id: 'gradients', node, retranslate: draw, update, shown: () => effects.ready(draw) };
}
