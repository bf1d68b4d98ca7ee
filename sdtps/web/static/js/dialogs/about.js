// "What am I looking at?": these weights, these pictures, and what the maps can and cannot tell.

/** @import { Analysis, Lens, Model, Translator } from '../core/types.js' */
import { keptMask } from '../core/analysis.js';
import { closeButton, h, uniqueId } from '../core/dom.js';
import { currentModel } from '../core/models.js';
import { miniMap, miniWidth } from '../grid/minimap.js';
import { photoLook } from '../grid/paint.js';

const CAN = ['can.score', 'can.parts', 'can.move'];
const CANNOT = ['cannot.person', 'cannot.cause', 'cannot.others'];

/**
 * What weights say of themselves, in the reader's language or else in English.
 * @param {Record<string, any>} card
 * @param {string} language
 * @returns {{ line?: string, data?: string, losses?: string }}
 */
export const descriptionOf = ({ about = {} }, language) => about[language] || about.en || {};

/**
 * Sentences on the weights: their own, or that they say nothing.
 * @param {Pick<Model, 'weights'>} model
 * @param {Pick<Translator, 't' | 'language'>} i18n
 * @returns {string[]}
 */
export function weightsSentences({ weights }, i18n) {
  if (!weights.trained) return [i18n.t('about.random')];
  const { data, losses } = descriptionOf(weights, i18n.language);
  const own = [data, losses].filter((text) => text !== undefined);
  return [...(weights.complete ? [] : [i18n.t('banner.partial', { missing: weights.missing })]), ...(own.length ? own : [i18n.t('about.silent')])];
}

/**
 * Where the pictures on screen come from.
 * @param {import('../core/types.js').State} state
 * @param {import('../core/types.js').Config} config
 */
export function picturesKey({ example, record, recorded }, { examples, sealed }) {
  if (sealed) return 'about.pictures.author';
  if (recorded) return 'about.pictures.run';
  if (record) return 'about.pictures.folder';
  const shown = examples.find(({ name }) => name === example);
  if (!shown) return 'about.pictures.own';
  return shown.generated ? 'about.pictures.generated' : 'about.pictures.example';
}

// One picture's way through the method, as small pictures of what is on screen.
function strip({ grid, modalities, counts }, { display }, tables, i18n) {
  const { maps, ranges } = modalities.rgb;
  const width = miniWidth(grid, 56, 96);
  const base = photoLook(modalities.rgb, display);
  const map = (name) => (maps[name] ? { values: maps[name], range: ranges[name], table: tables[display.colormap] } : null);
  const steps = /** @type {[string, any][]} */ ([
    ['column.input', {}], ['column.score', map('score')],
    ['column.kept', { mask: keptMask(/** @type {Analysis} */ ({ modalities, counts }), 'rgb') }],
    ['column.aggregation', map('aggregation')],
  ]).filter(([, look]) => look);
  return h('div.lens-about-strip', {}, ...steps.flatMap(([key, look], i) => [
    i ? h('b', { 'aria-hidden': 'true' }, '→') : null,
    miniMap(grid, width, { ...base, ...look, caption: i18n.t(key), label: i18n.t(key) }),
  ]).filter((part) => part !== null));
}

/**
 * @param {Lens} lens
 * @param {{ openReport: () => void, startTour: () => void }} actions
 */
export function makeAbout(lens, { openReport, startTour }) {
  const { config, i18n, store, tables } = lens;
  const { state } = store;
  const title = h('h2', { id: uniqueId('about'), 'data-t': 'about.title' });
  const body = h('div.lens-about-body');
  const leave = (go) => () => { node.close(); go(); };
  const node = h('dialog.lens-dialog.lens-about', { 'data-dialog': 'about', 'aria-labelledby': title.id },
    h('header', {}, title, closeButton(() => node.close())), body,
    h('div.lens-row-buttons', {},
      h('button.lens-button', { type: 'button', 'data-open': 'weights', 'data-t': 'about.report', onclick: leave(openReport) }),
      h('button.lens-button', { type: 'button', 'data-tour': 'start', 'data-t': 'tour.again', onclick: leave(startTour) })));
  const list = (keys) => h('ul', {}, ...keys.map((key) => h('li', { 'data-t': `about.${key}` })));
  const part = (key, ...content) => h('section', { 'data-about': key }, h('h3', { 'data-t': `about.${key}` }), ...content);

  function refresh() {
    if (!node.open) return;
    const model = currentModel(state);
    const { analysis } = state;
    body.replaceChildren(
      h('p', { 'data-t': 'about.method' }),
      ...(analysis && analysis.modalities.rgb.maps.score ? [strip(analysis, state, tables, i18n)] : []),
      part('weights', h('p.lens-about-name', {}, `${model.weights.name} `, h('code', {}, model.weights.hash)),
        ...weightsSentences(model, i18n).map((text) => h('p', {}, text))),
      part('pictures', h('p', { 'data-t': picturesKey(state, config) })),
      h('div.lens-about-lists', {}, part('can', list(CAN)), part('cannot', list(CANNOT))));
    i18n.apply(node);
  }

  function open() {
    node.showModal();
    refresh();
  }

  node.addEventListener('click', (event) => { if (event.target === node) node.close(); });
  store.subscribe(['weights', 'models', 'language'], refresh);
  return { node, open };
}
