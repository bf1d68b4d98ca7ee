// Small helpers for making elements; text always goes in as text, never as markup.

function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const node = document.createElement(name);
  if (classes.length) node.className = classes.join(' ');
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith('aria-')) { node.setAttribute(key, String(value)); continue; }
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else if (key in node) node[key] = value;
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Writing what is already there would still cost a layout.
function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

let lastId = 0;
function uniqueId(prefix) {
  lastId += 1;
  return `lens-${prefix}-${lastId}`;
}

// One of several named choices as a row of radio buttons.
function segmented(name, options, value, onChange) {
  const group = uniqueId(name);
  const inputs = options.map((option) => h('input', {
    type: 'radio', name: group, value: option, checked: option === value,
    onchange: () => onChange(option),
  }));
  const node = h('div.lens-segmented', { role: 'radiogroup', 'data-t-aria': name, 'data-option': name },
    ...options.map((option, i) => h('label', {}, inputs[i], h('span', { 'data-t': `${name}.${option}` }))));
  node.select = (chosen) => inputs.forEach((input) => { input.checked = input.value === chosen; });
  return node;
}

// A number for a caption: short, never more digits than a reader can use.
function shortNumber(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 0.001) return value.toExponential(1);
  if (size < 0.1) return value.toFixed(4);
  return size < 10 ? value.toFixed(3) : value.toPrecision(4);
}

function rangeNumber(value) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 0.001) return value.toExponential(0);
  if (size < 0.1) return value.toFixed(3);
  return size < 100 ? value.toFixed(2) : value.toPrecision(3);
}
