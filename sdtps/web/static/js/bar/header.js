// Name, weights, variant, language and theme; the banner when the weights are not what they should be.

/** @import { Lens, Model, Variant } from '../core/types.js' */
import { h, setText } from '../core/dom.js';
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

/**
 * @param {Variant} variant
 * @param {{ language: string, t: (key: string) => string }} i18n
 */
export const variantSummary = (variant, i18n) => (i18n.language === 'en' ? variant.summary : i18n.t(`variant.${variant.name}`));

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

function themeButton() {
  return h('button.lens-plain', {
    type: 'button', 'data-choice': 'theme', 'data-t-aria': 'theme', 'data-t-title': 'theme',
    onclick: () => remember({ theme: document.body.classList.toggle('dark') ? 'dark' : 'light' }),
  }, icon('theme'));
}

// Which weights, and what is known of them.
function makeWeightsFact({ config, i18n, store, session }, onAbout) {
  const { state } = store;
  const menu = h('select.lens-weights', {
    'data-t-aria': 'weights', 'data-choice': 'weights', onchange: () => session.chooseModel(menu.value),
  });
  const single = h('span.lens-weights-name');
  const hash = h('code.lens-hash');
  const badge = h('button.lens-badge', { type: 'button', 'data-open': 'weights', 'data-t-title': 'report.open', onclick: () => onAbout() });
  const add = h('button.lens-icon', {
    type: 'button', 'data-t-aria': 'upload.title', 'data-t-title': 'upload.title', 'data-open': 'upload',
    hidden: !config.upload_weights.allowed, onclick: () => onAbout('upload'),
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
 * @param {(part?: string) => void} onAbout
 * @param {HTMLElement[]} buttons further ones at the end
 */
export function makeHeader(lens, onAbout, buttons) {
  const { config, i18n, store, session } = lens;
  const { state } = store;
  const weights = makeWeightsFact(lens, onAbout);
  const variant = h('select', {
    'data-t-aria': 'variant', 'data-choice': 'variant', onchange: () => session.chooseVariant(variant.value),
  });
  const summary = h('p.lens-variant-text');
  const asked = h('span.lens-asked', { 'data-assumed': 'variant' });
  const node = h('header.lens-header', {},
    h('h1', {}, 'SDTPS ', h('b', {}, 'Lens')),
    weights.node,
    h('div.lens-fact', {}, h('span.lens-key', { 'data-t': 'variant' }), variant, asked),
    summary,
    h('div.lens-header-end', {}, ...buttons, languageButton(lens), themeButton()));
  const banner = h('div.lens-banner', { hidden: true });

  function variantOption({ name, label }, lacking) {
    const reason = lacking ? i18n.sentence(lacking) : '';
    return h('option', { value: name, selected: name === state.settings.variant, disabled: Boolean(lacking), title: reason },
      reason ? `${name} — ${reason}` : `${name} (${label})`);
  }

  function refresh() {
    const model = currentModel(state);
    const card = model.weights;
    weights.refresh(model);
    variant.replaceChildren(...config.variants.map((v) => variantOption(v, model.lacking[v.name])));
    const chosen = config.variants.find((v) => v.name === state.settings.variant);
    const open = model.report && model.report.assumed.some(({ code }) => code === 'weights.assumed.importance');
    setText(asked, open ? i18n.t('assumed.variant') : '');
    setText(summary, chosen ? variantSummary(chosen, i18n) : '');
    summary.title = summary.textContent || '';
    banner.hidden = card.complete;
    banner.textContent = card.trained ? i18n.t('banner.partial', { missing: card.missing }) : i18n.t('banner.random');
  }

  store.subscribe(['weights', 'models', 'settings.variant', 'language'], refresh);
  return { node, banner, refresh };
}
