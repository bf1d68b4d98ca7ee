// The address bar holds what differs from the defaults, so that a link shows what its sender saw.

/** @import { Config, Display, Modality, Note, Settings, State } from './types.js' */
import { fillTemplate } from './i18n.js';
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
export const FIRST_VIEW = 'selection';
export const FITS = ['stretch', 'letterbox'];
const RECORD_ID = /^[0-9a-f]{16}$/;
const OWN_ID = /^[0-9a-z]{4,24}$/;
const POINT = /^(rgb|nir|tir)-(\d{1,5})$/;
const UNMET = {
  'link.example': 'The link asks for the example {name}, which is not here; another one is shown.',
  'link.variant': 'The link asks for the variant {name}, which cannot run here; {used} is shown.',
  'link.range': 'The link asks for {symbol} = {asked}; the nearest value there is, {used}, is shown.',
  'link.view': 'The link asks for the tab {name}, which is not here.',
  'link.patch': 'The link asks for a patch or a token that this picture does not have.',
  'link.own': 'The link shows pictures that stayed in the browser they were given to; they are not here, so an example is shown.',
  'link.against': 'The set that the link compares with cannot be opened; keep another as A.',
};

/**
 * What a link asked for and cannot have, as a sentence.
 * @param {keyof typeof UNMET} code
 * @param {Record<string, any>} [values]
 * @returns {Note}
 */
export const unmet = (code, values = {}) => ({ code, values, text: fillTemplate(UNMET[code], values) });
const RUN_NAME = /^[^\p{Cc}]{1,200}$/u;

const shortName = (name) => SHORT[name] || name;
const numberIn = (query, name) => Number.parseFloat(query.get(name) ?? '');

/** @returns {Settings} */
function readSettings(config, query, missed) {
  const settings = { ...config.defaults };
  for (const { name, symbol, low, high } of config.sliders) {
    const asked = numberIn(query, shortName(name));
    if (!Number.isFinite(asked)) continue;
    settings[name] = roundSetting(clampTo([low, high], asked));
    if (asked < low || asked > high) missed.push(unmet('link.range', { symbol, asked, used: settings[name] }));
  }
  const variant = query.get('variant');
  if (config.variants.some(({ name }) => name === variant)) settings.variant = variant;
  else if (variant) missed.push(unmet('link.variant', { name: variant, used: settings.variant }));
  for (const { name, low, high } of config.variants.flatMap(({ knobs }) => knobs)) {
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

// The patch that was pinned, as `rgb-37`, and the token that was chosen.
function readHand(query) {
  const [, modality, patch] = POINT.exec(query.get('patch') || '') || [];
  const token = /^\d{1,5}$/.test(query.get('token') || '') ? Number(query.get('token')) : null;
  return { pinned: modality ? { modality: /** @type {Modality} */ (modality), patch: Number(patch) } : null, token };
}

// Where the pictures are: in a data folder, with the reader, or among the examples.
function readPictures(config, query, missed) {
  const named = query.get('example');
  const found = config.examples.find((e) => e.name === named);
  if (named && !found) missed.push(unmet('link.example', { name: named }));
  const matching = (name, pattern) => (pattern.test(query.get(name) || '') ? query.get(name) : null);
  const record = config.roots.length ? matching('record', RECORD_ID) : null;
  const own = record || named ? null : matching('own', OWN_ID);
  const example = record || own ? undefined : found || config.examples[0];
  return { example: example ? example.name : null, record, own };
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
  const missed = /** @type {Note[]} */ ([]);
  const wanted = query.get('weights');
  const model = config.models.find((m) => m.id === wanted && m.report) || config.models[0];
  const missing = (query.get('missing') || '').split(',').filter((m) => MODALITIES.some((known) => known === m));
  const fit = query.get('fit') || '';
  return {
    settings: readSettings(config, query, missed),
    display: readDisplay(query),
    ...readPictures(config, query, missed),
    weights: model.id,
    wanted, // weights that the server may have, but that are not loaded here yet
    leaveOut: missing.length < MODALITIES.length ? missing : [],
    fit: FITS.includes(fit) ? fit : FITS[0],
    view: query.get('view') || '',
    ...readHand(query),
    against: query.get('a') || null,
    recorded: readRecorded(query),
    missed,
  };
}

// The image set, the weights and the settings: what makes the numbers on screen.
function putSet(put, config, state) {
  put('example', state.example, null);
  put('record', state.record, null);
  for (const { name } of config.sliders) put(shortName(name), state.settings[name], config.defaults[name]);
  put('variant', state.settings.variant, config.defaults.variant);
  for (const { name } of config.variants.flatMap((variant) => variant.knobs)) put(`knob_${name}`, state.settings.knobs?.[name] ?? null, null);
  put('missing', [...state.leaveOut].join(','), '');
  put('fit', state.fit, FITS[0]);
  put('weights', state.weights, config.models[0].id);
}

function putter(query) {
  return (name, value, plain) => {
    if (value === plain || value === undefined || value === null || value === '') query.delete(name);
    else query.set(name, value);
  };
}

/**
 * What A of a comparison is, in the words of a link; null for the reader's own pictures, which no link can hold.
 * @param {Config} config
 * @param {State} state
 */
export function setQuery(config, state) {
  if (!state.example && !state.record) return null;
  const query = new URLSearchParams();
  putSet(putter(query), config, state);
  return String(query);
}

/**
 * The address for what is on the page; what it does not know of stays.
 * @param {string} href
 * @param {Config} config
 * @param {Pick<State, 'example' | 'record' | 'settings' | 'leaveOut' | 'fit' | 'weights' | 'display'> & Partial<State>} state
 */
export function linkTo(href, config, state) {
  const url = new URL(href);
  const put = putter(url.searchParams);
  putSet(put, config, state);
  const epoch = state.recorded ?? { name: null, epoch: null, probe: 0 };
  put('run', epoch.name, null);
  put('epoch', epoch.epoch, null);
  put('set', epoch.probe, 0);
  put('own', state.own, null);
  put('view', state.view, FIRST_VIEW);
  const { pointed, token } = state;
  put('patch', pointed?.pinned ? `${pointed.modality}-${pointed.patch}` : null, null);
  put('token', token ?? null, null);
  put('a', state.against, null);
  for (const [name, plain] of Object.entries(DISPLAY_DEFAULTS)) put(name, state.display[name], plain);
  if (state.display.over !== 'blend') url.searchParams.delete('opacity'); // it says nothing there
  return url.href;
}
