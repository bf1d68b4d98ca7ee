// Does the selection matter? A gallery retrieved with the choice of patches replaced, measured on request.

/** @import { Lens } from '../core/types.js' */
import { variantTitle } from '../bar/variant.js';
import { h } from '../core/dom.js';
import { askJob } from '../core/jobs.js';
import { currentModel } from '../core/models.js';
import { aboutShown } from '../core/questions.js';
import { makeWork } from '../core/work.js';
import { saveFile } from '../dialogs/saver.js';
import { mattersContent } from './matters_report.js';

const RATIOS = { own: [], three: [0.25, 0.5, 0.75], seven: [0.1, 0.2, 0.3, 0.4, 0.6, 0.8] };
const DRAWS = [3, 10, 30];
const KINDS = ['pdf', 'svg', 'csv', 'tex', 'json'];

/** @param {string | null} [text] */
const option = (value, props = {}, text = null) => h('option', { value, ...props }, text);

// What is tried: the gallery, further ratios, random draws, another variant.
function makeChoices(lens) {
  const select = (name, ...options) => h('select', { 'data-matters': name, 'data-t-aria': `matters.${name}` }, ...options);
  const fields = {
    gallery: select('gallery'),
    ratios: select('ratios', ...Object.keys(RATIOS).map((key) => option(key, { 'data-t': `matters.ratios.${key}`, selected: key === 'three' }))),
    draws: select('draws', ...DRAWS.map((n) => option(n, { selected: n === 10 }, String(n)))),
    variant: select('variant'),
  };
  const nodes = Object.entries(fields).map(([name, field]) => h('label', {}, h('span.lens-key', { 'data-t': `matters.${name}` }), field));

  function describe(galleries) {
    const chosen = Number(fields.gallery.value) || 0;
    fields.gallery.replaceChildren(...galleries.map((g, i) => option(i, { selected: i === chosen }, `${g.name} · ${g.split} (${g.count})`)));
    const { lacking } = currentModel(lens.store.state);
    const others = lens.config.variants.map(({ name }) => name)
      .filter((name) => !(lacking && lacking[name]) && name !== lens.store.state.settings.variant);
    const kept = fields.variant.value;
    const none = option('', { 'data-t': 'matters.variant.none' });
    fields.variant.replaceChildren(none, ...others.map((name) => option(name, { selected: name === kept }, variantTitle(name, lens.i18n))));
    lens.i18n.apply(fields.variant);
  }

  const asked = () => ({
    gallery: Number(fields.gallery.value) || 0, ratios: RATIOS[fields.ratios.value], draws: Number(fields.draws.value),
    variants: fields.variant.value ? [fields.variant.value] : [],
  });
  return { nodes, describe, asked };
}

// The report as files.
function makeTaker({ i18n, server, store }, report) {
  const told = (name) => (name === 'tex' ? 'LaTeX' : name.toUpperCase());
  const kind = h('select', { 'data-t-aria': 'export.format' }, ...KINDS.map((name) => option(name, {}, told(name))));
  const message = h('span.lens-hint');
  const button = h('button.lens-button', {
    type: 'button', 'data-t': 'matters.save', 'data-matters': 'save',
    onclick: async () => {
      button.disabled = true;
      const answer = await askJob(server, 'matters.file', { report: report().key, format: kind.value, language: store.state.language });
      button.disabled = false;
      message.textContent = answer.error ? i18n.sentence(answer.error) : '';
      if (answer.file) saveFile(answer.file);
    },
  });
  return h('span.lens-figure-saver', { hidden: true }, kind, button, message);
}

/** @param {Lens} lens */
export function makeMattersView(lens) {
  const { i18n, server, session, store } = lens;
  const { state } = store;
  const choices = makeChoices(lens);
  const start = h('button.lens-button.lens-primary', { type: 'button', 'data-t': 'matters.run', 'data-matters': 'run', onclick: run });
  const work = makeWork(lens, { 'data-matters': 'cancel' });
  const status = h('span.lens-status');
  const stale = h('span.lens-badge.lens-warn', { 'data-t': 'matters.stale', hidden: true });
  const saver = makeTaker(lens, () => found);
  const body = h('div.lens-matters-body');
  const node = h('div.lens-matters', {}, h('div.lens-toolbar', {}, ...choices.nodes, start, work.node, status, stale, saver), body);
  let found = null;
  let running = false;
  let galleries = null;
  let askedFor = null;

  // Tau is no part of it: it moves neither the kept set nor the feature.
  const about = () => JSON.stringify([state.weights, { ...state.analysis?.settings, tau: undefined }]);

  async function look() {
    if (node.hidden || !state.key || askedFor === state.key) return;
    askedFor = state.key;
    const answer = await server.ask('rank.galleries', { key: state.key });
    if (answer.expired && answer.expired.length) { session.analyse(); return; }
    galleries = answer.galleries || [];
    choices.describe(galleries);
    start.disabled = !galleries.length;
    draw();
  }

  async function run() {
    if (!state.analysis || running) return;
    const mine = about();
    busy(true);
    const answer = await work.run(i18n.t('matters.progress'), 'matters.run', aboutShown(lens, choices.asked()));
    busy(false);
    if (answer.cancelled) { status.textContent = i18n.t('matters.cancelled'); return; }
    if (answer.expired && answer.expired.length) session.analyse();
    if (answer.error) { status.textContent = i18n.sentence(answer.error); return; }
    found = { ...answer.result, about: mine };
    draw();
  }

  function busy(yes) {
    running = yes;
    start.disabled = yes;
    status.textContent = '';
  }

  function markStale() {
    stale.hidden = !found || !state.analysis || about() === found.about;
    body.classList.toggle('lens-stale', !stale.hidden);
  }

  function draw() {
    saver.hidden = !found;
    if (found) {
      body.replaceChildren(...mattersContent(found, i18n));
      body.dataset.report = found.key;
    } else {
      const key = galleries && !galleries.length ? 'nodata' : 'empty';
      body.replaceChildren(h('div.lens-invite', {}, h('h2', { 'data-t': `matters.${key}.title` }), h('p', { 'data-t': `matters.${key}.text` })));
    }
    i18n.apply(body);
    markStale();
  }

  const update = () => { if (!body.firstChild) draw(); look(); markStale(); };
  return { id: 'matters', node, update, shown: update, retranslate: draw };
}
