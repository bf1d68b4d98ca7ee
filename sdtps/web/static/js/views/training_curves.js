// Curves of several runs as charts: which curve goes where, on which axis. Nothing is drawn here.

/** @typedef {{ id: number, name: string, curves: { name: string, log: boolean, epochs: number[], values: (number | null)[] }[] }} Run */

const COLOURS = 14; // `.lens-run0` and so on; then they begin again

/** @param {number} id */
export const runKind = (id) => `run${id % COLOURS}`;

// What a chart shows: the first of these curves that a run has.
const CHARTS = [
  { key: 'loss', of: () => ['loss'] },
  { key: 'loss_heads', of: () => ['loss_heads'] },
  { key: 'accuracy', of: () => ['accuracy'] },
  { key: 'mAP', of: () => ['mAP'] },
  { key: 'gradient', of: (route) => [`grad/${route}`], log: true },
  { key: 'drift', of: () => ['drift'] },
  { key: 'saturation', of: () => ['saturation'] },
  { key: 'effective_kept', of: () => ['effective_kept'] },
  { key: 'effective_aggregated', of: () => ['effective_aggregated'] },
];

/**
 * The ends of an axis: whole powers of ten, or a little room around the values.
 * @param {number[]} values
 * @param {boolean} [log]
 * @returns {[number, number]}
 */
export function rangeOf(values, log) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (log) return [10 ** Math.floor(Math.log10(low)), 10 ** Math.max(Math.ceil(Math.log10(high)), Math.floor(Math.log10(low)) + 1)];
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [low >= 0 && low < room * 4 ? 0 : low - room, high + room];
}

// Where every head counts, the heads' losses are the loss, and one chart of it is enough.
const sameLines = (a, b) => b && a.series.every(({ values }, i) => values.every((v, j) => {
  const other = b.series[i]?.values[j] ?? null;
  return v === other || (v !== null && other !== null && Math.abs(v - other) <= 1e-4 * Math.abs(v));
}));

/**
 * @param {Run[]} runs
 * @param {string} route whose gradient is shown
 */
export function chartsOfRuns(runs, route) {
  const charts = CHARTS.map(({ key, of, log }) => {
    const names = of(route);
    const lines = runs.map((run) => ({ run, curve: names.map((name) => run.curves.find((c) => c.name === name)).find(Boolean) }))
      .filter(({ curve }) => curve);
    const epochs = [...new Set(lines.flatMap(({ curve }) => /** @type {any} */ (curve).epochs))].sort((a, b) => a - b);
    const series = lines.map(({ run, curve }) => {
      const at = new Map(/** @type {any} */ (curve).epochs.map((e, i) => [e, curve?.values[i]]));
      const there = (e) => { const v = at.get(e) ?? null; return log && !(v > 0) ? null : v; };
      return { id: run.id, name: run.name, values: /** @type {(number | null)[]} */ (epochs.map(there)) };
    });
    const values = /** @type {number[]} */ (series.flatMap((s) => s.values.filter((v) => v !== null)));
    const xRange = /** @type {[number, number]} */ ([epochs[0], Math.max(epochs[epochs.length - 1], epochs[0] + 1)]);
    return { key, log: Boolean(log), epochs, series, xRange, range: values.length ? rangeOf(values, log) : null };
  }).filter(({ range }) => range !== null);
  return charts.filter((chart) => chart.key !== 'loss_heads' || !sameLines(chart, charts.find(({ key }) => key === 'loss')));
}
