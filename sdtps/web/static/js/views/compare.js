// B beside A: pin what is on screen, change anything, and see what entered, what left and how far the feature moved.

/** @import { Lens } from '../core/types.js' */
import { variantTitle } from '../bar/variant.js';
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { orDash } from '../core/numbers.js';
import { latestWins } from '../core/requester.js';
import { makeFigureSaver } from '../dialogs/saver.js';
import { chartLegend } from './chart.js';
import { makeKept } from './compare_kept.js';
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
  let answered = null;
  const kept = makeKept(lens, () => {
    answered = null;
    if (state.analysis) update(state.analysis);
    draw();
  });

  const pin = h('button.lens-button.lens-primary', { type: 'button', 'data-compare': 'pin', onclick: kept.keepShown });
  const clear = h('button.lens-button', {
    type: 'button', 'data-t': 'compare.clear', 'data-compare': 'clear', onclick: () => kept.compareWith(null),
  });
  const who = h('p.lens-who');
  const rows = makeCompareRows(lens);
  const totals = h('div.lens-totals');
  const saver = makeFigureSaver(lens, 'export.compare', () => ({
    key: state.key, settings: { ...state.settings }, against: { key: kept.now?.key, settings: kept.now?.settings },
  }));
  const sweep = makeSweep(lens);
  const node = h('div.lens-split', {},
    h('section.lens-compare', { 'data-t-aria': 'view.compare' }, h('div.lens-toolbar', {}, pin, clear, who), rows.node, totals, saver),
    sweep.node);

  const ask = latestWins(
    ({ a, b }) => server.ask('why.compare', { a, b }),
    (answer, asked) => {
      if (!kept.now || asked.a.key !== kept.now.key || kept.again(answer)) return;
      answered = { ...answer, b: asked.b };
      draw();
    },
  );

  function update(analysis) {
    const { now } = kept;
    if (now && state.key) {
      ask({ a: { key: now.key, settings: now.settings }, b: { key: state.key, settings: analysis.settings } });
    }
    if (!now || !answered) draw();
    sweep.update();
  }

  function draw() {
    const { analysis } = state;
    const pinned = kept.now;
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
    rows.draw(answered, /** @type {any} */ (kept.now).analysis, analysis);
    totals.replaceChildren(...totalsOf(answered, i18n));
    i18n.apply(totals);
    node.dataset.compared = JSON.stringify(answered.b.settings);
  }

  rows.onMap(draw);
  return { id: 'compare', node, update, compareWith: kept.compareWith, retranslate: () => { draw(); sweep.redraw(); } };
}
