// How a figure should be: its width, format and columns.

/** @import { Lens, Panel } from '../core/types.js' */
import { h, segmented, uniqueId } from '../core/dom.js';
import { panelsOf } from '../core/models.js';
import { figureLook } from './saver.js';

const NARROW_INCHES = 5;

/**
 * The columns that a figure has unless others are chosen.
 * @param {Panel[]} panels
 * @param {boolean} narrow
 * @returns {string[]}
 */
export function figureColumns(panels, narrow) {
  return panels.filter((panel) => (narrow ? panel.compact : !panel.what_if)).map((panel) => panel.name);
}

/**
 * @param {Lens} lens
 * @param {() => void} onChange
 */
export function makeFigureForm(lens, onChange) {
  const { config, i18n, store } = lens;
  const { formats, widths } = config.export;
  const names = config.panels.map((panel) => panel.name);
  const width = h('select', { id: uniqueId('width'), 'data-export': 'width', onchange: () => { chooseColumns(); onChange(); } },
    ...Object.keys(widths).map((name) => h('option', { value: name, selected: name === 'cvpr-page' })));
  let kind = 'pdf';
  const format = segmented('format', formats, kind, (value) => { kind = value; dpiRow.hidden = value !== 'png'; });
  const dpi = h('input', { type: 'number', id: uniqueId('dpi'), min: 72, max: 1200, value: config.export.dpi, 'data-export': 'dpi' });
  const check = (name, on) => h('input', { type: 'checkbox', id: uniqueId(name), checked: on, 'data-export': name, onchange: onChange });
  const captions = check('captions', false);
  const provenance = check('provenance', true);
  const boxes = Object.fromEntries(names.map((name) => [name, check(`column.${name}`, false)]));
  const labelled = (box, key) => h('label', {}, box, h('span', { 'data-t': key }));
  const row = (key, field) => h('div.lens-field', {}, h(field.id ? 'label' : 'span', { htmlFor: field.id, 'data-t': key }), field);
  const dpiRow = row('export.dpi', dpi);
  dpiRow.hidden = true;
  const nodes = [
    row('export.width', width), row('export.format', format.node), dpiRow,
    h('div.lens-export-columns', { role: 'group', 'data-t-aria': 'export.columns' }, ...names.map((name) => labelled(boxes[name], `column.${name}`))),
    h('div.lens-export-columns', {}, labelled(captions, 'export.captions'), labelled(provenance, 'export.provenance')),
  ];

  function chooseColumns() {
    const panels = panelsOf(config, store.state.settings.variant);
    const chosen = figureColumns(panels, widths[width.value] < NARROW_INCHES);
    for (const name of names) {
      boxes[name].checked = chosen.includes(name);
      /** @type {HTMLElement} */ (boxes[name].parentElement).hidden = !panels.some((panel) => panel.name === name);
    }
  }

  const look = () => ({
    width: width.value,
    columns: names.filter((name) => boxes[name].checked),
    captions: captions.checked,
    provenance: provenance.checked,
    ...figureLook(lens),
  });

  function nameWidths() {
    for (const option of width.options) {
      const [venue, part] = option.value.split('-');
      option.textContent = `${venue.toUpperCase()} ${i18n.t(`export.${part}`)} (${widths[option.value].toFixed(2)} in)`;
    }
  }

  chooseColumns();
  nameWidths();
  store.subscribe(['language'], nameWidths);
  store.subscribe(['settings.variant'], chooseColumns);
  return { nodes, look, file: () => ({ format: kind, dpi: Number(dpi.value) || config.export.dpi }) };
}
