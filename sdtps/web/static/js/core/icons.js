// One set of icons: lines of one width on a field of 16, in the colour of the text around them.

const SVG = 'http://www.w3.org/2000/svg';
const PATHS = {
  add: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  dice: 'M3.5 3h9v10h-9zM6 5.8v.01M10 5.8v.01M8 8v.01M6 10.2v.01M10 10.2v.01',
  matrix: 'M3 3h10v10H3zM6.3 3v10M9.7 3v10M3 6.3h10M3 9.7h10',
  next: 'M6 3l5 5-5 5',
  open: 'M6 4h6v6M12 4l-8 8',
  previous: 'M10 3L5 8l5 5',
  reset: 'M3.5 8A4.5 4.5 0 1 0 5.2 4.5M5.6 1.9L5 4.7l2.8.6',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
};

/**
 * @param {keyof typeof PATHS} name
 * @returns {SVGSVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  const path = document.createElementNS(SVG, 'path');
  const facts = { viewBox: '0 0 16 16', class: 'lens-svg', 'aria-hidden': 'true', focusable: 'false' };
  for (const [key, value] of Object.entries(facts)) svg.setAttribute(key, value);
  path.setAttribute('d', PATHS[name]);
  svg.append(path);
  return svg;
}
