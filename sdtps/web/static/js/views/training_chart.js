// One chart of the Training tab: a curve per run, and what each has at the epoch under the pointer.

/** @import { Translator } from '../core/types.js' */
import { h } from '../core/dom.js';
import { fitted, lineChart } from './chart.js';
import { runKind } from './training_curves.js';

const HEIGHT = 190;

/**
 * What the runs have at one epoch, in the order of the lines from top to bottom.
 * @param {{ series: { id: number, name: string, values: (number | null)[] }[] }} spec
 * @param {number} i
 */
export function valuesAt({ series }, i) {
  return series.flatMap(({ id, name, values }) => (values[i] === null ? [] : [{ id, name, value: /** @type {number} */ (values[i]) }]))
    .sort((a, b) => b.value - a.value);
}

/**
 * @param {{ key: string, epochs: number[], series: { id: number, name: string, values: (number | null)[] }[],
 *   xRange: [number, number], range: [number, number], log: boolean }} spec
 * @param {{ title: string, now: number | null, i18n: Translator, onPick: (epoch: number) => void }} look
 */
export function runChart(spec, { title, now, i18n, onPick }) {
  const values = h('ul.lens-run-values', { hidden: true });
  const epoch = i18n.t('training.epoch');

  function point(i) {
    values.hidden = i === null;
    if (i === null) return;
    const [first, last] = spec.xRange;
    values.classList.toggle('lens-on-the-left', spec.epochs[i] > (first + last) / 2); // beside what is pointed at
    values.replaceChildren(h('li', {}, h('b', {}, `${epoch} ${spec.epochs[i]}`)), ...valuesAt(spec, i).map(({ id, name, value }) => (
      h('li', {}, h(`i.lens-key-${runKind(id)}`), name, h('b', {}, String(Number(value.toPrecision(3))))))));
  }

  return h('figure.lens-run-chart', { 'data-curve': spec.key }, h('figcaption', {}, title), values, fitted(HEIGHT, (width) => lineChart({
    width, height: HEIGHT, label: title,
    x: { values: spec.epochs, range: spec.xRange, title: epoch },
    y: { range: spec.range, title: '', log: spec.log },
    series: spec.series.map((line) => ({ values: line.values, kind: runKind(line.id) })),
    now,
    onPoint: point,
    onPick: (i) => onPick(spec.epochs[i]),
  })));
}
