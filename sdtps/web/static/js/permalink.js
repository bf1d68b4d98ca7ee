// The address bar holds what differs from the defaults, so that a link shows what its sender saw.

const LINK_NUMBERS = { sparse: 'sparse_ratio', aggr: 'aggr_ratio', beta: 'beta', tau: 'tau' };
const DISPLAY_DEFAULTS = { colormap: 'viridis', opacity: 0.65, smooth: 'squares', scale: 'map', dropped: 'dim' };
const DISPLAY_CHOICES = {
  colormap: ['viridis', 'cividis', 'inferno', 'jet'],
  smooth: ['squares', 'smooth'],
  scale: ['map', 'shared'],
  dropped: ['dim', 'black'],
};
const FITS = ['stretch', 'letterbox'];
const MODALITIES = ['rgb', 'nir', 'tir'];
const RECORD_ID = /^[0-9a-f]{16}$/;

function clampTo([low, high], value) {
  return Math.min(high, Math.max(low, value));
}

// Numbers of links and fields are rounded the same way, so that a link restores the same bits.
function roundSetting(value) {
  return Number(value.toPrecision(4));
}

function readLink(config) {
  const query = new URLSearchParams(location.search);
  const settings = { ...config.defaults };
  for (const [short, name] of Object.entries(LINK_NUMBERS)) {
    const value = Number.parseFloat(query.get(short));
    if (Number.isFinite(value)) settings[name] = roundSetting(clampTo(config.ranges[name], value));
  }
  if (config.variants.some((variant) => variant.name === query.get('variant'))) settings.variant = query.get('variant');
  const display = { ...DISPLAY_DEFAULTS };
  for (const [name, choices] of Object.entries(DISPLAY_CHOICES)) {
    if (choices.includes(query.get(name))) display[name] = query.get(name);
  }
  const opacity = Number.parseFloat(query.get('opacity'));
  if (Number.isFinite(opacity)) display.opacity = clampTo([0, 1], opacity);
  const example = config.examples.find((e) => e.name === query.get('example')) || config.examples[0];
  const record = config.roots.length && RECORD_ID.test(query.get('record')) ? query.get('record') : null;
  const wanted = query.get('weights');
  const model = config.models.find((m) => m.id === wanted && m.report) || config.models[0];
  const missing = (query.get('missing') || '').split(',').filter((m) => MODALITIES.includes(m));
  return {
    settings,
    display,
    example: example && !record ? example.name : null,
    record,
    weights: model.id,
    wanted, // weights that the server may have, but that are not loaded here yet
    leaveOut: missing.length < MODALITIES.length ? missing : [],
    fit: FITS.includes(query.get('fit')) ? query.get('fit') : FITS[0],
  };
}

function writeLink(config, state) {
  if (config.sealed) return; // a file on disk has no address to share
  const url = new URL(location.href);
  const put = (name, value, plain) => {
    if (value === plain || value === null || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  };
  put('example', state.example, null);
  put('record', state.record, null);
  for (const [short, name] of Object.entries(LINK_NUMBERS)) put(short, state.settings[name], config.defaults[name]);
  put('variant', state.settings.variant, config.defaults.variant);
  put('missing', [...state.leaveOut].join(','), '');
  put('fit', state.fit, FITS[0]);
  put('weights', state.weights, config.models[0].id);
  for (const [name, plain] of Object.entries(DISPLAY_DEFAULTS)) put(name, state.display[name], plain);
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}

// Browsers limit how often the address may change, and a drag changes it sixty times a second.
const LINK_DELAY = 200;

function afterwards(action, delay) {
  let timer = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, delay);
  };
}

// What belongs to the reader, not to the link: language and theme.
const MEMORY = 'sdtps-lens';

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(MEMORY)) || {};
  } catch {
    return {};
  }
}

function remember(values) {
  try {
    localStorage.setItem(MEMORY, JSON.stringify({ ...remembered(), ...values }));
  } catch {
    // Private windows may forbid it; the choice then lasts as long as the page.
  }
}
