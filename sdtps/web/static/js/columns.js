// The columns of the grid: what each shows, and its equation. Equations are our own fixed markup.

const COLUMNS = [
  { panel: 'input', symbol: 'p', equation: 'x → p<sub>1</sub>, …, p<sub>N</sub>' },
  { panel: 'self', symbol: 's<sub>im</sub>', equation: 's<sub>im</sub>[i] = Norm( cos(p<sub>i</sub>, g<sub>m</sub>) )' },
  { panel: 'cross1', symbol: 's<sub>c1</sub>', equation: 's<sub>c1</sub>[i] = Norm( cos(p<sub>i</sub>, g<sub>A</sub>) )' },
  { panel: 'cross2', symbol: 's<sub>c2</sub>', equation: 's<sub>c2</sub>[i] = Norm( cos(p<sub>i</sub>, g<sub>B</sub>) )' },
  { panel: 'predictor', symbol: 's<sub>p</sub>', equation: 's<sub>p</sub>[i] = σ( MLP(p<sub>i</sub>) )' },
  {
    panel: 'score',
    symbol: 's',
    equation: 's = (1 − 2β) s<sub>p</sub> + β ( s<sub>c1</sub> + s<sub>c2</sub> + 2 s<sub>im</sub> )',
  },
  { panel: 'kept', symbol: 'D', equation: 'K = ⌈ρN⌉, &ensp; D[i] = 1 ⇔ rank(s[i]) ≤ K' },
  {
    panel: 'aggregation',
    symbol: 'W',
    equation: 'v̂<sub>j</sub> = Σ<sub>i</sub> W<sub>ji</sub> p<sub>i</sub>, &ensp; W = softmax<sub>K</sub>( MLP(p) )',
  },
  { panel: 'soft', symbol: 'D̃', equation: 'D̃ = softmax<sub>N</sub>( s / τ )', tau: true },
  {
    panel: 'frequency',
    symbol: 'P(kept)',
    equation: 'share of draws with i ∈ topK( s / τ + Gumbel )',
    tau: true,
  },
];

const HEAT_PANELS = ['self', 'cross1', 'cross2', 'predictor', 'score', 'aggregation', 'soft', 'frequency'];

// Where a variant computes a column differently, its own equation.
const MEAN_SELF = 's<sub>im</sub>[i] = Norm( cos(p<sub>i</sub>, mean p) )';
const VARIANT_EQUATIONS = {
  'open-source': {
    self: MEAN_SELF,
    score: 's[i] = cos(p<sub>i</sub>, mean p) + cos(p<sub>i</sub>, g<sub>A</sub>) + cos(p<sub>i</sub>, g<sub>B</sub>)',
  },
  paper: {
    self: MEAN_SELF,
    aggregation: 'v̂<sub>j</sub> = Σ<sub>i</sub> W<sup>s</sup><sub>ji</sub> p<sup>s</sup><sub>i</sub> + Σ<sub>i</sub> W<sup>d</sup><sub>ji</sub> p<sup>d</sup><sub>i</sub>',
  },
  first: { aggregation: 'W = I, &ensp; v̂<sub>j</sub> = p<sub>j</sub>' },
  importance: {
    aggregation: 'v̂<sub>j</sub> = Σ<sub>i</sub> W<sub>ji</sub> p<sub>i</sub>, &ensp; W = softmax<sub>K</sub>( MLP(p) + log softmax<sub>K</sub>(s) )',
  },
};

// A column head that explains itself on hover, focus and touch.
function makeColumnHead(column) {
  const tip = h('div.lens-tip', { role: 'tooltip', id: uniqueId('tip') },
    h('strong', { 'data-t': `column.${column.panel}` }),
    h('p', { 'data-t': `explain.${column.panel}` }));
  const equation = h('p.lens-equation');
  tip.append(equation);
  const button = h('button.lens-head-name', {
    type: 'button', 'aria-describedby': tip.id,
    onkeydown: (event) => { if (event.key === 'Escape') button.blur(); },
  }, h('span', { 'data-t': `column.${column.panel}` }));
  const symbol = h('span.lens-symbol', { 'aria-hidden': 'true' });
  symbol.innerHTML = column.symbol;
  const extra = h('div.lens-head-extra', {}, symbol);
  const node = h('div.lens-head', { 'data-panel': column.panel }, button, extra, tip);
  if (column.tau) node.classList.add('lens-tau');
  let shownFor = null;
  const useVariant = (variant) => {
    if (variant === shownFor) return;
    shownFor = variant;
    equation.innerHTML = (VARIANT_EQUATIONS[variant] || {})[column.panel] || column.equation;
  };
  return { node, extra, useVariant };
}
