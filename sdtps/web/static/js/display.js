// How the same numbers are drawn: colour map, opacity, squares or smooth, scaling, dropped patches.

function makeDisplay(i18n, display, onChange) {
  const change = (name) => (value) => { display[name] = value; onChange(); };
  const select = h('select', { id: uniqueId('colormap'), 'data-option': 'colormap', onchange: () => change('colormap')(select.value) },
    ...DISPLAY_CHOICES.colormap.map((name) => h('option', { value: name, selected: name === display.colormap }, name)));
  const opacity = h('input', {
    type: 'range', id: uniqueId('opacity'), min: 0, max: 1, step: 0.05, 'data-option': 'opacity',
    oninput: () => { fill(); change('opacity')(Number(opacity.value)); },
  });
  opacity.value = display.opacity;
  const fill = () => opacity.style.setProperty('--filled', `${opacity.value * 100}%`);
  fill();
  const node = h('section.lens-display', {},
    h('h2', { 'data-t': 'display' }),
    h('div.lens-field', {}, h('label', { htmlFor: select.id, 'data-t': 'colormap' }), select),
    h('div.lens-field', {}, h('label', { htmlFor: opacity.id, 'data-t': 'opacity' }), opacity),
    h('div.lens-field', {}, h('span', { 'data-t': 'smooth' }), segmented('smooth', DISPLAY_CHOICES.smooth, display.smooth, change('smooth'))),
    h('div.lens-field', {}, h('span', { 'data-t': 'scale' }), segmented('scale', DISPLAY_CHOICES.scale, display.scale, change('scale'))),
    h('div.lens-field', {}, h('span', { 'data-t': 'dropped' }), segmented('dropped', DISPLAY_CHOICES.dropped, display.dropped, change('dropped'))));
  return { node };
}
