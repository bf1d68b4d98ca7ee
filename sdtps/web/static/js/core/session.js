// What the reader can do, and who is asked then: changes go into the store, requests to the server, answers back.

/** @import { Answer, Config, Failure, LensStore, Note, Server, Settings, State } from './types.js' */
import { loadPhotos, unpackAnalysis } from './analysis.js';
import { byModality } from './modalities.js';
import { makeModels } from './models.js';
import { makeOwnPictures } from './own_pictures.js';
import { makePictures, picturesOf } from './pictures.js';
import { makeRecall } from './recall.js';
import { makeRecorded } from './recorded.js';
import { afterwards, latestWins, latestWinsInFlight } from './requester.js';
import { UNREACHABLE } from './server.js';

const BACK_DELAY = 300; // milliseconds: a drag that goes on is not pulled back under the pointer

/**
 * @param {{ config: Config, server: Server, store: LensStore }} lens
 */
export function makeSession(lens) {
  const { config, store } = lens;
  const { state, update } = store;
  const pictures = makePictures(store, analyse);
  const own = makeOwnPictures(lens, analyse, complain);
  const models = makeModels(lens, analyse, complain);
  const decide = makeDecider(lens, again, complain);
  const asking = makeAnalyser(lens, { ...pictures, ...own }, complain, decide);
  const recorded = makeRecorded(lens, complain);
  const recalled = makeRecall(lens, { ...pictures, ...own, showBundle: asking.showBundle, changeSettings, complain });

  /** The image set from the start: through the model, with the settings as they are. */
  function analyse() {
    recorded.leave();
    update({ photos: {} });
    if (Object.values(state.sources).some((source) => source !== null)) asking.start();
  }

  /** What is shown once more: the recorded epoch, or the image set. */
  function again() {
    if (state.recorded) recorded.again();
    else analyse();
  }

  /** @param {Partial<Settings>} values */
  function changeSettings(values) {
    update({ settings: { ...state.settings, ...values } });
    decide();
  }

  /** @param {string} variant */
  function chooseVariant(variant) {
    update({ settings: { ...state.settings, variant } });
    again();
  }

  /** @param {Failure[]} failures a server that is gone has a banner of its own */
  function complain(failures) {
    update({ failures: failures.filter(({ note }) => note.code !== UNREACHABLE.code) });
  }

  /** The server is back: what is shown is asked for again, which also tells whether it still knows the pictures. */
  function goOn() {
    if (state.analysis && state.key) decide();
    else if (!state.analysis) again();
  }

  /** @param {Partial<State>} change the token, or whether the matrix is open: both may need its numbers */
  function look(change) {
    update(change);
    decide();
  }

  return {
    analyse,
    changeSettings,
    chooseVariant,
    complain,
    ...pictures,
    ...own,
    ...models,
    ...recalled,
    goOn,
    showEpoch: recorded.showEpoch,
    showLinkedEpoch: recorded.showLinked,
    linked: recorded.linked,
    resetSettings: () => changeSettings(Object.fromEntries(config.sliders.map(({ name }) => [name, config.defaults[name]]))),
    chooseToken: (/** @type {number | null} */ token) => look({ token }),
    openMatrix: (/** @type {boolean} */ matrixOpen) => look({ matrixOpen }),
  };
}

// Slider moves: asked for as they come; a set that the server forgot is opened again.
function makeDecider({ server, store }, again, complain) {
  const { state, update } = store;

  const askDecide = latestWinsInFlight(server.decide, (answer, request) => {
    if (request.key !== state.key) return;
    if (answer.error) {
      forgotten(answer);
      showShown();
      return;
    }
    update({ analysis: unpackAnalysis(answer, state.analysis), token: tokenWithin(state.token, answer.counts) });
  });

  /** @param {Answer} answer */
  function forgotten(answer) {
    if (answer.expired && answer.expired.length) again();
    else complain([{ zone: null, note: /** @type {Note} */ (answer.error) }]);
  }

  // After a failed move the sliders stand where the pictures are.
  const showShown = afterwards(() => {
    const { analysis, busy, settings } = state;
    if (analysis && !busy) update({ settings: { ...settings, ...analysis.settings } });
  }, BACK_DELAY);

  return function decide() {
    if (state.key) askDecide({ key: state.key, settings: state.settings, matrix: state.token !== null || state.matrixOpen });
  };
}

// Fewer tokens than before: the last of them, or none.
function tokenWithin(token, { tokens }) {
  if (token === null || token < tokens) return token;
  return tokens ? tokens - 1 : null;
}

// Analyses, one at a time; a refused one leaves the previous picture, and the controls must say what that picture is.
function makeAnalyser({ config, server, store }, pictures, complain, decide) {
  const { state, update } = store;
  let confirmed = null; // what was chosen for the analysis on screen

  const request = () => ({
    pictures: picturesOf(state.sources),
    leave_out: [...state.leaveOut],
    fit: state.fit,
    weights: state.weights,
    settings: state.settings,
    matrix: state.token !== null || state.matrixOpen,
  });

  const choices = () => ({
    example: state.example, record: state.record, own: state.own, told: state.told, wide: state.wide,
    sources: state.sources, leaveOut: state.leaveOut,
    fit: state.fit, weights: state.weights, variant: state.settings.variant, photos: state.photos,
  });

  function goBack() {
    if (confirmed) {
      const { variant, ...rest } = confirmed;
      update({ ...rest, settings: { ...state.settings, variant } });
    } else if (state.record && config.examples.length) {
      pictures.useExample(config.examples[0].name); // a link to a record that is not here: better an example than nothing
    }
  }

  async function show(payload, changes = {}) {
    const analysis = await loadPhotos(unpackAnalysis(payload, null));
    update({
      token: tokenWithin(state.token, payload.counts),
      ...changes,
      analysis,
      key: payload.key,
      photos: byModality((m) => analysis.modalities[m].photo),
    });
  }

  const ask = latestWins(
    async () => {
      update({ busy: true });
      const answer = await server.analyse(request());
      const again = answer.expired && answer.expired.length && await pictures.restage(answer.expired);
      return again ? server.analyse(request()) : answer;
    },
    async (answer, _, more) => {
      if (!more) update({ busy: false });
      if (answer.error) {
        if (!more) goBack();
        complain([{ zone: answer.zone, note: answer.error }]);
        return;
      }
      if (!more) confirmed = choices();
      await show(answer);
      if (!more) confirmed.photos = state.photos;
      if (JSON.stringify(answer.settings) !== JSON.stringify(state.settings)) decide();
    },
  );

  // A bundle shows the numbers it holds; without its weights there is nothing to move them.
  async function showBundle({ analysis, model, pictures: given }, file, own) {
    const known = state.models.some(({ id }) => id === model.id);
    const models = known ? state.models.map((m) => (m.id === 'bundle' && model.id === 'bundle' ? model : m)) : [...state.models, model];
    const sources = byModality((m) => (given[m] ? { ...given[m], file, slot: 'bundle' } : null));
    await show(analysis, {
      models, sources, weights: model.id, example: null, record: null, own, told: null, wide: null, token: null, leaveOut: new Set(),
      settings: { ...state.settings, ...analysis.settings },
    });
    confirmed = choices();
  }

  return { start: () => ask(null), showBundle };
}
