// Which way to select: its plain name, what the method's history calls it, and one sentence on what it does.

/** @import { Lens, Translator, Variant } from '../core/types.js' */
import { h, setText, uniqueId } from '../core/dom.js';
import { currentModel } from '../core/models.js';

/**
 * @param {Variant} variant
 * @param {Pick<Translator, 't'>} i18n
 */
export const variantSummary = (variant, i18n) => i18n.t(`variant.${variant.name}`);

/**
 * The plain name; a selector of one's own is called by its own.
 * @param {string} name
 * @param {Pick<Translator, 't' | 'has'>} i18n
 */
export const variantTitle = (name, i18n) => (i18n.has(`variant.title.${name}`) ? i18n.t(`variant.title.${name}`) : name);

/**
 * The name in commands and links, and the label of the public history: small beside the title.
 * @param {Pick<Variant, 'name' | 'label'>} variant
 */
export const variantLabel = ({ name, label }) => (label ? `${name} · ${label}` : name);

/** @param {Lens} lens */
export function makeVariantChoice({ config, i18n, store, session }) {
  const { state } = store;
  const select = h('select', { id: uniqueId('variant'), 'data-choice': 'variant', onchange: () => session.chooseVariant(select.value) });
  const label = h('small.lens-variant-label');
  const summary = h('p.lens-variant-text');
  const asked = h('span.lens-asked', { 'data-assumed': 'variant' });
  const node = h('div.lens-variant', {},
    h('div.lens-control-head', {}, h('label', { htmlFor: select.id, 'data-t': 'variant' }), label), select, asked, summary);

  function option(variant, lacking) {
    const reason = lacking ? i18n.sentence(lacking) : '';
    const title = variantTitle(variant.name, i18n);
    return h('option', { value: variant.name, selected: variant.name === state.settings.variant, disabled: Boolean(lacking), title: reason },
      reason ? `${title} — ${reason}` : title);
  }

  function refresh() {
    const model = currentModel(state);
    select.replaceChildren(...config.variants.map((variant) => option(variant, model.lacking[variant.name])));
    const chosen = config.variants.find(({ name }) => name === state.settings.variant);
    const open = model.report && model.report.assumed.some(({ code }) => code === 'weights.assumed.importance');
    setText(asked, open ? i18n.t('assumed.variant') : '');
    setText(label, chosen ? variantLabel(chosen) : '');
    setText(summary, chosen ? variantSummary(chosen, i18n) : '');
    summary.title = summary.textContent || '';
  }

  refresh();
  store.subscribe(['weights', 'models', 'settings.variant', 'language'], refresh);
  return { node };
}
