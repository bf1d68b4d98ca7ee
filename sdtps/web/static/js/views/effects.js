// In words: what each way to train the selection does to the gradient map, and what it did to training in the lab.

/** @import { Lens } from '../core/types.js' */
/** @import { LabLine } from './training_lab.js' */
import { h } from '../core/dom.js';
import { flowOf, lackingOf, power } from './story.js';

// Route of the gradients, variant, and the experiments of the lab that trained it.
export const EFFECTS = [
  { route: 'final', variant: 'final', runs: ['final'] },
  { route: 'gumbel-tau1', variant: 'complete-gumbel', runs: ['gumbel-tau1', 'gumbel-tau5', 'gumbel-tau10'] },
  { route: 'importance', variant: 'importance', runs: ['importance'] },
  { route: 'gumbel-soft', variant: 'gumbel-soft', runs: ['gumbel-soft'] },
  { route: 'ste-tokens', variant: 'ste-tokens', runs: ['ste-tokens'] },
];

/** @param {Lens} lens */
export function makeEffects({ i18n, server }) {
  /** @type {Promise<LabLine[]> | null} */
  let asked = null;
  /** @type {LabLine[]} */
  let lines = [];

  /** The lab's lines once they are here; asked for once. */
  function ready(then) {
    asked ??= server.ask('runs.lab', {}).then((answer) => /** @type {any} */ (answer).lab || []);
    if (!lines.length) asked.then((got) => { lines = got; if (got.length) then(); });
  }

  /** @param {string} name of an experiment */
  const saw = (name) => {
    const line = lines.find((l) => l.name === name);
    return line ? i18n.sentence(line.said) : null;
  };

  /**
   * What a variant does, for its card; nothing for variants that were not trained.
   * @param {string} name
   * @param {(names: string[]) => void} seeTraining
   */
  function ofVariant(name, seeTraining) {
    const effect = EFFECTS.find(({ variant }) => variant === name);
    if (!effect) return [];
    const training = saw(effect.runs[0]);
    return [h('p.lens-effect', { 'data-effect': name }, h('b', {}, `${i18n.t('effect.gradient')} `), i18n.t(`effect.${name}`),
      ...(training ? [h('br'), h('b', {}, `${i18n.t('effect.training')} `), `${training} `, seeButton(effect, seeTraining)] : []))];
  }

  const seeButton = ({ runs }, seeTraining) => h('button.lens-link', {
    type: 'button', 'data-see-training': runs[0], onclick: () => seeTraining([...new Set(['final', ...runs])]),
  }, i18n.t('effect.see'));

  /**
   * Every way, with the numbers of the image set on screen.
   * @param {Record<string, any>} found its gradients
   * @param {(names: string[]) => void} seeTraining
   */
  function ofRoutes(found, seeTraining) {
    const told = lackingOf(found); // by the story beside the list, once
    const entry = (effect) => {
      const flow = flowOf(found, effect.route);
      const training = saw(effect.runs[0]);
      const here = () => {
        if (!flow.lacking) return i18n.t('effect.here', { norm: power(flow.norms.score), zeros: Math.round(flow.zeros_kept * 100) });
        return told && told.code === flow.lacking.code ? '' : i18n.sentence(flow.lacking);
      };
      return h('li', { 'data-effect': effect.route },
        h('b', {}, `${i18n.t(`route.${effect.route}`)}: `), i18n.t(`effect.${effect.variant}`), ` ${here()}`,
        training ? ` ${i18n.t('effect.training')} ${training}` : null);
    };
    const all = [...new Set(EFFECTS.flatMap(({ runs }) => runs))];
    return h('article.lens-note', { 'data-note': 'effects' }, h('h3', {}, i18n.t('effect.title')),
      h('ul.lens-effects', {}, ...EFFECTS.map(entry)),
      lines.length ? h('button.lens-button', {
        type: 'button', 'data-see-training': 'all', onclick: () => seeTraining(all),
      }, i18n.t('training.link')) : null);
  }

  return { ready, ofVariant, ofRoutes };
}
