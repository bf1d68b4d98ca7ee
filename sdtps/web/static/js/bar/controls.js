// The sliders: range, number field, reset, and what the value means now.

/** @import { Lens, Slider } from '../core/types.js' */
import { h, setAttribute, setText, uniqueId } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { clampTo, nearestIndex, roundSetting } from '../core/numbers.js';
import { meaningOf } from './meaning.js';
import { makeVariantChoice } from './variant.js';

/**
 * A logarithmic slider holds log10 of its value, on a grid that 1 lies on; the number field holds the value itself.
 * @param {Slider} spec
 */
export function scaleOf({ log, step, low, high }) {
  const to = (value) => (log ? Math.round(Math.log10(value) / step) * step : value);
  const from = (at) => clampTo([low, high], log ? Number((10 ** at).toPrecision(3)) : roundSetting(at));
  return { to, from };
}

// The elements of a slider, without what they do.
function sliderParts(spec, scale) {
  const id = uniqueId(spec.name);
  const meaning = h('p.lens-meaning', { id: `${id}-meaning` });
  const range = h('input', {
    type: 'range', id, min: scale.to(spec.low), max: scale.to(spec.high), step: spec.step,
    'data-setting': spec.name, 'aria-describedby': meaning.id,
  });
  const field = h('input', {
    type: 'number', min: spec.low, max: spec.high, step: spec.log ? 'any' : spec.step,
    'data-setting-field': spec.name, 'data-t-aria': `setting.${spec.name}`,
  });
  const reset = h('button.lens-icon', {
    type: 'button', 'data-t-aria': 'reset.one', 'data-t-title': 'reset.one', 'data-reset': spec.name,
  }, icon('reset'));
  const node = h('div.lens-control', {},
    h('div.lens-control-head', {},
      h('label', { htmlFor: id }, h('span', { 'data-t': `setting.${spec.name}` }), h('i', {}, spec.symbol)), field, reset),
    range, meaning);
  return { node, range, field, reset, meaning };
}

/**
 * @param {Slider} spec
 * @param {Lens} lens
 */
function makeSlider(spec, { config: { defaults, steps }, session, store }) {
  const scale = scaleOf(spec);
  const { node, range, field, reset, meaning } = sliderParts(spec, scale);
  const own = 'default' in spec; // a knob of one selector, which lies with the others of its kind
  const plain = own ? /** @type {any} */ (spec).default : defaults[spec.name];
  const [start, end] = [scale.to(spec.low), scale.to(spec.high)];
  const stops = steps && steps[spec.name]; // a page without a server has numbers for some values only

  /** @param {number} value */
  function set(value) {
    const at = scale.to(value);
    range.value = String(at);
    range.setAttribute('aria-valuetext', String(value));
    range.style.setProperty('--filled', `${((at - start) / (end - start)) * 100}%`);
    if (document.activeElement !== field || Number(field.value) !== value) field.value = String(value);
    reset.disabled = value === plain;
  }

  function change(asked) {
    const value = stops ? stops[nearestIndex(stops, asked)] : asked;
    set(value);
    session.changeSettings(own ? { knobs: { ...store.state.settings.knobs, [spec.name]: value } } : { [spec.name]: value });
  }

  range.addEventListener('input', () => change(scale.from(Number(range.value))));
  field.addEventListener('input', () => {
    const value = Number.parseFloat(field.value);
    if (Number.isFinite(value) && value >= spec.low && value <= spec.high) change(roundSetting(value));
  });
  field.addEventListener('change', () => {
    const value = Number.parseFloat(field.value);
    change(Number.isFinite(value) ? roundSetting(clampTo([spec.low, spec.high], value)) : plain);
  });
  reset.addEventListener('click', () => change(plain));
  return { name: spec.name, own, plain, node, set, meaning, inputs: [range, field, reset] };
}

// On a small screen the sliders lie in a tray below the pictures, and what they mean opens on demand.
function trayButton(onToggle) {
  const button = h('button.lens-tray-more', {
    type: 'button', 'aria-expanded': false, 'data-t': 'tray.more',
    onclick: () => {
      const open = button.getAttribute('aria-expanded') !== 'true';
      button.setAttribute('aria-expanded', String(open));
      onToggle(open);
    },
  });
  return button;
}

/** @param {Lens} lens */
export function makeControls(lens) {
  const { config, i18n, store, session } = lens;
  const { state } = store;
  const knobs = new Map(config.variants.flatMap((variant) => variant.knobs.map((knob) => [knob.name, knob])));
  const sliders = [...config.sliders, ...knobs.values()].map((spec) => makeSlider(spec, lens));
  const variantOf = (name) => config.variants.find((variant) => variant.name === name);
  const node = h('section.lens-controls', { 'data-t-aria': 'controls' }, makeVariantChoice(lens).node, ...sliders.map((slider) => slider.node),
    h('button.lens-reset-all', { type: 'button', 'data-t': 'reset.all', 'data-reset': 'all', onclick: session.resetSettings }),
    trayButton((open) => node.classList.toggle('lens-tray-open', open)));

  function set() {
    const given = { ...state.analysis?.settings.knobs, ...state.settings.knobs };
    for (const slider of sliders) slider.set(slider.own ? given[slider.name] ?? slider.plain : state.settings[slider.name]);
  }

  function explain() {
    const variant = state.analysis ? variantOf(state.analysis.settings.variant) : undefined;
    for (const { name, meaning } of sliders) {
      setText(meaning, state.analysis ? meaningOf(name, state.analysis, i18n, variant) : '');
      setAttribute(meaning, 'title', meaning.textContent || '');
    }
  }

  // A slider that the selector does not read stays where it is and says so; knobs of others are not there.
  function useVariant() {
    const variant = variantOf(state.settings.variant);
    if (!variant) return;
    const widths = ['1.5fr']; // the variant's own
    for (const { name, own, node: part, inputs } of sliders) {
      const read = own ? variant.knobs.some((knob) => knob.name === name) : variant.reads.includes(name);
      part.hidden = own && !read;
      part.classList.toggle('lens-unread', !read);
      for (const input of inputs) if (!read || !input.matches('[data-reset]')) input.disabled = !read;
      if (!part.hidden) widths.push(read ? '1.5fr' : '.8fr'); // what cannot be moved needs less room
    }
    node.style.setProperty('--sliders', widths.map((width) => `minmax(0, ${width})`).join(' '));
  }

  set();
  useVariant();
  store.subscribe(['settings.variant'], useVariant);
  store.subscribe(['settings', 'analysis'], set);
  store.subscribe(['analysis', 'language'], explain);
  store.subscribe(['key'], () => { node.inert = !state.key; });
  return { node };
}
