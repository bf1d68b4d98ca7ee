// The whole page: makes the store and the parts, and puts the parts in their places.

/** @import { Config, Lens, Server, State, View } from './core/types.js' */
import { makeConnectionBanner } from './bar/connection_banner.js';
import { makeControls } from './bar/controls.js';
import { makeCopyLink } from './bar/copy_link.js';
import { makeEpochBar } from './bar/epochs.js';
import { makeHeader } from './bar/header.js';
import { makePaper } from './bar/paper.js';
import { makeArrival } from './core/arrival.js';
import { cssGradient, makeColourMaps } from './core/colours.js';
import { watchServer } from './core/connection.js';
import { h } from './core/dom.js';
import { keepAddress } from './core/history.js';
import { chooseLanguage, makeTranslator } from './core/i18n.js';
import { FIRST_VIEW, readLink } from './core/link.js';
import { remembered } from './core/memory.js';
import { currentModel, possibleVariant } from './core/models.js';
import { makeNotice } from './core/notice.js';
import { sourcesOf } from './core/pictures.js';
import { makeSession } from './core/session.js';
import { makeStore } from './core/store.js';
import { makeAbout } from './dialogs/about.js';
import { makeExport } from './dialogs/export.js';
import { makeMatrixDialog } from './dialogs/matrix.js';
import { makeTour } from './dialogs/tour.js';
import { makeWeightsDialog } from './dialogs/weights.js';
import { makeFocus } from './focus/focus.js';
import { makeDisplay } from './side/display.js';
import { makeDrawer } from './side/drawer.js';
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
    leaveOut: new Set(link.leaveOut), example: link.example, record: link.record, own: link.own, against: null, told: null, wide: null,
    view: FIRST_VIEW, connected: true, recordNames: new Map(), sources: sourcesOf(link),
    photos: {}, token: null, matrixOpen: false, key: null, analysis: null, recorded: null, busy: false, peeking: false, failures: [],
    survey: null, caseColumn: null,
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
  const watched = watchServer(server, store);
  return {
    config, server: watched, store,
    notice: makeNotice(),
    tables: makeColourMaps(config.colour_tables),
    i18n: makeTranslator(config.texts, state),
    session: makeSession({ config, server: watched, store }),
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
  const selection = makeSelection(lens, { chooseToken, openMatrix: matrix.open, openFocus: (what) => focus.open(what) });
  const why = makeWhy(lens, { pin: selection.pin, chooseToken });
  const weights = makeWeightsDialog(lens);
  const exporter = config.sealed ? null : makeExport(lens);
  const page = () => /** @type {HTMLElement} */ (header.node.parentElement);
  const tour = makeTour(lens, page);
  const drawer = makeDrawer(page);
  store.subscribe(['example', 'record'], drawer.close); // what was chosen is to be seen
  const paper = makePaper(lens);
  const about = makeAbout(lens, { openReport: () => weights.open(), startTour: tour.start });
  const buttons = [drawer.button, ...(exporter ? [makeCopyLink(lens), exporter.button] : [])];
  const header = makeHeader(lens, { openAbout: about.open, openUpload: () => weights.open('upload') }, buttons);
  const focus = makeFocus(lens, () => (
    /** @type {HTMLElement[]} */ ([...page().querySelectorAll('.lens-header, .lens-side, .lens-views, .lens-epochs, .lens-panels')])
  ));
  const connection = makeConnectionBanner(lens);
  const views = /** @type {View[]} */ ([selection, ...(config.sealed ? [] : FURTHER_VIEWS).map((make) => make(lens, { seeTraining }))]);
  const tabs = makeTabs(views, store, (view) => { if (view.id !== selection.id) why.hide(); });
  const training = /** @type {any} */ (views.find(({ id }) => id === 'training'));
  function seeTraining(names) { training.only(names); store.update({ view: training.id }); }
  const epochs = training ? makeEpochBar(lens, training) : null;
  const compare = /** @type {any} */ (views.find(({ id }) => id === 'compare'));
  const arrival = makeArrival(lens, {
    hasView: tabs.has, pin: selection.pin, chooseToken,
    openRecorded: training ? training.openLinked : null, compareWith: compare ? compare.compareWith : () => {},
  });
  return {
    arrival, connection, controls, epochs, training, sources, display, facts, matrix, selection, why, weights,
    exporter, header, views, tabs, about, drawer, focus, paper, tour,
  };
}

function makePage(parts, { config, notice, store }) {
  const { controls, epochs, header, paper, views, tabs } = parts;
  const progress = h('div.lens-progress', { role: 'progressbar', 'data-t-aria': 'progress', hidden: true },
    h('div', {}, h('i')), h('b', { 'data-t': 'progress' }));
  const skip = h('a.lens-skip', {
    href: '#', 'data-t': 'skip',
    onclick: (event) => {
      event.preventDefault(); // an address of its own would be an entry for Back
      store.update({ view: FIRST_VIEW });
      parts.selection.grid.focus();
    },
  });
  const panels = h('div.lens-panels', {}, progress, ...views.map((view) => view.node));
  store.subscribe(['busy'], () => {
    progress.hidden = !store.state.busy;
    panels.classList.toggle('lens-waiting', store.state.busy); // what is shown is not what was asked for
  });
  const side = ['sources', 'facts', 'display', 'why'].map((name) => parts[name].node);
  return h('div.lens', {}, skip, header.node, header.banner, parts.connection.node, paper && paper.node,
    h('div.lens-body', {}, parts.drawer.scrim,
      h('div.lens-side', { role: 'region', 'data-t-aria': 'side' }, ...side),
      h(config.sealed ? 'main.lens-main' : 'div.lens-main', {}, tabs.node, controls.node, epochs && epochs.node, panels)),
    ...['focus', 'tour', 'matrix', 'weights', 'about'].map((name) => parts[name].node),
    parts.exporter ? parts.exporter.dialog : null, parts.sources.drop, notice.node);
}

// Texts above the pictures wrap, and a font that comes late changes their lines. The line below them may grow while
// somebody points at a patch, which must stay under the pointer.
function keepFitting(fit, nodes) {
  const above = new ResizeObserver(fit);
  for (const node of nodes) above.observe(node);
  document.fonts.addEventListener('loadingdone', fit);
  window.addEventListener('resize', fit);
}

/**
 * @param {HTMLElement} root
 * @param {Config} config
 * @param {Server} server
 */
export function mountLens(root, config, server) {
  const link = readLink(config, location.search);
  const lens = makeLens(config, server, firstState(config, link));
  const { store, i18n, tables } = lens;
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
  keepAddress(lens, parts.arrival.arrive);
  keepFitting(selection.fit, [/** @type {Element} */ (page.querySelector('.lens-main')), controls.node]);
  store.subscribe(['display.colormap'], colour);
  // After all parts: the texts that came with the numbers take room, too, and the page says what it shows.
  store.subscribe(['photos'], selection.fit);
  store.subscribe(['analysis'], () => { selection.grid.dataset.settings = JSON.stringify(state.analysis?.settings); });
  const unwelcomed = store.subscribe(['analysis'], () => { unwelcomed(); parts.tour.greet(); });
  colour();
  translate();
  parts.header.refresh();
  parts.paper?.tell();
  tabs.retranslate();
  tabs.show();
  parts.arrival.start(link);
  return { store };
}
