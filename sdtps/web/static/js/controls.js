// The four sliders: range, number field, reset, and what the value means now.

const SLIDERS = [
  { name: 'sparse_ratio', symbol: 'ρ', step: 0.01 },
  { name: 'aggr_ratio', symbol: 'α', step: 0.01 },
  { name: 'beta', symbol: 'β', step: 0.01 },
  { name: 'tau', symbol: 'τ', step: 0.01, log: true },
];

function makeSlider(spec, config, i18n, onInput) {
  const [low, high] = config.ranges[spec.name];
  // A logarithmic slider holds log10 of its value, on a grid that 1 lies on; the number field holds the value itself.
  const toRange = spec.log ? (value) => Math.round(Math.log10(value) / spec.step) * spec.step : (value) => value;
  const fromRange = spec.log ? (value) => Number((10 ** value).toPrecision(3)) : (value) => roundSetting(value);
  const id = uniqueId(spec.name);
  const meaning = h('p.lens-meaning', { id: `${id}-meaning` });
  const range = h('input', {
    type: 'range', id, min: toRange(low), max: toRange(high), step: spec.step,
    'data-setting': spec.name, 'aria-describedby': meaning.id,
  });
  const field = h('input', {
    type: 'number', min: low, max: high, step: spec.log ? 'any' : spec.step,
    'data-setting-field': spec.name, 'data-t-aria': `setting.${spec.name}`,
  });
  const reset = h('button.lens-icon', { type: 'button', 'data-t-aria': 'reset.one', 'data-t-title': 'reset.one', 'data-reset': spec.name }, '↺');
  const node = h('div.lens-control', {},
    h('div.lens-control-head', {},
      h('label', { htmlFor: id }, h('span', { 'data-t': `setting.${spec.name}` }), h('i', {}, spec.symbol)), field, reset),
    range, meaning);

  function set(value) {
    range.value = toRange(value);
    range.setAttribute('aria-valuetext', String(value));
    const share = (toRange(value) - toRange(low)) / (toRange(high) - toRange(low));
    range.style.setProperty('--filled', `${share * 100}%`);
    if (document.activeElement !== field || Number(field.value) !== value) field.value = String(value);
    reset.disabled = value === config.defaults[spec.name];
  }

  // A page without a server has numbers for some values only.
  const steps = config.steps && config.steps[spec.name];
  const possible = (value) => (steps ? steps[nearestIndex(steps, value)] : value);
  const change = (asked) => { const value = possible(asked); set(value); onInput(spec.name, value); };
  range.addEventListener('input', () => change(clampTo([low, high], fromRange(Number(range.value)))));
  field.addEventListener('input', () => {
    const value = Number.parseFloat(field.value);
    if (Number.isFinite(value) && value >= low && value <= high) change(roundSetting(value));
  });
  field.addEventListener('change', () => {
    const value = Number.parseFloat(field.value);
    change(Number.isFinite(value) ? roundSetting(clampTo([low, high], value)) : config.defaults[spec.name]);
  });
  reset.addEventListener('click', () => change(config.defaults[spec.name]));
  return { name: spec.name, node, set, meaning };
}

function meaningOf(name, analysis, i18n) {
  const { counts, mix, notes } = analysis;
  const two = (value) => value.toFixed(2);
  switch (name) {
    case 'sparse_ratio': return i18n.t('means.sparse', { kept: counts.kept, n: counts.patches });
    case 'aggr_ratio': {
      if (counts.tokens === null) return i18n.t('absent');
      const clamped = notes.find((note) => note.code === 'aggregation.clamped');
      if (clamped) return i18n.t('means.clamped', { n: counts.tokens, asked: clamped.values.asked });
      return i18n.t(counts.tokens ? 'means.tokens' : 'means.none', { n: counts.tokens });
    }
    case 'beta':
      if (mix.cosines) return i18n.t('means.cosines');
      if (!analysis.modalities.rgb.packed.predictor) return i18n.t('means.maps', { s: two(mix.self), c: two(mix.cross) });
      return i18n.t('means.mix', { p: two(mix.predictor), s: two(mix.self), c: two(mix.cross) });
    default: return i18n.t('means.tau');
  }
}

function makeControls(config, i18n, onInput, onResetAll) {
  const sliders = SLIDERS.map((spec) => makeSlider(spec, config, i18n, onInput));
  const resetAll = h('button.lens-reset-all', { type: 'button', 'data-t': 'reset.all', 'data-reset': 'all', onclick: onResetAll });
  const node = h('section.lens-controls', { 'data-t-aria': 'controls' }, ...sliders.map((slider) => slider.node), resetAll);
  return {
    node,
    set: (settings) => sliders.forEach((slider) => slider.set(settings[slider.name])),
    explain: (analysis) => sliders.forEach((slider) => {
      setText(slider.meaning, analysis ? meaningOf(slider.name, analysis, i18n) : '');
      setAttribute(slider.meaning, 'title', slider.meaning.textContent);
    }),
  };
}
