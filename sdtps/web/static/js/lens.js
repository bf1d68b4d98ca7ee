// The whole page: builds the parts, keeps the state, asks the server, paints. `server` has stage, analyse, decide, ask.

// Factories of the views beside the grid, in the order of their tabs.
const FURTHER_VIEWS = [makeCompareView, makeVariantsView, makeGradientsView, makeFaithfulnessView, makeRankView];

function mountLens(root, config, server) {
  const link = readLink(config);
  const memory = remembered();
  const asked = new URLSearchParams(location.search).get('lang') || memory.language;
  const i18n = makeTranslator(config.texts, chooseLanguage(config.texts, asked));
  const themeInLink = new URLSearchParams(location.search).has('__theme');
  if (memory.theme && !themeInLink) document.body.classList.toggle('dark', memory.theme === 'dark');
  const tables = makeColourMaps(config.colour_tables);
  const state = {
    settings: link.settings,
    display: link.display,
    weights: link.weights,
    fit: link.fit,
    leaveOut: new Set(link.leaveOut),
    example: link.example,
    record: link.record,
    recordNames: new Map(),
    sources: { rgb: null, nir: null, tir: null },
    photos: {},
    token: null,
    key: null,
  };
  let analysis = null;
  let confirmed = null; // what was chosen for the analysis on screen

  const heads = COLUMNS.map(makeColumnHead);
  const chooser = makeTokenChooser(chooseToken, openMatrix);
  heads[COLUMNS.findIndex((column) => column.panel === 'aggregation')].extra.append(chooser.node);
  const grid = makeGrid(i18n, heads);
  const dialog = makeMatrixDialog(i18n, chooseToken);
  const readout = h('div.lens-readout', { 'aria-live': 'polite', 'data-t-aria': 'readout' });
  const hover = makeHover(grid, readout, i18n, () => analysis, explain);
  const controls = makeControls(config, i18n, changeSetting, resetAll);
  const sources = makeSources(config, i18n, server, state, analyse);
  const display = makeDisplay(i18n, state.display, () => { paint(); saveLink(); });
  const about = makeWeightsDialog(config, i18n, server, { current: () => currentModel(), useModel, changeSettings });
  const header = makeHeader(config, i18n, state, changeModel, changeVariant, (part) => about.open(part));
  const progress = h('div.lens-progress', { role: 'progressbar', 'data-t-aria': 'progress', hidden: true },
    h('div', {}, h('i')), h('b', { 'data-t': 'progress' }));
  const empty = h('div.lens-empty', { hidden: true }, h('h2', { 'data-t': 'empty.title' }), h('p', { 'data-t': 'empty.text' }));
  const selection = {
    id: 'selection',
    node: h('div', {}, grid.tabs, h('div.lens-area', {}, grid.node, empty), readout),
    update: () => { paint(); why.refresh(); },
    shown: () => layout(),
  };
  const lens = {
    config, i18n, server, state, tables, current: () => analysis, changeSettings, analyse,
    openRecord: (id) => sources.useRecord(id),
  };
  const why = makeProvenance(lens, {
    onModality: (m) => hover.pin(hover.patch, m),
    onPatch: (m, patch) => hover.pin(patch, m),
    onToken: chooseToken,
  });
  const exporter = config.sealed ? null : makeExport({ ...lens, showBundle });
  const allViews = [selection, ...(config.sealed ? [] : FURTHER_VIEWS).map((make) => make(lens))];
  const views = makeViews(allViews, (view) => {
    if (view !== selection) why.hide();
    if (analysis) view.update(analysis);
  });
  const main = h('main.lens-main', {}, views.strip, controls.node,
    h('div.lens-panels', {}, progress, ...allViews.map((view) => view.node)));
  const page = h('div.lens', {}, header.node, header.banner,
    h('div.lens-body', {}, h('aside.lens-side', {}, sources.node, display.node, why.node), main), dialog.node, about.node);
  if (exporter) {
    header.node.querySelector('.lens-header-end').prepend(exporter.button);
    page.append(exporter.dialog);
  }
  root.replaceChildren(page);

  const saveLink = afterwards(() => writeLink(config, state), LINK_DELAY);
  const currentModel = () => config.models.find((model) => model.id === state.weights);
  // The variant that was asked for, or else the one the weights were made for.
  const possibleVariant = () => {
    const { lacking, variant } = currentModel();
    const names = [state.settings.variant, variant, ...config.variants.map((v) => v.name)];
    return names.find((name) => !lacking[name]) || variant;
  };
  const wantsMatrix = () => state.token !== null || dialog.node.open;

  const askDecide = latestWinsInFlight(
    async (request) => (await server.decide(request)) || unreachable(),
    async (answer, request) => {
      if (request.key !== state.key) return;
      if (answer.error) {
        if (answer.expired && answer.expired.length) analyse();
        else sources.complain([{ zone: null, note: answer.error }]);
        return;
      }
      analysis = unpackAnalysis(answer, analysis);
      shown();
    },
  );

  const askAnalyse = latestWins(
    async () => {
      busy(true);
      const answer = (await server.analyse(analyseRequest())) || unreachable();
      if (answer.expired && answer.expired.length && await sources.restage(answer.expired)) {
        return (await server.analyse(analyseRequest())) || unreachable();
      }
      return answer;
    },
    async (answer, _, more) => {
      if (!more) busy(false);
      if (answer.error) {
        if (!more) goBack();
        sources.complain([{ zone: answer.zone, note: answer.error }]);
        return;
      }
      if (!more) confirmed = choices();
      await showAnalysis(answer);
      if (!more) confirmed.photos = state.photos;
      if (JSON.stringify(answer.settings) !== JSON.stringify(state.settings)) decide();
    },
  );

  function analyseRequest() {
    return {
      pictures: sources.pictures(),
      leave_out: [...state.leaveOut],
      fit: state.fit,
      weights: state.weights,
      settings: state.settings,
      matrix: wantsMatrix(),
    };
  }

  const choices = () => ({
    example: state.example, record: state.record, sources: state.sources, leaveOut: new Set(state.leaveOut),
    fit: state.fit, weights: state.weights, variant: state.settings.variant, photos: state.photos,
  });

  // A refused triplet leaves the previous picture, and the controls must say what that picture is.
  function goBack() {
    if (!confirmed) {
      // A link to a triplet that is not here: better an example than nothing.
      if (state.record && config.examples.length) sources.useExample(config.examples[0].name);
      return;
    }
    const { variant, ...rest } = confirmed;
    Object.assign(state, rest, { leaveOut: new Set(rest.leaveOut) });
    state.settings.variant = variant;
    sources.setFit(state.fit);
    header.refresh();
    saveLink();
  }

  function analyse() {
    saveLink();
    state.photos = {};
    sources.refresh();
    header.refresh();
    if (Object.values(state.sources).every((source) => source === null)) return;
    askAnalyse(null);
  }

  function decide() {
    if (state.key) askDecide({ key: state.key, settings: { ...state.settings }, matrix: wantsMatrix() });
  }

  function changeSetting(name, value) {
    state.settings[name] = value;
    decide();
    saveLink();
  }

  // Several at once, from a view or the reset button.
  function changeSettings(values) {
    Object.assign(state.settings, values);
    controls.set(state.settings);
    decide();
    saveLink();
  }

  function resetAll() {
    changeSettings(Object.fromEntries(SLIDERS.map(({ name }) => [name, config.defaults[name]])));
  }

  function changeVariant(name) {
    state.settings.variant = name;
    analyse();
  }

  // Weights that are only listed are loaded first; the triplet and the settings stay.
  const loadModel = latestWins(
    async (id) => {
      const known = config.models.find((model) => model.id === id);
      if (known && known.report) return { model: known };
      busy(true);
      const answer = (await server.ask('weights.card', { id })) || unreachable();
      busy(false);
      return answer;
    },
    async (answer, id, more) => {
      if (more) return;
      if (answer.error) {
        header.refresh();
        if (!analysis && state.example) analyse();
        sources.complain([{ zone: null, note: answer.error }]);
      } else {
        useModel(answer.model);
      }
    },
  );

  function changeModel(id) {
    loadModel(id);
  }

  function useModel(model) {
    const place = config.models.findIndex((known) => known.id === model.id);
    if (place < 0) config.models.push(model);
    else config.models[place] = model;
    state.weights = model.id;
    state.settings.variant = possibleVariant();
    about.refresh();
    header.refresh();
    analyse();
  }

  // A patch was pinned or let go: say why it was kept, or close what says so.
  function explain(modality, patch) {
    if (patch !== null) why.open({ modality, patch });
    else if (why.subject() && why.subject().token === undefined) why.hide();
  }

  // A bundle shows the numbers it holds; without its weights there is nothing to move them.
  async function showBundle({ analysis: payload, model, pictures }, file) {
    if (!config.models.some((known) => known.id === model.id)) config.models.push(model);
    else if (model.id === 'bundle') config.models[config.models.findIndex((known) => known.id === model.id)] = model;
    Object.assign(state, { weights: model.id, example: null, record: null, token: null, leaveOut: new Set() });
    state.sources = Object.fromEntries(MODALITIES.map((m) => [m, pictures[m] ? { ...pictures[m], file, slot: 'bundle' } : null]));
    Object.assign(state.settings, payload.settings);
    controls.set(state.settings);
    await showAnalysis(payload);
    confirmed = choices();
    header.refresh();
    saveLink();
  }

  async function showAnalysis(payload) {
    analysis = await loadPhotos(unpackAnalysis(payload, null));
    for (const cell of grid.cells) cell.painted = '';
    state.key = payload.key;
    controls.node.inert = !payload.key;
    state.photos = Object.fromEntries(MODALITIES.map((m) => [m, analysis.modalities[m].packed.photo]));
    sources.refresh();
    layout();
    shown();
    layout(); // the texts that came with the numbers take room, too
  }

  function chooseToken(token) {
    state.token = token;
    if (token !== null && !selection.node.hidden) why.open({ token });
    else if (token === null && why.subject() && why.subject().token !== undefined) why.hide();
    decide();
    if (token === null) paint();
  }

  function openMatrix() {
    if (!analysis || !analysis.counts.tokens) return;
    dialog.node.showModal();
    decide();
  }

  function busy(yes) {
    progress.hidden = !yes;
    grid.node.setAttribute('aria-busy', String(yes));
  }

  // After new numbers: everything that shows them.
  function shown() {
    const { tokens } = analysis.counts;
    if (state.token !== null && state.token >= tokens) state.token = tokens ? tokens - 1 : null;
    views.current().update(analysis);
    heads.forEach((head) => head.useVariant(analysis.settings.variant));
    controls.explain(analysis);
    sources.setNotes(analysis.notes.filter((note) => note.code !== 'aggregation.clamped'));
    if (dialog.node.open) dialog.update(analysis, state, tables);
    grid.node.dataset.settings = JSON.stringify(analysis.settings);
  }

  function paint() {
    const colours = cssGradient(tables[state.display.colormap]);
    if (page.style.getPropertyValue('--colours') !== colours) page.style.setProperty('--colours', colours);
    if (!analysis) return;
    for (const cell of grid.cells) paintCell(cell, analysis, state, tables, i18n);
    chooser.update(analysis.counts.tokens, state.token, i18n);
    hover.show();
  }

  function layout() {
    if (selection.node.hidden) return;
    const shape = analysis ? analysis.grid : currentModel().grid;
    empty.hidden = analysis !== null || state.example !== null || state.record !== null;
    const top = main.querySelector('.lens-area').getBoundingClientRect().top + window.scrollY;
    const area = {
      width: main.clientWidth - 2 * CELL_GAP,
      height: window.innerHeight - top - readout.offsetHeight - CELL_GAP,
    };
    if (fitGrid(grid, area, shape)) paint();
  }

  function retranslate() {
    document.documentElement.lang = i18n.language === 'zh' ? 'zh-CN' : 'en';
    i18n.apply(page);
    header.refresh();
    about.refresh();
    sources.refresh();
    controls.explain(analysis);
    paint();
    hover.show();
    why.redraw();
    if (exporter) exporter.retranslate();
    for (const view of allViews) if (view.retranslate) view.retranslate();
  }

  i18n.onChange(retranslate);
  // Texts above the pictures wrap, and a font that comes late changes their lines. The line below them may grow while
  // somebody points at a patch, which must stay under the pointer.
  const above = new ResizeObserver(layout);
  for (const node of [main, controls.node]) above.observe(node);
  document.fonts.addEventListener('loadingdone', layout);
  window.addEventListener('resize', layout);
  controls.set(state.settings);
  state.settings.variant = possibleVariant();
  retranslate();
  views.choose(selection.id);
  if (state.example || state.record) {
    const source = state.record ? { record: state.record } : { example: state.example };
    state.sources = Object.fromEntries(MODALITIES.map((m) => [m, source]));
  }
  if (link.wanted && link.wanted !== state.weights) changeModel(link.wanted);
  else if (state.example || state.record) analyse();
  return { state, current: () => analysis };
}
