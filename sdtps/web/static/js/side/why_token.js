// Where an aggregated token comes from: its weights on the pictures, and the patches that it draws on.

/** @import { Analysis, Lens } from '../core/types.js' */
import { keptMask } from '../core/analysis.js';
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { percent, placeOf } from '../core/numbers.js';
import { miniMap, miniWidth, numberedBar } from '../grid/minimap.js';

const SOURCES = 4;

/**
 * @param {Record<string, any>} found the answer to why.token
 * @param {Analysis} analysis
 * @param {Lens} lens
 * @param {{ pin: Function, chooseToken: Function, hide: () => void }} actions
 * @returns {[string, Node[]]} heading and content
 */
export function tokenContent(found, analysis, { i18n, store, tables }, { pin, chooseToken, hide }) {
  const heading = i18n.t('why.token.name', { n: found.token + 1, all: found.tokens });
  const table = tables[store.state.display.colormap];
  const width = miniWidth(analysis.grid, 64, 64);
  const most = Math.max(...MODALITIES.map((m) => Math.max(...found.modalities[m].weights)));
  const picture = (m) => miniMap(analysis.grid, width, {
    image: analysis.modalities[m].image, values: found.modalities[m].weights, range: [0, most], table, opacity: 0.75,
    mask: keptMask(analysis, m), caption: m.toUpperCase(), label: `${m.toUpperCase()}, ${heading}`, data: { token: found.token, modality: m },
  });
  const drawsOn = (m) => {
    const { weights, sources, effective } = found.modalities[m];
    return h('div.lens-draws', { 'data-draws': m },
      h('h3', {}, `${m.toUpperCase()} · ${i18n.t('why.effective', { n: effective.toFixed(1) })}`),
      ...sources.slice(0, SOURCES).map((patch) => h('button.lens-source', { type: 'button', 'data-source': patch, onclick: () => pin(patch, m) },
        h('span', {}, i18n.t('why.source', placeOf(patch, analysis.grid))), h('span', {}, `${(weights[patch] * 100).toFixed(1)} %`))));
  };
  return [heading, [
    h('p', { 'data-t': 'why.token.explain' }),
    h('div.lens-minis', {}, ...MODALITIES.map(picture)),
    numberedBar(table, '0', percent(most)),
    ...MODALITIES.map(drawsOn),
    h('button.lens-button', { type: 'button', 'data-t': 'why.token.done', onclick: () => { chooseToken(null); hide(); } }),
  ]];
}
