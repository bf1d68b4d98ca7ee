// The address bar holds what differs from the defaults, so that a link shows what its sender saw.

/** @import { Config, Display, Settings, State } from './types.js' */
import { MODALITIES } from './modalities.js';
import { clampTo, roundSetting } from './numbers.js';

const SHORT = { sparse_ratio: 'sparse', aggr_ratio: 'aggr' }; // links of today name these so
const DISPLAY_DEFAULTS = { colormap: 'viridis', over: 'lines', opacity: 0.65, smooth: 'squares', scale: 'map', dropped: 'dim' };
export const DISPLAY_CHOICES = {
  colormap: ['viridis', 'cividis', 'inferno', 'jet'],
  over: ['lines', 'relief', 'blend'],
  smooth: ['squares', 'smooth'],
  scale: ['map', 'shared'],
  dropped: ['dim', 'black'],
};
export const FITS = ['stretch', 'letterbox'];
const RECORD_ID = /^[0-9a-f]{16}$/;
const RUN_NAME = /^[^\p{Cc}]{1,200}$/u;

const shortName = (name) => SHORT[name] || name;
const numberIn = (query, name) => Number.parseFloat(query.get(name) ?? '');

/** @returns {Settings} */
function readSettings(config, query) {
  const settings = { ...config.defaults };
  for (const { name, low, high } of config.sliders) {
    const value = numberIn(query, shortName(name));
    if (Number.isFinite(value)) settings[name] = roundSetting(clampTo([low, high], value));
  }
  if (config.variants.some((variant) => variant.name === query.get('variant'))) settings.variant = query.get('variant');
  for (const { name, low, high } of config.variants.flatMap((variant) => variant.knobs)) {
    const value = numberIn(query, `knob_${name}`);
    if (Number.isFinite(value)) settings.knobs = { ...settings.knobs, [name]: clampTo([low, high], value) };
  }
  return settings;
}

/** @returns {Display} */
function readDisplay(query) {
  const display = { ...DISPLAY_DEFAULTS };
  for (const [name, choices] of Object.entries(DISPLAY_CHOICES)) {
    if (choices.includes(query.get(name))) display[name] = query.get(name);
  }
  const opacity = numberIn(query, 'opacity');
  if (!Number.isFinite(opacity)) return display;
  display.opacity = clampTo([0, 1], opacity);
  if (!DISPLAY_CHOICES.over.includes(query.get('over'))) display.over = 'blend'; // what an opacity meant in older links
  return display;
}

// An epoch of a recorded run, which is named as its folder is: numbers change with what a server shows.
function readRecorded(query) {
  const name = query.get('run') || '';
  const [epoch, probe] = ['epoch', 'set'].map((key) => Number.parseInt(query.get(key) ?? '', 10));
  return RUN_NAME.test(name) ? { name, epoch: epoch >= 0 ? epoch : 0, probe: probe >= 0 ? probe : 0 } : null;
}

/**
 * @param {Config} config
 * @param {string} search of the address
 */
export function readLink(config, search) {
  const query = new URLSearchParams(search);
  const example = config.examples.find((e) => e.name === query.get('example')) || config.examples[0];
  const asked = query.get('record') || '';
  const record = config.roots.length && RECORD_ID.test(asked) ? asked : null;
  const wanted = query.get('weights');
  const model = config.models.find((m) => m.id === wanted && m.report) || config.models[0];
  const missing = (query.get('missing') || '').split(',').filter((m) => MODALITIES.some((known) => known === m));
  const fit = query.get('fit') || '';
  return {
    settings: readSettings(config, query),
    display: readDisplay(query),
    example: example && !record ? example.name : null,
    record,
    weights: model.id,
    wanted, // weights that the server may have, but that are not loaded here yet
    leaveOut: missing.length < MODALITIES.length ? missing : [],
    fit: FITS.includes(fit) ? fit : FITS[0],
    recorded: readRecorded(query),
  };
}

/**
 * The address for what is on the page; what it does not know of stays.
 * @param {string} href
 * @param {Config} config
 * @param {Pick<State, 'example' | 'record' | 'settings' | 'leaveOut' | 'fit' | 'weights' | 'display' | 'recorded'>} state
 */
export function linkTo(href, config, state) {
  const url = new URL(href);
  const put = (name, value, plain) => {
    if (value === plain || value === null || value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  };
  put('example', state.example, null);
  put('record', state.record, null);
  for (const { name } of config.sliders) put(shortName(name), state.settings[name], config.defaults[name]);
  put('variant', state.settings.variant, config.defaults.variant);
  for (const { name } of config.variants.flatMap((variant) => variant.knobs)) put(`knob_${name}`, state.settings.knobs?.[name] ?? null, null);
  const epoch = state.recorded ?? { name: null, epoch: null, probe: 0 };
  put('run', epoch.name, null);
  put('epoch', epoch.epoch, null);
  put('set', epoch.probe, 0);
  put('missing', [...state.leaveOut].join(','), '');
  put('fit', state.fit, FITS[0]);
  put('weights', state.weights, config.models[0].id);
  for (const [name, plain] of Object.entries(DISPLAY_DEFAULTS)) put(name, state.display[name], plain);
  if (state.display.over !== 'blend') url.searchParams.delete('opacity'); // it says nothing there
  return url.href;
}
