// One aggregated token in the grid: its weights per patch, and the menu in the head of its column.

/** @import { Analysis, Range, TokenMatrix, Translator } from '../core/types.js' */
import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';

/**
 * @param {TokenMatrix} matrix
 * @param {number} token
 * @param {number} patches
 * @param {string} scale
 * @param {Analysis} analysis
 * @returns {{ values: Float32Array, range: Range }}
 */
export function tokenRow(matrix, token, patches, scale, analysis) {
  const values = new Float32Array(patches);
  for (const { keep, cols, weights } of matrix.branches) {
    for (let k = 0; k < cols; k += 1) values[keep[k]] += weights[token * cols + k];
  }
  const shared = Math.max(...Object.values(analysis.modalities).map((m) => (m.matrix ? m.matrix.max : 0)));
  return { values, range: [0, scale === 'shared' ? shared : matrix.tokenMax[token]] };
}

/**
 * Choose all tokens or one.
 * @param {(token: number | null) => void} onChange
 * @param {() => void} onOpen
 */
export function makeTokenChooser(onChange, onOpen) {
  const select = h('select', {
    'data-t-aria': 'token.choose', onchange: () => onChange(select.value === '' ? null : Number(select.value)),
  });
  const open = h('button.lens-icon', {
    type: 'button', 'data-t-aria': 'matrix.open', 'data-t-title': 'matrix.open', onclick: onOpen,
  }, icon('matrix'));
  const node = h('div.lens-token', {}, select, open);

  /**
   * @param {number | null} tokens how many there are
   * @param {number | null} chosen
   * @param {Translator} i18n
   */
  function update(tokens, chosen, i18n) {
    node.hidden = tokens === null;
    const made = `${tokens}${i18n.language}`;
    if (select.dataset.for !== made) {
      select.dataset.for = made;
      select.replaceChildren(h('option', { value: '' }, i18n.t('token.all')));
      for (let i = 0; i < (tokens || 0); i += 1) select.append(h('option', { value: String(i) }, i18n.t('token.one', { n: i + 1 })));
    }
    select.value = chosen === null ? '' : String(chosen);
  }

  return { node, update };
}
