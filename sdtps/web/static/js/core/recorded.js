// Recorded epochs in the place of an analysis: shown, moved and compared like one, until the reader leaves them.

/** @import { Config, Failure, LensStore, Note, Server, State } from './types.js' */
import { loadPhotos, unpackAnalysis } from './analysis.js';
import { makeEpochsAhead } from './epochs_ahead.js';
import { byModality } from './modalities.js';
import { latestWinsInFlight } from './requester.js';

export const RECORDED = 'recorded'; // what the weights of an epoch are called

/** @typedef {NonNullable<State['recorded']>} Where */

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

  const call = (asked) => server.ask('runs.epoch', asked);
  const ahead = makeEpochsAhead(call, request);
  const ask = latestWinsInFlight((/** @type {[Where, number]} */ [where]) => call(request(where)), (answer, asked) => show(answer, ...asked));
  let moves = 0; // how often an epoch was asked for
  let newest = 0; // the newest of them that was shown: an answer that was under way never undoes one that was here

  function showEpoch(/** @type {Where} */ where) {
    moves += 1;
    const known = ahead.find(where);
    if (known && samePictures(where, state.recorded)) show(known, where, moves);
    else ask([where, moves]);
  }

  async function show(answer, where, number) {
    if (number < newest) return;
    newest = number;
    if (answer.error) {
      complain([{ zone: null, note: /** @type {Note} */ (answer.error) }]);
      return;
    }
    const { model, ...payload } = answer;
    const analysis = unpackAnalysis(/** @type {any} */ (payload), null);
    if (samePictures(where, state.recorded) && state.analysis) {
      for (const m in analysis.modalities) {
        const { photo, image, layers, drawn, brightness } = state.analysis.modalities[m];
        Object.assign(analysis.modalities[m], { photo, image, layers, drawn, brightness });
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
    ahead.from(where);
  }

  /** Back to the model that was shown before, unless other weights were chosen meanwhile. */
  function leave() {
    if (!state.recorded) return;
    ahead.from(null);
    update({
      recorded: null,
      models: state.models.filter(({ id }) => id !== RECORDED),
      ...(state.weights === RECORDED ? before : {}),
    });
  }

  return {
    leave,
    showEpoch,
    /** What a link names, at the settings of the link. */
    showLinked: (/** @type {Where} */ where) => { linked = true; showEpoch(where); },
    /** The server has forgotten what it held, and what was asked ahead with it. */
    again: () => { const { recorded } = state; ahead.from(null); if (recorded) showEpoch(recorded); },
    /** What a link says while an epoch is shown: run and epoch, the sliders as they are, the model behind it. */
    linked: () => /** @type {State} */ (state.recorded && before ? { ...state, weights: before.weights } : state),
  };
}
