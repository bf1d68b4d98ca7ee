// The whole page takes pictures and bundles that are dropped on it; a zone under the pointer takes them first.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';

const holdsFiles = (event) => Boolean(event.dataTransfer && [...event.dataTransfer.types].includes('Files'));
const isBundle = (file) => file.name.toLowerCase().endsWith('.zip');

/**
 * @param {Lens} lens
 * @param {(slot: null, files: File[]) => void} take
 */
export function makePageDrop({ config, session }, take) {
  const node = h('div.lens-drop', { hidden: true, 'aria-hidden': true }, h('p', { 'data-t': 'drop' }), h('p', { 'data-t': 'drop.names' }));
  if (config.sealed) return node;
  let inside = 0; // dragenter and dragleave come for every element on the way

  async function open(file) {
    const answer = await session.openBundle(file);
    if (answer.error) session.complain([{ zone: null, note: answer.error }]);
  }

  const end = () => { inside = 0; node.hidden = true; };
  document.addEventListener('dragenter', (event) => {
    if (!holdsFiles(event) || document.querySelector('dialog[open]')) return;
    inside += 1;
    node.hidden = false;
  });
  document.addEventListener('dragleave', (event) => {
    if (!holdsFiles(event)) return;
    inside -= 1;
    if (inside <= 0) end();
  });
  document.addEventListener('dragover', (event) => { if (holdsFiles(event)) event.preventDefault(); });
  document.addEventListener('drop', (event) => {
    const welcome = !node.hidden;
    end();
    if (event.defaultPrevented || !holdsFiles(event)) return;
    event.preventDefault(); // a browser would leave the page for the picture
    const files = [...(event.dataTransfer ? event.dataTransfer.files : [])];
    if (!welcome || !files.length) return;
    if (files.length === 1 && isBundle(files[0])) open(files[0]);
    else take(null, files);
  });
  return node;
}
