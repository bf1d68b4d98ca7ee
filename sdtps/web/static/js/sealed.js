// Without a server: every number was computed before and lies in the page; a slider move looks it up.

/** @import { Config, Payload, Server, Settings } from './core/types.js' */
import { packNumbers, unpack } from './core/bytes.js';
import { MODALITIES } from './core/modalities.js';
import { nearestIndex } from './core/numbers.js';
import { rowAt } from './core/tables.js';
import { mountLens } from './lens.js';
import { sealedWhy } from './sealed_why.js';

/** @typedef {import('./core/tables.js').Table} Table numbers for every stop of some sliders */
/** @typedef {Record<string, [string, number[]]>} Kinds type and shape by name */
/** @typedef {{ config: Config, analysis: Payload, facts: Record<string, any>, arrays: { kinds: Kinds, content: string },
 *   positions: { axes: [string, number[]][], content: string } | null }} Sealed */

const TYPES = {
  float64: Float64Array, float32: Float32Array, int32: Int32Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array,
};

/**
 * The inverse of the packing in Python: planes of bytes → numbers.
 * @param {Kinds} kinds
 * @param {Uint8Array} bytes
 * @returns {Record<string, Table>}
 */
export function joinPlanes(kinds, bytes) {
  const tables = /** @type {Record<string, Table>} */ ({});
  let begin = 0;
  for (const [name, [kind, shape]] of Object.entries(kinds)) {
    const Type = TYPES[kind];
    const count = shape.reduce((product, length) => product * length, 1);
    const size = Type.BYTES_PER_ELEMENT;
    const whole = new Uint8Array(count * size);
    for (let plane = 0; plane < size; plane += 1) {
      const from = begin + plane * count;
      for (let i = 0; i < count; i += 1) whole[i * size + plane] = bytes[from + i];
    }
    begin += count * size;
    tables[name] = { values: new Type(whole.buffer), shape };
  }
  return tables;
}

/**
 * What a server would answer to a slider move.
 * @param {Pick<Sealed, 'config' | 'facts' | 'analysis'>} sealed
 * @param {Record<string, Table>} tables
 * @param {Settings} asked
 */
export function sealedAnswer({ config, facts, analysis }, tables, asked) {
  const at = {};
  const settings = { ...asked };
  for (const [name, steps] of Object.entries(config.steps || {})) {
    at[name] = nearestIndex(steps, asked[name]);
    settings[name] = steps[at[name]];
  }
  const { beta: b, sparse_ratio: r, aggr_ratio: a } = at;
  const moving = config.panels.filter(({ name }) => name in tables);
  const placeOf = (panel) => panel.sliders.map((slider) => at[slider]);
  const modality = (m, i) => {
    const there = moving.filter(({ name }) => analysis.modalities[m].maps[name] !== null);
    const [cut, margin] = rowAt(tables.cut, [b, r, i]);
    const numbers = (panel) => {
      const row = rowAt(tables[panel.name], [...placeOf(panel), i]);
      return panel.shares ? Float32Array.from(row, (count) => count / analysis.counts.draws) : row;
    };
    return {
      maps: Object.fromEntries(there.map((panel) => [panel.name, packNumbers(numbers(panel))])),
      ranges: Object.fromEntries(there.map((panel) => [panel.name, [...rowAt(tables[`${panel.name}.range`], [...placeOf(panel), i])]])),
      flat: Object.fromEntries(there.map((panel) => [panel.name, rowAt(tables[`${panel.name}.flat`], [...placeOf(panel), i])[0] === 1])),
      rank: packNumbers(rowAt(tables.rank, [b, i])),
      kept: facts.kept[r],
      cut,
      margin: Number.isNaN(margin) ? null : margin,
      matrix: null,
    };
  };
  const shared = moving.map((panel) => [panel.name, [...rowAt(tables[`${panel.name}.shared`], placeOf(panel))]]);
  return {
    key: analysis.key,
    settings,
    counts: { ...analysis.counts, kept: facts.kept[r], tokens: facts.tokens[r][a] },
    mix: facts.mix[b],
    ranges: { ...analysis.ranges, ...Object.fromEntries(shared) },
    notes: facts.notes[r][a],
    modalities: Object.fromEntries(MODALITIES.map((m, i) => [m, modality(m, i)])),
  };
}

/**
 * The place of a position among all of another selector: the last axis moves fastest.
 * @param {[string, number[]][]} axes
 * @param {Settings} asked
 * @param {Settings} own what stands for knobs that were not moved
 */
export function positionOf(axes, asked, own) {
  const value = (name) => asked.knobs?.[name] ?? own.knobs?.[name] ?? asked[name];
  return axes.reduce((index, [name, stops]) => index * stops.length + nearestIndex(stops, value(name)), 0);
}

/** @param {string} content gzip in base64 */
const inflated = (content) => new Response(
  new Blob([unpack(content, Uint8Array)]).stream().pipeThrough(new DecompressionStream('gzip')),
);

/** @param {Document} page */
export async function start(page) {
  page.body.classList.toggle('dark', matchMedia('(prefers-color-scheme: dark)').matches);
  const data = /** @type {Sealed} */ (JSON.parse(page.querySelector('#lens-data')?.textContent || ''));
  const tables = joinPlanes(data.arrays.kinds, new Uint8Array(await inflated(data.arrays.content).arrayBuffer()));
  const { axes } = data.positions ?? { axes: [] };
  const found = data.positions ? await inflated(data.positions.content).json() : [];
  const moved = (settings) => ({ ...found[positionOf(axes, settings, data.analysis.settings)], key: data.analysis.key });
  const alone = { error: { code: 'sealed', values: {}, text: 'This page has no server, so it cannot compute this.' } };
  /** @type {Server} */
  const server = {
    stage: async () => alone,
    uploadWeights: async () => alone,
    ask: async (task, asked) => (task === 'why.patch' && !data.positions ? sealedWhy(data, tables, /** @type {any} */ (asked)) : alone),
    analyse: async () => data.analysis,
    decide: async ({ settings }) => (data.positions ? moved(settings) : sealedAnswer(data, tables, settings)),
  };
  mountLens(/** @type {HTMLElement} */ (page.querySelector('.lens-root')), { ...data.config, explains: !data.positions }, server);
}
