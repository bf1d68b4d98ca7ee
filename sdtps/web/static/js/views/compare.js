// B beside A: pin what is on screen, change anything, and see what entered, what left and how far the feature moved.

/** @import { Lens } from '../core/types.js' */
import { variantTitle } from '../bar/variant.js';
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { orDash } from '../core/numbers.js';
import { latestWins } from '../core/requester.js';
import { makeFigureSaver } from '../dialogs/saver.js';
import { chartLegend } from './chart.js';
import { makeCompareRows } from './compare_rows.js';
import { makeSweep } from './sweep.js';

// An analysis in one line: picture, what is missing, settings, weights.
function nameOf({ settings, weights, modalities }, from, { config, i18n, store }) {
  if (from.recorded) return weights.name;
  const example = config.examples.find((e) => e.name === from.example);
  const own = store.state.recordNames.get(from.record) || i18n.t('compare.own');
  const missing = MODALITIES.filter((m) => modalities[m].missing).map((m) => `−${m.toUpperCase()}`);
  const numbers = config.sliders.map(({ name, symbol }) => `${symbol} ${settings[name]}`);
  return [example ? i18n.titleOf(example) : own, ...missing, variantTitle(settings.variant, i18n), ...numbers, weights.hash].join(' · ');
}

// How far the features of both are apart.
function totalsOf(answered, i18n) {
  const total = (name, value) => h('div.lens-total-card', { 'data-total': name },
    h('b', {}, orDash(value, 4)), h('span', { 'data-t': `compare.${name}` }));
  return [
    total('feature', answered.feature_cosine),
    total('sdtps', answered.sdtps_cosine),
    chartLegend(['entered', 'left'].map((kind) => ({ kind, name: i18n.t(`compare.${kind}`) }))),
  ];
}

/** @param {Lens} lens */
export function makeCompareView(lens) {
  const { i18n, server, store } = lens;
  const { state } = store;
  let pinned = null; // { key, settings, analysis, from }
  let answered = null;

  const pin = h('button.lens-button.lens-primary', { type: 'button', 'data-compare': 'pin', onclick: pinNow });
  const clear = h('button.lens-button', {
    type: 'button', 'data-t': 'compare.clear', 'data-compare': 'clear', onclick: () => { pinned = null; answered = null; draw(); },
  });
  const who = h('p.lens-who');
  const rows = makeCompareRows(lens);
  const totals = h('div.lens-totals');
  const saver = makeFigureSaver(lens, 'export.compare', () => ({
    key: state.key, settings: { ...state.settings }, against: { key: pinned.key, settings: pinned.settings },
  }));
  const sweep = makeSweep(lens);
  const node = h('div.lens-split', {},
    h('section.lens-compare', { 'data-t-aria': 'view.compare' }, h('div.lens-toolbar', {}, pin, clear, who), rows.node, totals, saver),
    sweep.node);

  const ask = latestWins(
    ({ a, b }) => server.ask('why.compare', { a, b }),
    (answer, asked) => {
      if (!pinned || asked.a.key !== pinned.key) return;
      answered = { ...answer, b: asked.b };
      draw();
    },
  );

  function pinNow() {
    const { analysis, key, example, record, recorded } = state;
    if (!analysis || !key) return;
    pinned = { key, settings: { ...analysis.settings }, analysis, from: { example, record, recorded } };
    answered = null;
    update(analysis);
  }

  function update(analysis) {
    if (pinned && state.key) {
      ask({ a: { key: pinned.key, settings: pinned.settings }, b: { key: state.key, settings: analysis.settings } });
    }
    if (!pinned || !answered) draw();
    sweep.update();
  }

  function draw() {
    const { analysis } = state;
    pin.textContent = i18n.t(pinned ? 'compare.repin' : 'compare.pin');
    clear.hidden = !pinned;
    saver.hidden = !pinned || !answered || Boolean(answered.error);
    delete node.dataset.compared;
    who.replaceChildren();
    if (!answered || answered.error) totals.replaceChildren();
    if (!pinned || !analysis) {
      rows.invite();
      return;
    }
    who.append(h('b', {}, 'A '), nameOf(pinned.analysis, pinned.from, lens), h('br'), h('b', {}, 'B '), nameOf(analysis, state, lens));
    if (answered) drawAnswer(analysis);
  }

  function drawAnswer(analysis) {
    if (answered.error) {
      const gone = answered.expired && answered.expired.length;
      rows.complain(gone ? i18n.t('compare.gone') : i18n.sentence(answered.error));
      return;
    }
    rows.draw(answered, pinned.analysis, analysis);
    totals.replaceChildren(...totalsOf(answered, i18n));
    i18n.apply(totals);
    node.dataset.compared = JSON.stringify(answered.b.settings);
  }

  rows.onMap(draw);
  return { id: 'compare', node, update, retranslate: () => { draw(); sweep.redraw(); } };
}
