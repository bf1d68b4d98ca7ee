// Name, weights, variant, language and theme; the banner when the weights are not what they should be.

function makeHeader(config, i18n, state, onModel, onVariant, onAbout) {
  const weights = h('select.lens-weights', { 'data-t-aria': 'weights', 'data-choice': 'weights', onchange: () => onModel(weights.value) });
  const single = h('span.lens-weights-name');
  const hash = h('code.lens-hash');
  const stateOfWeights = h('button.lens-badge', { type: 'button', 'data-open': 'weights', 'data-t-title': 'report.open', onclick: () => onAbout() });
  const add = h('button.lens-icon', {
    type: 'button', 'data-t-aria': 'upload.title', 'data-t-title': 'upload.title', 'data-open': 'upload',
    hidden: !config.upload_weights.allowed, onclick: () => onAbout('upload'),
  }, '+');
  const variant = h('select', { 'data-t-aria': 'variant', 'data-choice': 'variant', onchange: () => onVariant(variant.value) });
  const language = h('button.lens-plain', {
    type: 'button', 'data-choice': 'language', 'data-t': 'language.other',
    onclick: () => { const next = i18n.language === 'en' ? 'zh' : 'en'; remember({ language: next }); i18n.use(next); },
  });
  const theme = h('button.lens-plain', {
    type: 'button', 'data-choice': 'theme', 'data-t-aria': 'theme', 'data-t-title': 'theme',
    onclick: () => remember({ theme: document.body.classList.toggle('dark') ? 'dark' : 'light' }),
  }, '◐');
  const node = h('header.lens-header', {},
    h('h1', {}, 'SDTPS ', h('b', {}, 'Lens')),
    h('div.lens-fact', {}, h('span.lens-key', { 'data-t': 'weights' }), weights, single, add, hash, stateOfWeights),
    h('div.lens-fact', {}, h('span.lens-key', { 'data-t': 'variant' }), variant),
    h('p.lens-variant-text'),
    h('div.lens-header-end', {}, language, theme));
  const banner = h('div.lens-banner', { role: 'status', hidden: true });

  // Two readings of one file differ in their grid.
  function nameOf(model) {
    const twins = config.models.filter((m) => m.weights.name === model.weights.name);
    if (twins.length < 2) return model.weights.name;
    return `${model.weights.name} (${model.grid ? `${model.grid.rows}x${model.grid.cols}` : model.id})`;
  }

  function refresh() {
    const model = config.models.find((m) => m.id === state.weights);
    const card = model.weights;
    weights.hidden = config.models.length < 2;
    single.hidden = !weights.hidden;
    single.textContent = card.name;
    single.title = card.name;
    hash.textContent = card.hash;
    hash.title = card.sha256;
    const lacking = card.trained ? 'weights.partial' : 'weights.random';
    const whole = model.report.absent.length ? 'weights.without' : 'weights.trained';
    stateOfWeights.textContent = i18n.t(card.complete ? whole : lacking);
    stateOfWeights.classList.toggle('lens-warn', !card.complete);
    weights.replaceChildren(...config.models.map((m) => h('option', { value: m.id, selected: m === model }, nameOf(m))));
    variant.replaceChildren(...config.variants.map((v) => {
      const lacking = model.lacking[v.name];
      const reason = lacking && i18n.sentence(lacking);
      return h('option', {
        value: v.name, selected: v.name === state.settings.variant, disabled: Boolean(lacking), title: reason || '',
      }, reason ? `${v.name} — ${reason}` : `${v.name} (${v.label})`);
    }));
    const chosen = config.variants.find((v) => v.name === state.settings.variant);
    const summary = i18n.language === 'en' ? chosen.summary : i18n.t(`variant.${chosen.name}`);
    node.querySelector('.lens-variant-text').textContent = summary;
    node.querySelector('.lens-variant-text').title = summary;
    banner.hidden = card.complete;
    banner.textContent = card.trained ? i18n.t('banner.partial', { missing: card.missing }) : i18n.t('banner.random');
  }
  return { node, banner, refresh };
}
