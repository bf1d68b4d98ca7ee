// The named variants on the same image set and weights, each beside the one that is chosen.

/** @import { Lens, Range } from '../core/types.js' */
import { variantLabel, variantSummary, variantTitle } from '../bar/variant.js';
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { orDash } from '../core/numbers.js';
import { askAbout } from '../core/questions.js';
import { latestWins } from '../core/requester.js';
import { computing } from '../core/work.js';
import { miniMap, miniWidth } from '../grid/minimap.js';
import { photoLook } from '../grid/paint.js';
import { makeEffects } from './effects.js';

// The kept patches, or the weights of a selector that drops none.
const decision = ({ mask, weights }, table) => (weights ? { values: weights, range: /** @type {Range} */ ([0, 1]), table } : { mask });

function picture(result, m, { analysis, display }, { current, table }) {
  const change = result.modalities[m];
  return h('div', {},
    miniMap(analysis.grid, miniWidth(analysis.grid, 72, 96), {
      ...photoLook(analysis.modalities[m], display), ...decision(change, table),
      entered: current ? null : change.entered, left: current ? null : change.left,
      caption: m.toUpperCase(), label: `${result.name}, ${m.toUpperCase()}`, data: { variant: result.name, modality: m },
    }),
    current ? null : h('p.lens-under', { 'data-jaccard': m },
      `+${change.entered.length} −${change.left.length} · Jaccard ${change.overlap.jaccard.toFixed(2)}`));
}

function pictures(result, { current, table }, state, i18n) {
  const differ = MODALITIES.some((m) => !result.modalities[m].missing && result.modalities[m].entered.length);
  const words = [i18n.t('variants.numbers', { kept: result.kept, tokens: result.tokens ?? '–' })];
  if (!current) {
    words.push(i18n.t('variants.cosine', { value: orDash(result.sdtps_cosine, 3) }), i18n.t(differ ? 'variants.differs' : 'variants.same'));
  }
  return [
    h('div.lens-minis', {}, ...MODALITIES.map((m) => picture(result, m, state, { current, table }))),
    h('p.lens-under', { 'data-numbers': result.name }, words.join(' · ')),
  ];
}

/**
 * @param {Lens} lens
 * @param {{ seeTraining: (names: string[]) => void }} ways
 */
export function makeVariantsView(lens, { seeTraining }) {
  const { i18n, config, store, session, tables } = lens;
  const { state } = store;
  const cards = h('div.lens-variant-cards', {}, computing());
  const node = h('div.lens-variants', {}, h('p.lens-intro', { 'data-t': 'variants.intro' }), cards);
  const effects = makeEffects(lens);
  let found = null;

  const ask = latestWins(
    () => askAbout(lens, 'why.variants'),
    (answer) => { found = answer; draw(); },
  );

  function card(result) {
    const about = /** @type {any} */ (config.variants.find((v) => v.name === result.name));
    const current = result.name === found.now;
    const use = () => session.chooseVariant(result.name);
    return h(`article.lens-card${current ? '.lens-current' : ''}`, { 'data-variant': result.name },
      h('header', {}, h('h3', {}, variantTitle(result.name, i18n), h('small', {}, variantLabel(about))),
        current ? h('span.lens-badge', { 'data-t': 'variants.current' })
          : h('button.lens-button', {
            type: 'button', 'data-use': result.name, 'data-t': 'variants.use', disabled: Boolean(result.lacking), onclick: use,
          })),
      h('p', {}, variantSummary(about, i18n)),
      ...effects.ofVariant(result.name, seeTraining),
      ...(result.lacking ? [h('p.lens-lacking', {}, i18n.sentence(result.lacking))]
        : pictures(result, { current, table: tables[state.display.colormap] }, state, i18n)));
  }

  function draw() {
    if (!found || !state.analysis) return;
    if (found.error) {
      cards.replaceChildren(h('p.lens-hint', {}, i18n.sentence(found.error)));
      return;
    }
    cards.replaceChildren(...found.variants.map(card));
    i18n.apply(cards);
    node.dataset.variants = found.now;
  }

  return { id: 'variants', node, retranslate: draw, shown: () => effects.ready(draw), update: () => { if (state.key) ask(null); } };
}
