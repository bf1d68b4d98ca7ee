// A column head: name, symbol, and what explains it on hover, focus and touch.

/** @import { Panel } from '../core/types.js' */
import { h, uniqueId } from '../core/dom.js';

/**
 * Symbols and equations are markup of Python's own table.
 * @param {Panel} panel
 * @param {(panel: string) => void} onOpen the reader wants to see it large
 */
export function makeHead(panel, onOpen) {
  const equation = h('p.lens-equation');
  const tip = h('div.lens-tip', { role: 'tooltip', id: uniqueId('tip') },
    h('strong', { 'data-t': `column.${panel.name}` }), h('p', { 'data-t': `explain.${panel.name}` }), equation,
    h('p.lens-hint', { 'data-t': 'focus.open' }));
  const button = h('button.lens-head-name', {
    type: 'button', 'aria-describedby': tip.id,
    onclick: () => onOpen(panel.name),
    onkeydown: (event) => { if (event.key === 'Escape') button.blur(); },
  }, h('span', { 'data-t': `column.${panel.name}` }));
  const symbol = h('span.lens-symbol', { 'aria-hidden': 'true' });
  symbol.innerHTML = panel.symbol;
  const extra = h('div.lens-head-extra', {}, symbol);
  const node = h(`div.lens-head${panel.what_if ? '.lens-tau' : ''}`, { 'data-panel': panel.name }, button, extra, tip);

  /** @param {string} variant */
  function useVariant(variant) {
    symbol.innerHTML = panel.symbols[variant] || panel.symbol;
    equation.innerHTML = panel.equations[variant] || panel.equation;
  }

  return { node, extra, useVariant };
}
