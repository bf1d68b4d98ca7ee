// Recorded epochs in the place of an analysis: shown, moved and compared like one, until the reader leaves them.

/** @import { Config, Failure, LensStore, Note, Server, State } from './types.js' */
import { loadPhotos, unpackAnalysis } from './analysis.js';
import { byModality } from './modalities.js';
import { latestWinsInFlight } from './requester.js';

export const RECORDED = 'recorded'; // what the weights of an epoch are called

/** @typedef {{ run: number, name: string, epoch: number, probe: number }} Where `name` is the run's, for links */

const samePictures = (a, b) => Boolean(a && b && a.run === b.run && a.probe === b.probe);

/**
 * @param {{ config: Config, server: Server, store: LensStore }} lens
 * @param {(failures: Failure[]) => void} complain
 */
export function makeRecorded({ config, server, store }, complain) {
  const { state, update } = store;
  let before = null; // weights and settings of the model that was left

  let linked = false; // whether a link brought the reader here, with sliders as its sender had them

  const request = ({ run, epoch, probe }) => ({
    run, epoch, probe,
    photos: !samePictures({ run, probe }, state.recorded),
    matrix: state.token !== null || state.matrixOpen,
    // A run opens at the settings it was trained with; moved sliders then stay where they are.
    ...(linked || (state.recorded && state.recorded.run === run) ? { settings: state.settings } : {}),
  });

  const ask = latestWinsInFlight((/** @type {Where} */ where) => server.ask('runs.epoch', request(where)), show);

  async function show(answer, where) {
    if (answer.error) {
      complain([{ zone: null, note: /** @type {Note} */ (answer.error) }]);
      return;
    }
    const { model, ...payload } = answer;
    const analysis = unpackAnalysis(/** @type {any} */ (payload), null);
    if (samePictures(where, state.recorded) && state.analysis) {
      const { modalities } = state.analysis;
      for (const m in analysis.modalities) {
        analysis.modalities[m].photo ??= modalities[m].photo;
        analysis.modalities[m].image ??= modalities[m].image;
      }
    }
    await loadPhotos(analysis);
    if (!state.recorded) before = { weights: state.weights, settings: linked ? config.defaults : state.settings };
    linked = false;
    update({
      models: [...state.models.filter(({ id }) => id !== RECORDED), model],
      weights: RECORDED,
      recorded: where,
      token: state.token !== null && state.token < (payload.counts.tokens ?? 0) ? state.token : null,
      settings: { ...state.settings, ...payload.settings },
      analysis,
      key: payload.key,
      photos: byModality((m) => analysis.modalities[m].photo),
    });
  }

  /** Back to the model that was shown before, unless other weights were chosen meanwhile. */
  function leave() {
    if (!state.recorded) return;
    update({
      recorded: null,
      models: state.models.filter(({ id }) => id !== RECORDED),
      ...(state.weights === RECORDED ? before : {}),
    });
  }

  return {
    leave,
    showEpoch: (/** @type {Where} */ where) => { ask(where); },
    /** What a link names, at the settings of the link. */
    showLinked: (/** @type {Where} */ where) => { linked = true; ask(where); },
    again: () => { if (state.recorded) ask(state.recorded); },
    /** What a link says while an epoch is shown: run and epoch, the sliders as they are, the model behind it. */
    linked: () => /** @type {State} */ (state.recorded && before ? { ...state, weights: before.weights } : state),
  };
}
