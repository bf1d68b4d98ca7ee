// The whole page: makes the store and the parts, and puts the parts in their places.

/** @import { Config, Lens, Server, State, View } from './core/types.js' */
import { makeControls } from './bar/controls.js';
import { makeEpochBar } from './bar/epochs.js';
import { makeHeader } from './bar/header.js';
import { cssGradient, makeColourMaps } from './core/colours.js';
import { h } from './core/dom.js';
import { chooseLanguage, makeTranslator } from './core/i18n.js';
import { linkTo, readLink } from './core/link.js';
import { remembered } from './core/memory.js';
import { currentModel, possibleVariant } from './core/models.js';
import { sourcesOf } from './core/pictures.js';
import { afterwards } from './core/requester.js';
import { makeSession } from './core/session.js';
import { makeStore } from './core/store.js';
import { makeExport } from './dialogs/export.js';
import { makeMatrixDialog } from './dialogs/matrix.js';
import { makeWeightsDialog } from './dialogs/weights.js';
import { makeDisplay } from './side/display.js';
import { makeSelectorFacts } from './side/selector_facts.js';
import { makeSources } from './side/sources.js';
import { makeWhy } from './side/why.js';
import { makeCasesView } from './views/cases.js';
import { makeCompareView } from './views/compare.js';
import { makeFaithfulnessView } from './views/faithfulness.js';
import { makeGradientsView } from './views/gradients.js';
import { makeMattersView } from './views/matters.js';
import { makeRankView } from './views/rank.js';
import { makeSelection } from './views/selection.js';
import { makeTabs } from './views/tabs.js';
import { makeTrainingView } from './views/training.js';
import { makeVariantsView } from './views/variants.js';

// The views beside the grid, in the order of their tabs.
const FURTHER_VIEWS = [
  makeCompareView, makeVariantsView, makeTrainingView, makeGradientsView, makeFaithfulnessView, makeMattersView, makeRankView, makeCasesView,
];

// Browsers limit how often the address may change, and a drag changes it sixty times a second.
const LINK_DELAY = 200;
const IN_LINK = ['settings', 'display', 'weights', 'fit', 'leaveOut', 'example', 'record'];

/**
 * What the link, the reader's memory and the defaults say.
 * @param {Config} config
 * @param {ReturnType<typeof readLink>} link
 * @returns {State}
 */
function firstState(config, link) {
  const asked = new URLSearchParams(location.search).get('lang') || remembered().language;
  const state = /** @type {State} */ ({
    settings: link.settings, display: link.display, models: config.models, weights: link.weights, fit: link.fit,
    leaveOut: new Set(link.leaveOut), example: link.example, record: link.record, recordNames: new Map(), sources: sourcesOf(link),
    photos: {}, token: null, matrixOpen: false, key: null, analysis: null, recorded: null, busy: false, peeking: false, failures: [],
    pointed: { modality: 'rgb', patch: null, pinned: false },
    language: chooseLanguage(config.texts, [asked, ...(navigator.languages || [navigator.language])]),
  });
  state.settings.variant = possibleVariant(currentModel(state), state.settings.variant, config);
  return state;
}

/**
 * @param {Config} config
 * @param {Server} server
 * @param {State} state
 * @returns {Lens}
 */
function makeLens(config, server, state) {
  const store = makeStore(state);
  return {
    config, server, store,
    tables: makeColourMaps(config.colour_tables),
    i18n: makeTranslator(config.texts, state),
    session: makeSession({ config, server, store }),
  };
}

// All parts, and what they say to each other.
function makeParts(lens) {
  const { config, store, session } = lens;
  const chooseToken = (token) => {
    session.chooseToken(token);
    if (token === null || !selection.node.hidden) why.showToken(token);
  };
  const controls = makeControls(lens);
  const sources = makeSources(lens);
  const display = makeDisplay(lens);
  const facts = makeSelectorFacts(lens);
  const matrix = makeMatrixDialog(lens, chooseToken);
  const selection = makeSelection(lens, { chooseToken, openMatrix: matrix.open });
  const why = makeWhy(lens, { pin: selection.pin, chooseToken });
  const weights = makeWeightsDialog(lens);
  const exporter = config.sealed ? null : makeExport(lens);
  const header = makeHeader(lens, weights.open, exporter ? [exporter.button] : []);
  const views = /** @type {View[]} */ ([selection, ...(config.sealed ? [] : FURTHER_VIEWS).map((make) => make(lens))]);
  const tabs = makeTabs(views, store, (view) => { if (view.id !== selection.id) why.hide(); });
  const training = /** @type {any} */ (views.find(({ id }) => id === 'training'));
  const epochs = training ? makeEpochBar(lens, training) : null;
  return { controls, epochs, sources, display, facts, matrix, selection, why, weights, exporter, header, views, tabs };
}

function makePage({ controls, epochs, sources, display, facts, matrix, why, weights, exporter, header, views, tabs }, { store }) {
  const progress = h('div.lens-progress', { role: 'progressbar', 'data-t-aria': 'progress', hidden: true },
    h('div', {}, h('i')), h('b', { 'data-t': 'progress' }));
  store.subscribe(['busy'], () => { progress.hidden = !store.state.busy; });
  return h('div.lens', {}, header.node, header.banner,
    h('div.lens-body', {}, h('aside.lens-side', {}, sources.node, facts.node, display.node, why.node),
      h('main.lens-main', {}, tabs.node, controls.node, epochs && epochs.node,
        h('div.lens-panels', {}, progress, ...views.map((view) => view.node)))),
    matrix.node, weights.node, exporter ? exporter.dialog : null);
}

// Texts above the pictures wrap, and a font that comes late changes their lines. The line below them may grow while
// somebody points at a patch, which must stay under the pointer.
function keepFitting(fit, nodes) {
  const above = new ResizeObserver(fit);
  for (const node of nodes) above.observe(node);
  document.fonts.addEventListener('loadingdone', fit);
  window.addEventListener('resize', fit);
}

function makeLinkSaver({ config, session, store }) {
  if (config.sealed) return () => {}; // a file on disk has no address to share
  const save = afterwards(() => {
    const href = linkTo(location.href, config, session.linked());
    if (href !== location.href) history.replaceState(history.state, '', href);
  }, LINK_DELAY);
  store.subscribe(IN_LINK, save);
  return save;
}

/**
 * @param {HTMLElement} root
 * @param {Config} config
 * @param {Server} server
 */
export function mountLens(root, config, server) {
  const link = readLink(config, location.search);
  const lens = makeLens(config, server, firstState(config, link));
  const { store, i18n, session, tables } = lens;
  const { state } = store;
  const { theme } = remembered();
  if (theme && !new URLSearchParams(location.search).has('__theme')) document.body.classList.toggle('dark', theme === 'dark');

  store.subscribe(['language'], translate); // before the parts, which then fill in what is theirs
  const parts = makeParts(lens);
  const { selection, controls, tabs } = parts;
  const page = makePage(parts, lens);
  const colour = () => page.style.setProperty('--colours', cssGradient(tables[state.display.colormap]));

  function translate() {
    document.documentElement.lang = state.language === 'zh' ? 'zh-CN' : 'en';
    i18n.apply(page);
  }

  root.replaceChildren(page);
  const saveLink = makeLinkSaver(lens);
  keepFitting(selection.fit, [/** @type {Element} */ (page.querySelector('.lens-main')), controls.node]);
  store.subscribe(['display.colormap'], colour);
  // After all parts: the texts that came with the numbers take room, too, and the page says what it shows.
  store.subscribe(['photos'], selection.fit);
  store.subscribe(['analysis'], () => { selection.grid.dataset.settings = JSON.stringify(state.analysis?.settings); });
  colour();
  translate();
  parts.header.refresh();
  tabs.retranslate();
  tabs.choose(selection.id);
  if (link.wanted && link.wanted !== state.weights) {
    session.chooseModel(link.wanted);
  } else {
    saveLink();
    session.analyse();
  }
  return { store };
}
