// The columns of the rank list: three pictures each; a click shows which patches were kept.

/** @import { Analysis, Lens, Note } from '../core/types.js' */
import { unpack } from '../core/bytes.js';
import { decodedImage, h } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { MODALITIES } from '../core/modalities.js';
import { paintPanel } from '../grid/paint.js';

const VERDICTS = { true: ['right', '✓'], false: ['wrong', '✗'], null: ['unknown', '·'] };

// The pictures of a column, and how they are painted.
async function makePictures(item, [height, width], state) {
  const images = await Promise.all(MODALITIES.map((m) => (item.photos[m] ? decodedImage(item.photos[m]) : null)));
  const canvases = MODALITIES.map((m, i) => h('canvas', {
    width: images[i] ? images[i].naturalWidth : width, height: images[i] ? images[i].naturalHeight : height, 'data-rank-modality': m,
  }));
  const paint = (masks) => MODALITIES.forEach((m, i) => paintPanel(canvases[i], masks
    ? {
      image: images[i], ...masks.grid, mask: unpack(masks[m], Uint8Array), dropped: state.display.dropped,
      brightness: masks.brightness[m] && unpack(masks.brightness[m], Float32Array),
    }
    : { image: images[i], rows: 1, cols: 1 }));
  return { nodes: MODALITIES.map((m, i) => h('span', { 'data-name': m.toUpperCase() }, canvases[i])), paint };
}

/**
 * @param {Lens} lens
 * @param {Record<string, any>} shown
 * @param {(error: Note) => void} onError
 * @param {(item: any) => void} onExplain
 */
export function makeRankColumns({ i18n, server, store, session }, shown, onError, onExplain) {
  const { state } = store;
  const node = h('div.lens-rank-columns', { role: 'list', 'data-t-aria': 'view.rank' });
  const open = new Map(); // place → kept patches, while they are shown

  async function keptOf(item) {
    if (item.query) return item.masks;
    const { key, settings } = shown.list.request;
    const answer = await server.ask('rank.kept', { key, settings, id: item.id });
    if (answer.error) onError(answer.error);
    return answer.error ? null : answer.masks;
  }

  function pictureButton(item, place, pictures, label, verdict) {
    const show = () => {
      pictures.paint(open.get(place));
      button.setAttribute('aria-pressed', String(open.has(place)));
    };
    const button = h('button.lens-rank-pictures', {
      type: 'button', title: i18n.t('rank.kept'), 'aria-label': `${label}, ${i18n.t(`rank.is.${verdict}`)}. ${i18n.t('rank.kept')}`,
      onclick: async () => {
        if (!open.delete(place)) {
          const masks = await keptOf(item);
          if (!masks) return;
          open.set(place, masks);
        }
        show();
      },
    }, ...pictures.nodes);
    show();
    return button;
  }

  const small = (name, words, sign, onclick) => h('button.lens-icon', {
    type: 'button', title: i18n.t(words), 'aria-label': i18n.t(words), 'data-rank': name, onclick,
  }, sign);
  const buttonsOf = (item) => [
    small('explain', 'match.explain', '?', () => onExplain(item)), small('open', 'rank.open', icon('open'), () => session.useRecord(item.id))];

  function placeLine(item, place, label, verdict, symbol) {
    return h('div.lens-rank-place', {}, h('b', {}, item.query ? label : `${place}`),
      h('span.lens-rank-verdict', { title: i18n.t(`rank.is.${verdict}`) }, symbol), ...(item.query || !item.id ? [] : buttonsOf(item)));
  }

  function namesOf({ pid, name }) {
    const told = pid === null || pid === undefined ? ' ' : i18n.t('browse.is.pid', { n: pid });
    return [h('span.lens-rank-name', {}, told), h('span.lens-rank-name', { title: name || '' }, name || ' ')];
  }

  async function makeColumn(item, place) {
    const { size } = /** @type {Analysis} */ (state.analysis);
    const [verdict, symbol] = item.query ? ['query', ''] : VERDICTS[item.same];
    const label = item.query ? i18n.t('rank.query') : i18n.t('rank.place', { i: place });
    const pictures = await makePictures(item, size, state);
    const column = h('div.lens-rank-column', { role: 'listitem', 'data-verdict': verdict, 'data-record': item.id || null },
      placeLine(item, place, label, verdict, symbol),
      pictureButton(item, place, pictures, label, verdict),
      h('div.lens-rank-distance', { 'data-distance': item.query ? '' : item.distance }, item.query ? '' : `d ${item.distance.toFixed(3)}`),
      ...namesOf(item));
    column.style.setProperty('--aspect', `${size[1]} / ${size[0]}`);
    column.classList.toggle('lens-rank-broad', size[1] > size[0]);
    return column;
  }

  async function draw() {
    const { list } = shown;
    delete node.dataset.shown;
    if (!list) { node.replaceChildren(); return; }
    const items = [{ ...list.query.record, ...list.query, query: true }, ...list.rows];
    const made = await Promise.all(items.map(makeColumn));
    if (shown.list !== list) return;
    node.replaceChildren(...made);
    node.classList.remove('lens-stale');
    node.dataset.shown = list.request.key;
  }

  return { node, draw, forget: () => open.clear() };
}
