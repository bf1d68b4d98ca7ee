// The listed image sets as thumbnails with their kept patches; ticked ones go into one figure.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { makeWork } from '../core/work.js';
import { figureLook, saveFile } from '../dialogs/saver.js';

const PAGE = 30;
const MOST = 12; // sets of a figure

const labelOf = (box, value, name) => h('label', {},
  box, h('b', {}, Number.isNaN(value) ? '–' : value.toFixed(3)), h('span.lens-rank-name', { title: name }, name));

// Which rows a figure has, and its format.
const figureFields = (config) => ({
  rows: MODALITIES.map((m) => h('input', { type: 'checkbox', checked: true, value: m, 'data-cases': `row-${m}` })),
  kind: h('select', { 'data-t-aria': 'export.format' }, ...config.export.formats.map((f) => h('option', { value: f }, f.toUpperCase()))),
});

/** @param {Lens} lens */
export function makeCasesList(lens) {
  const { i18n, server, session, config } = lens;
  const tiles = h('div.lens-cases-tiles', { role: 'list' });
  const more = h('button.lens-button', {
    type: 'button', 'data-t': 'cases.more', 'data-cases': 'more', hidden: true, onclick: () => { length += PAGE; redraw(); },
  });
  const count = h('span.lens-hint');
  const { rows, kind } = figureFields(config);
  const message = h('span.lens-hint');
  const send = h('button.lens-button', { type: 'button', 'data-cases': 'figure', onclick: draw });
  const figure = h('span.lens-cases-figure', {}, h('span.lens-key', { 'data-t': 'cases.rows' }),
    ...rows.map((box, i) => h('label', {}, box, MODALITIES[i].toUpperCase())), kind, send);
  const work = makeWork(lens);
  const node = h('div.lens-cases-right', {}, h('div.lens-toolbar', {}, count, figure, work.node, message), tiles, more);
  const pictures = new Map(); // number → data URL
  let found = null;
  let listed = /** @type {number[]} */ ([]);
  let ticked = /** @type {number[]} */ ([]);
  let [column, length] = ['ap', PAGE];

  const say = (text) => { message.textContent = text; lens.notice.say(text); };
  function describe() {
    send.textContent = i18n.t('cases.figure', { n: ticked.length });
    send.disabled = !ticked.length;
    count.textContent = i18n.t('cases.listed', { n: listed.length, all: found ? found.ids.length : 0 });
  }

  function tile(number) {
    const value = found.columns[column][number];
    const image = h('img', { alt: '', src: pictures.get(number) || '', loading: 'lazy' });
    const box = h('input', {
      type: 'checkbox', checked: ticked.includes(number), 'aria-label': i18n.t('cases.tick', { name: found.names[number] }), onchange: () => {
        ticked = box.checked ? [...ticked, number].slice(-MOST) : ticked.filter((one) => one !== number);
        describe();
      },
    });
    const open = h('button.lens-cases-open', {
      type: 'button', title: i18n.t('rank.open'), 'aria-label': found.names[number], onclick: () => session.useRecord(found.ids[number]),
    }, image);
    return h('div.lens-cases-tile', { role: 'listitem', 'data-number': number }, open, labelOf(box, value, found.names[number]));
  }

  async function redraw() {
    describe();
    const mine = found;
    const visible = listed.slice(0, length);
    more.hidden = listed.length <= length;
    tiles.replaceChildren(...visible.map(tile));
    const lacking = visible.filter((number) => !pictures.has(number));
    for (let i = 0; i < lacking.length; i += PAGE) {
      const numbers = lacking.slice(i, i + PAGE);
      const answer = await server.ask('cases.thumbs', { survey: mine.key, numbers });
      if (mine !== found) return;
      if (answer.error) { say(i18n.sentence(answer.error)); return; }
      numbers.forEach((number, k) => pictures.set(number, answer.thumbs[k]));
      for (const one of /** @type {any} */ (tiles.children)) one.querySelector('img').src = pictures.get(Number(one.dataset.number)) || '';
    }
    tiles.dataset.shown = mine.key;
  }

  async function draw() {
    const chosen = rows.filter((box) => box.checked).map((box) => box.value);
    if (!chosen.length) return;
    send.disabled = true;
    say('');
    const { error, result } = await work.run(i18n.t('export.drawing'), 'cases.figure', {
      survey: found.key, numbers: ticked, rows: chosen, look: figureLook(lens), format: kind.value, dpi: config.export.dpi,
    });
    describe();
    if (error) message.textContent = i18n.sentence(error);
    else if (result) saveFile(result.file);
  }

  describe();
  return {
    node, redraw,
    take(survey) { found = survey; pictures.clear(); ticked = []; },
    show(numbers, name) { listed = numbers; column = name; length = PAGE; return redraw(); },
  };
}
