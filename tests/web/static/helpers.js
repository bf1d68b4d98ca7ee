// A small page configuration and answer, as the server would send them.

const bytes = (values, Type) => Buffer.from(new Type(values).buffer).toString('base64');
export const floats = (values) => bytes(values, Float32Array);
export const ints = (values) => bytes(values, Int32Array);

const panel = (name, kind, group, more = {}) => ({
  name, kind, group, symbol: name, equation: '', equations: {}, other: null, masked: false, tokens: false,
  what_if: group === 'what-if', compact: true, sliders: [], shares: false, ...more,
});

export const PANELS = [
  panel('input', 'photo', 'evidence'),
  panel('near', 'heat', 'evidence', { other: 1, compact: false }),
  panel('score', 'heat', 'decision', { sliders: ['beta'] }),
  panel('kept', 'kept', 'decision', { masked: true }),
  panel('blend', 'heat', 'output', { masked: true, tokens: true, sliders: ['beta', 'sparse_ratio'] }),
  panel('often', 'heat', 'what-if', { sliders: ['beta', 'tau'], shares: true, compact: false }),
];

export const CONFIG = {
  panels: PANELS,
  sliders: [
    { name: 'sparse_ratio', symbol: 'ρ', step: 0.01, log: false, low: 0.05, high: 1 },
    { name: 'beta', symbol: 'β', step: 0.01, log: false, low: 0, high: 0.5 },
    { name: 'tau', symbol: 'τ', step: 0.01, log: true, low: 0.05, high: 10 },
  ],
  defaults: { sparse_ratio: 0.5, beta: 0.25, tau: 1, variant: 'final' },
  variants: [
    { name: 'final', label: 'V8', summary: '', soft: false, panels: [], reads: [], knobs: [] },
    { name: 'paper', label: 'V3', summary: '', soft: false, panels: [], reads: [], knobs: [] },
  ],
  examples: [{ name: 'day', title: { en: 'Day' }, thumbnail: '' }, { name: 'night', title: { en: 'Night' }, thumbnail: '' }],
  models: [
    { id: 'one', weights: { name: 'a' }, variant: 'final', lacking: { paper: { text: 'no' } }, grid: { rows: 2, cols: 2 }, report: {} },
    { id: 'two', weights: { name: 'b' }, variant: 'paper', lacking: {}, grid: { rows: 2, cols: 2 } },
  ],
  roots: [],
};

// Four patches in two rows; two are kept.
export function payload(score = [4, 1, 3, 2]) {
  const half = () => ({
    photo: null, missing: false, others: ['nir', 'tir'], token_norm: floats([1, 2, 3, 4]), raw: { near: floats([0.1, 0.2, 0.3, 0.4]) },
    maps: { near: floats([0, 0.25, 0.5, 1]), score: floats(score), blend: null, often: floats([0, 0, 1, 1]) },
    ranges: { near: [0, 1], score: [1, 4], often: [0, 1] }, rank: ints([0, 3, 1, 2]), cut: 3, margin: 1, matrix: null,
  });
  return {
    key: 'k', grid: { rows: 2, cols: 2 }, size: [64, 32], settings: { ...CONFIG.defaults }, weights: {},
    counts: { patches: 4, kept: 2, tokens: 3, draws: 64 }, ranges: { near: [0, 1], score: [0, 5], blend: [0, 0], often: [0, 1] },
    mix: {}, notes: [], modalities: { rgb: half(), nir: half(), tir: half() },
  };
}

// What a slider move brings.
export function move(score) {
  const half = {
    maps: { score: floats(score) }, ranges: { score: [Math.min(...score), Math.max(...score)] }, rank: ints([3, 2, 1, 0]), cut: 2, margin: 1, matrix: null,
  };
  return { key: 'k', settings: { ...CONFIG.defaults, beta: 0.3 }, counts: { patches: 4, kept: 2, tokens: 3, draws: 64 }, ranges: { score: [0, 9] }, modalities: { rgb: half, nir: half, tir: half } };
}
