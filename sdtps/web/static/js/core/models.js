// Which weights are in use, and how others are taken up.

/** @import { Config, Failure, LensStore, Model, Note, Server, State } from './types.js' */
import { latestWins } from './requester.js';

/**
 * @param {State} state
 * @returns {Model}
 */
export const currentModel = (state) => /** @type {Model} */ (state.models.find((model) => model.id === state.weights));

/**
 * The variant that was asked for, or else the one the weights were made for.
 * @param {Model} model
 * @param {string} wanted
 * @param {Config} config
 */
export function possibleVariant({ lacking, variant }, wanted, config) {
  return [wanted, variant, ...config.variants.map((v) => v.name)].find((name) => !lacking[name]) || variant;
}

/**
 * @param {{ config: Config, server: Server, store: LensStore }} lens
 * @param {() => void} analyse
 * @param {(failures: Failure[]) => void} complain
 */
export function makeModels({ config, server, store }, analyse, complain) {
  const { state, update } = store;

  /** @param {Model} model */
  function useModel(model) {
    const known = state.models.some(({ id }) => id === model.id);
    const models = known ? state.models.map((m) => (m.id === model.id ? model : m)) : [...state.models, model];
    // Who has not chosen a variant gets the one that the weights were trained with.
    const unchosen = currentModel(state)?.variant === state.settings.variant;
    const variant = possibleVariant(model, unchosen ? model.variant : state.settings.variant, config);
    update({ models, weights: model.id, settings: { ...state.settings, variant } });
    analyse();
  }

  // Weights that are only listed are loaded first; the image set and the settings stay.
  const chooseModel = latestWins(
    async (/** @type {string} */ id) => {
      const known = state.models.find((model) => model.id === id);
      if (known && known.report) return { model: known };
      update({ busy: true });
      const answer = await server.ask('weights.card', { id });
      update({ busy: false });
      return answer;
    },
    async (answer, _, more) => {
      if (more) return;
      if (!answer.error) { useModel(answer.model); return; }
      update({ models: [...state.models] }); // the menu goes back to the weights in use
      if (!state.analysis) analyse();
      complain([{ zone: null, note: /** @type {Note} */ (answer.error) }]);
    },
  );

  return { useModel, chooseModel };
}

/**
 * The panels that a variant has; another selector has others.
 * @param {Config} config
 * @param {string | undefined} variant
 */
export function panelsOf(config, variant) {
  const known = config.variants.find(({ name }) => name === variant);
  return config.panels.filter(({ name }) => !known || known.panels.includes(name));
}
