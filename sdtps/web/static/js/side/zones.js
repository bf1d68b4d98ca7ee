// Drop zones: click, drag and drop, paste. A zone knows nothing of analyses; it hands files over.

import { h } from '../core/dom.js';

/** @typedef {ReturnType<typeof makeZone>} Zone */
/** @typedef {(slot: string, files: File[]) => void} OnFiles */

const ACCEPT = '.png,.jpg,.jpeg,.tif,.tiff,.bmp,.webp,image/png,image/jpeg,image/tiff,image/bmp,image/webp';

/**
 * @param {string} slot
 * @param {OnFiles} onFiles
 */
export function makeZone(slot, onFiles) {
  const input = h('input', {
    type: 'file', accept: ACCEPT, multiple: true, 'data-t-aria': `zone.${slot}`,
    onchange: () => { onFiles(slot, [...(input.files || [])]); input.value = ''; },
  });
  const picture = h('img', { alt: '', hidden: true });
  const prompt = h('span.lens-zone-prompt', { 'data-t': slot === 'wide' ? 'zone.wide.prompt' : 'zone.prompt' });
  const drop = h('label.lens-zone', { 'data-zone': slot, 'data-t-title': `zone.${slot}` }, input, picture, prompt);
  let shown = null;

  drop.addEventListener('dragover', (event) => { event.preventDefault(); drop.classList.add('lens-over'); });
  drop.addEventListener('dragleave', () => drop.classList.remove('lens-over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('lens-over');
    onFiles(slot, [...(event.dataTransfer ? event.dataTransfer.files : [])]);
  });

  /**
   * @param {string | null} url
   * @param {boolean} crop the picture is one of three in a row
   */
  function show(url, crop) {
    drop.classList.toggle('lens-crop', Boolean(url && crop));
    if (url === shown) return;
    shown = url;
    picture.hidden = !url;
    prompt.hidden = Boolean(url);
    if (url) picture.src = url;
    else picture.removeAttribute('src');
  }

  /** @param {boolean} bad */
  function mark(bad) {
    drop.classList.toggle('lens-bad', bad);
    input.toggleAttribute('aria-invalid', bad);
  }

  return { slot, drop, input, show, mark };
}

/**
 * Paste goes to the zone under the pointer or focus, else to the last one used, else to RGB.
 * @param {Zone[]} zones
 * @param {OnFiles} onFiles
 */
export function listenForPaste(zones, onFiles) {
  let active = zones[0].slot;
  for (const zone of zones) {
    zone.drop.addEventListener('pointerenter', () => { active = zone.slot; });
    zone.input.addEventListener('focus', () => { active = zone.slot; });
  }
  document.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData ? event.clipboardData.files : [])];
    if (!files.length) return;
    event.preventDefault();
    onFiles(active, files);
  });
}
