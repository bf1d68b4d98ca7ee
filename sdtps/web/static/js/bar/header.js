// Name, weights, language and theme; the banner when the weights are not what they should be.

/** @import { Lens, Model } from '../core/types.js' */
import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { remember } from '../core/memory.js';
import { currentModel } from '../core/models.js';

/**
 * Two readings of one file differ in their grid.
 * @param {Model} model
 * @param {Model[]} models
 */
export function modelName(model, models) {
  const { name } = model.weights;
  if (models.filter((m) => m.weights.name === name).length < 2) return name;
  return `${name} (${model.grid ? `${model.grid.rows}x${model.grid.cols}` : model.id})`;
}

// How far the weights can be trusted, as the badge says it.
function trust({ weights, report }) {
  if (weights.family === 'recorded') return 'weights.recorded';
  if (!weights.complete) return weights.trained ? 'weights.partial' : 'weights.random';
  return report.absent.length ? 'weights.without' : 'weights.trained';
}

function languageButton({ store }) {
  return h('button.lens-plain', {
    type: 'button', 'data-choice': 'language', 'data-t': 'language.other',
    onclick: () => {
      const language = store.state.language === 'en' ? 'zh' : 'en';
      remember({ language });
      store.update({ language });
    },
  });
}

function helpButton({ openAbout }) {
  return h('button.lens-plain', {
    type: 'button', 'data-choice': 'help', 'data-t-aria': 'about.title', 'data-t-title': 'about.title', onclick: openAbout,
  }, '?');
}

function themeButton() {
  return h('button.lens-plain', {
    type: 'button', 'data-choice': 'theme', 'data-t-aria': 'theme', 'data-t-title': 'theme',
    onclick: () => remember({ theme: document.body.classList.toggle('dark') ? 'dark' : 'light' }),
  }, icon('theme'));
}

// Which weights, and what is known of them.
function makeWeightsFact({ config, i18n, store, session }, { openAbout, openUpload }) {
  const { state } = store;
  const menu = h('select.lens-weights', {
    'data-t-aria': 'weights', 'data-choice': 'weights', onchange: () => session.chooseModel(menu.value),
  });
  const single = h('span.lens-weights-name');
  const hash = h('code.lens-hash');
  const badge = h('button.lens-badge', { type: 'button', 'data-open': 'about', 'data-t-title': 'about.title', onclick: openAbout });
  const add = h('button.lens-icon', {
    type: 'button', 'data-t-aria': 'upload.title', 'data-t-title': 'upload.title', 'data-open': 'upload',
    hidden: !config.upload_weights.allowed, onclick: openUpload,
  }, icon('add'));
  const node = h('div.lens-fact', {}, h('span.lens-key', { 'data-t': 'weights' }), menu, single, add, hash, badge);

  function refresh(model) {
    const card = model.weights;
    menu.hidden = state.models.length < 2;
    single.hidden = !menu.hidden;
    single.textContent = card.name;
    single.title = card.name;
    hash.textContent = card.hash;
    hash.title = card.sha256;
    badge.textContent = i18n.t(trust(model));
    badge.classList.toggle('lens-warn', !card.complete);
    menu.replaceChildren(...state.models.map((m) => h('option', { value: m.id, selected: m === model }, modelName(m, state.models))));
  }
  return { node, refresh };
}

/**
 * @param {Lens} lens
 * @param {{ openAbout: () => void, openUpload: () => void }} actions
 * @param {HTMLElement[]} buttons further ones at the end
 */
export function makeHeader(lens, actions, buttons) {
  const { i18n, store } = lens;
  const { state } = store;
  const weights = makeWeightsFact(lens, actions);
  const node = h('header.lens-header', {},
    h('div.lens-name', {}, h('h1', {}, 'SDTPS ', h('b', {}, 'Lens')), h('p', { 'data-t': 'subtitle' })),
    weights.node,
    h('div.lens-header-end', {}, helpButton(actions), ...buttons, languageButton(lens), themeButton()));
  const banner = h('div.lens-banner', { hidden: true });

  function refresh() {
    const model = currentModel(state);
    const card = model.weights;
    weights.refresh(model);
    banner.hidden = card.complete;
    banner.textContent = card.trained ? i18n.t('banner.partial', { missing: card.missing }) : i18n.t('banner.random');
  }

  store.subscribe(['weights', 'models', 'language'], refresh);
  return { node, banner, refresh };
}
