// Where the image set comes from: zones, one wide image, examples, data folders; and what the server says about it.

/** @import { Lens, Source } from '../core/types.js' */
import { h, segmented } from '../core/dom.js';
import { tellApart } from '../core/file_names.js';
import { FITS } from '../core/link.js';
import { MODALITIES, byModality } from '../core/modalities.js';
import { makeFolder } from './folder.js';
import { makeMessages } from './messages.js';
import { makePageDrop } from './page_drop.js';
import { listenForPaste, makeZone } from './zones.js';

// The three zones with their switches, and the one for a wide image.
function makeZones({ config, store, session }) {
  const { state } = store;
  function take(slot, files) {
    if (!files.length) return;
    const { placed, left } = tellApart(slot, files, state.own ? MODALITIES.filter((m) => !state.sources[m]) : []);
    session.take(Object.fromEntries(placed.map((one) => [one.slot, one.file])), (of, busy) => zones[of].drop.classList.toggle('lens-busy', busy), {
      told: slot && files.length === 1 ? null : placed.map(({ slot: of, file, by }) => ({ slot: of, name: file.name, by })), left: left.length,
    });
  }
  const zones = Object.fromEntries([...MODALITIES, 'wide'].map((slot) => [slot, makeZone(slot, take)]));
  const toggles = byModality((m) => h('button.lens-toggle', {
    type: 'button', role: 'switch', 'aria-checked': 'true', 'data-toggle': m, 'data-t-aria': `toggle.${m}`, 'data-t-title': `toggle.${m}`,
    onclick: () => session.toggle(m),
  }));
  const nodes = [
    h('div.lens-zones', {}, ...MODALITIES.map((m) => h('div.lens-zone-box', {},
      h('div.lens-zone-head', {}, h('span', {}, m.toUpperCase()), toggles[m]), zones[m].drop))),
    zones.wide.drop,
  ];

  // An example's zone shows its third of the thumbnail until the photograph itself is there.
  function thumbnailOf(/** @type {Source | null} */ source) {
    const example = source && config.examples.find((e) => e.name === source.example);
    return example ? example.thumbnail : null;
  }

  function refresh() {
    for (const m of MODALITIES) {
      const source = state.sources[m];
      const { whole, third, given } = state.recorded ? { whole: state.photos[m], third: null, given: Boolean(state.photos[m]) }
        : { whole: source ? source.preview || state.photos[m] : null, third: thumbnailOf(source), given: !state.leaveOut.has(m) };
      zones[m].show(whole || third, !whole);
      zones[m].drop.classList.toggle('lens-left-out', !given);
      toggles[m].setAttribute('aria-checked', String(given));
    }
    for (const slot of Object.keys(zones)) zones[slot].mark(state.failures.some((failure) => failure.zone === slot));
  }

  listenForPaste(Object.values(zones), take);
  refresh();
  store.subscribe(['sources', 'photos', 'recorded', 'leaveOut', 'failures'], refresh);
  return { nodes, take };
}

function makeExamples({ config, i18n, store, session }) {
  const { state } = store;
  if (!config.examples.length) return h('p.lens-hint', { 'data-t': 'examples.none' });
  const buttons = config.examples.map((example) => h('button.lens-example', {
    type: 'button', 'data-example': example.name, onclick: () => session.useExample(example.name),
  }, h('img', { src: example.thumbnail, alt: '' }), h('span')));

  function refresh() {
    config.examples.forEach((example, i) => {
      buttons[i].setAttribute('aria-pressed', String(!state.recorded && example.name === state.example));
      /** @type {Element} */ (buttons[i].lastChild).textContent = i18n.titleOf(example) || example.name;
    });
  }

  refresh();
  store.subscribe(['example', 'recorded', 'language'], refresh);
  return h('div.lens-examples', { role: 'group', 'data-t-aria': 'examples' }, ...buttons);
}

/** @param {Lens} lens */
export function makeSources(lens) {
  const { config, store, session } = lens;
  const { state } = store;
  const zones = makeZones(lens);
  const fit = segmented('fit', FITS, state.fit, session.chooseFit);
  const examples = makeExamples(lens);
  const folder = config.roots.length ? makeFolder(lens) : null;
  const kinds = segmented('offer', ['examples', 'folder'], state.record ? 'folder' : 'examples', offer);
  const node = h('section.lens-sources', {},
    h('h2', { 'data-t': 'triplet' }), ...zones.nodes, h('div.lens-field', {}, h('span', { 'data-t': 'fit' }), fit.node),
    ...makeMessages(lens), folder ? kinds.node : h('h2', { 'data-t': 'examples' }), examples, folder ? folder.node : null);

  function offer(kind) {
    if (!folder) return;
    kinds.select(kind);
    examples.hidden = kind !== 'examples';
    folder.node.hidden = kind !== 'folder';
    if (kind === 'folder') folder.start();
  }

  offer(state.record ? 'folder' : 'examples');
  store.subscribe(['fit'], () => fit.select(state.fit));
  store.subscribe(['record'], () => { if (state.record) offer('folder'); });
  return { node, drop: makePageDrop(lens, zones.take) };
}
