// How the same numbers are drawn: colour map, opacity, squares or smooth, scaling, dropped patches.

/** @import { LensStore } from '../core/types.js' */
import { h, segmented, uniqueId } from '../core/dom.js';
import { DISPLAY_CHOICES } from '../core/link.js';

/** @param {{ store: LensStore }} lens */
export function makeDisplay({ store }) {
  const { display } = store.state;
  const change = (name) => (value) => store.update({ display: { ...store.state.display, [name]: value } });
  const colours = h('select', { id: uniqueId('colormap'), 'data-option': 'colormap', onchange: () => change('colormap')(colours.value) },
    ...DISPLAY_CHOICES.colormap.map((name) => h('option', { value: name, selected: name === display.colormap }, name)));
  const opacity = h('input', {
    type: 'range', id: uniqueId('opacity'), min: 0, max: 1, step: 0.05, 'data-option': 'opacity',
    oninput: () => { fill(); change('opacity')(Number(opacity.value)); },
  });
  const fill = () => opacity.style.setProperty('--filled', `${Number(opacity.value) * 100}%`);
  opacity.value = String(display.opacity);
  fill();
  const field = (name, control) => h('div.lens-field', {},
    control.id ? h('label', { htmlFor: control.id, 'data-t': name }) : h('span', { 'data-t': name }), control);
  const choice = (name) => field(name, segmented(name, DISPLAY_CHOICES[name], display[name], change(name)).node);
  const node = h('section.lens-display', {}, h('h2', { 'data-t': 'display' }),
    field('colormap', colours), field('opacity', opacity), choice('smooth'), choice('scale'), choice('dropped'));
  return { node };
}
