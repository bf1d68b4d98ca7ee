// The method as a flow above the columns: evidence → decision → output, what if; and the formula, with its numbers now.

/** @import { Analysis, Modality, Panel, Translator, Variant } from '../core/types.js' */
import { h, setText } from '../core/dom.js';

/** @typedef {Panel['group']} Group */
/** @typedef {Partial<Record<Group, string>>} Formula the part of the formula that stands over each group */

const PLUS = ' + ';

/**
 * The columns on show as runs of one group, from left to right.
 * @param {Pick<Panel, 'name' | 'group'>[]} panels
 * @returns {{ group: Group, names: string[] }[]}
 */
export function runsOf(panels) {
  const runs = /** @type {{ group: Group, names: string[] }[]} */ ([]);
  for (const { name, group } of panels) {
    const last = runs[runs.length - 1];
    if (last && last.group === group) last.names.push(name);
    else runs.push({ group, names: [name] });
  }
  return runs;
}

const upper = (names) => names.map((name) => name.toUpperCase());

// What the score is made of: a weight in front of each part that counts.
function weighted(weights, names) {
  const times = (weight, name) => (weight === 1 ? name : `${weight.toFixed(2)} × ${name}`);
  return names.map((name, i) => [weights[i], name]).filter(([weight]) => weight !== 0).map(([weight, name]) => times(weight, name)).join(PLUS);
}

// What is handed on: blended tokens, the kept patches themselves, or nothing but the extra token.
function handedOn({ counts }, variant, i18n) {
  const blends = !variant || !variant.reads || variant.reads.includes('aggr_ratio');
  if (blends && counts.tokens) return i18n.t('flow.tokens', { n: counts.tokens });
  return i18n.t(blends && counts.tokens === 0 ? 'flow.extra' : 'flow.kept', counts);
}

function ownFormula(analysis, modality, i18n, variant) {
  const { counts, mix, modalities, settings } = analysis;
  const [first, second] = upper(modalities[modality].others);
  const parts = weighted([mix.self, mix.cross, mix.cross, mix.predictor], [i18n.t('flow.own'), first, second, i18n.t('flow.predictor')]);
  return {
    evidence: mix.cosines ? i18n.t('flow.cosines', { parts }) : parts,
    decision: i18n.t('flow.top', { n: counts.kept }),
    output: handedOn(analysis, variant, i18n),
    'what-if': i18n.t('flow.noise', { tau: Number(settings.tau.toPrecision(3)) }),
  };
}

function softFormula({ counts, modalities }, modality, i18n) {
  const { numbers, others, effective, weight_range: range } = modalities[modality];
  const names = [i18n.t('flow.own'), ...upper(others)];
  const mixing = numbers && numbers.mixing;
  return {
    evidence: mixing ? weighted(mixing, names) : names.join(PLUS),
    decision: range ? i18n.t('flow.mask', { n: Math.round(effective), all: counts.patches }) : i18n.t('flow.top', { n: modalities[modality].kept }),
  };
}

function unionFormula({ counts, modalities, settings }, modality, i18n) {
  const { kept, others } = modalities[modality];
  const [first, second] = upper(others);
  const k = settings.knobs?.k;
  return {
    evidence: i18n.t('flow.marks', { k: k ?? 'k', first, second }),
    decision: i18n.t('flow.union', { n: kept, all: counts.patches }),
    output: i18n.t('flow.attention'),
  };
}

const FORMULAS = { sdtps: ownFormula, soft: softFormula, sim: unionFormula };

/**
 * What the selector does with these pictures, in numbers of the analysis.
 * @param {Analysis} analysis
 * @param {(Pick<Variant, 'selector'> & Partial<Variant>) | undefined} variant
 * @param {Modality} modality whose row it is about
 * @param {Translator} i18n
 * @returns {Formula}
 */
export function formulaOf(analysis, variant, modality, i18n) {
  const write = FORMULAS[variant ? variant.selector : 'sdtps'];
  if (write) return write(analysis, modality, i18n, variant);
  const { kept, weight_range: soft } = analysis.modalities[modality]; // a selector of one's own: only what is known of it
  return soft || !kept ? {} : { decision: i18n.t('flow.top', { n: kept }) };
}

/**
 * @param {Panel[]} panels
 * @param {Translator} i18n
 */
export function makeFlow(panels, i18n) {
  const node = h('div.lens-flow', { role: 'group', 'data-t-aria': 'flow' });
  const parts = /** @type {Map<Group, HTMLElement>} */ (new Map());
  const whose = h('span.lens-flow-whose');

  /** @param {string[]} names the panels that the selector has */
  function showPanels(names) {
    parts.clear();
    const runs = runsOf(panels.filter(({ name }) => names.includes(name)));
    node.replaceChildren(h('div.lens-flow-start', {}, whose), ...runs.map(({ group, names: columns }) => {
      const formula = h('span.lens-flow-formula', { 'data-formula': group });
      if (!parts.has(group)) parts.set(group, formula);
      return h('div.lens-flow-group', { 'data-group': group, style: `--span:${columns.length}` },
        h('span.lens-flow-name', { 'data-t': `group.${group}`, 'data-t-title': `group.${group}.title` }), formula);
    }));
    i18n.apply(node);
    return runs;
  }

  /**
   * Only texts change, so that a drag costs nothing here.
   * @param {Analysis} analysis
   * @param {Variant | undefined} variant
   * @param {Modality} modality
   */
  function update(analysis, variant, modality) {
    const formula = formulaOf(analysis, variant, modality, i18n);
    setText(whose, modality.toUpperCase());
    for (const [group, part] of parts) setText(part, formula[group] || '');
  }

  return { node, showPanels, update };
}
