// Why a result stands where it stands: which patches of both carry the cosine, and what taking some away changes.

/** @import { Lens } from '../core/types.js' */
import { closeButton, decodedImage, h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { makePair } from './match_pair.js';

const STRONGEST = 10;

/**
 * The patches of one side that carry most.
 * @param {Record<string, number[][]>} shares
 * @param {Record<string, number[][]>} kept
 * @param {number} count
 * @returns {{ modality: string, patch: number }[]}
 */
export function strongestOf(shares, kept, count) {
  const all = Object.entries(shares).flatMap(([modality, [values]]) => values
    .map((value, patch) => ({ modality, patch, value })).filter(({ patch }) => kept[modality][0][patch]));
  return all.sort((a, b) => b.value - a.value).slice(0, count).map(({ modality, patch }) => ({ modality, patch }));
}

function termsOf({ terms, cosine, whole }, i18n) {
  const name = ({ part, modality, by_patch: byPatch }) => {
    const kind = byPatch ? i18n.t('match.patches') : part === 'ori' ? i18n.t('match.vector') : i18n.t('match.part', { part });
    return modality ? `${modality.toUpperCase()}: ${kind}` : kind;
  };
  const row = (title, value, kind = '') => h('tr', { 'data-term': kind }, h('td', {}, title), h('td.lens-number', {}, value.toFixed(4)));
  return [
    h('h4', { 'data-t': 'match.terms' }),
    h('table', {}, ...terms.map((term) => row(name(term), term.value, 'part')), row(i18n.t('match.sum'), cosine, 'sum')),
    whole.length ? h('p.lens-hint', {}, i18n.t('match.whole', { parts: whole.join(', ') })) : null,
  ];
}

const button = (key, onclick) => h('button.lens-button', { type: 'button', 'data-t': key, 'data-match': key, onclick });

// For a wrong result: what would have to go.
function winOf({ win }, i18n, onTake) {
  if (!win) return [];
  const { name, patches } = win;
  if (!patches) return [h('p', {}, i18n.t('match.win.none', { name }))];
  if (!patches.length) return [h('p', { 'data-match': 'already' }, i18n.t('match.win.already', { name }))];
  const said = i18n.t(patches.length === 1 ? 'match.win.1' : 'match.win', { n: patches.length, name });
  const text = `${said} ${i18n.t(win.place_after === 1 ? 'match.win.first' : 'match.win.place', { after: win.place_after, before: win.place })}`;
  const take = () => onTake(patches.map(([modality, patch]) => ({ modality, patch })));
  return [h('p', { 'data-match': 'win' }, text), button('match.win.take', take)];
}

/** @param {Lens} lens */
export function makeMatchPanel(lens) {
  const { i18n, server } = lens;
  const title = h('h3');
  const pairs = h('div.lens-match-pairs');
  const facts = h('div.lens-match-facts');
  const node = h('section.lens-match', { hidden: true }, h('div.lens-match-head', {}, title, closeButton(close)),
    h('p.lens-hint', { 'data-t': 'match.lines' }), h('div.lens-match-body', {}, pairs, facts));
  let subject = null; // the result, the list's request, its pictures
  let opening = null; // the result that was clicked last
  let found = null;
  let removed = /** @type {{ modality: string, patch: number }[][]} */ ([[], []]); // patches of the query and of the result

  function close() {
    node.hidden = true;
    subject = opening = null;
  }

  async function open(item, list) {
    opening = item;
    const images = await imagesOf([list.query.photos, item.photos]);
    if (opening !== item) return; // another result was asked for, or another list came
    subject = { item, request: list.request, images };
    removed = [[], []];
    await ask();
    node.scrollIntoView({ block: 'nearest' }); // a long list hides what lies below it
  }

  async function ask() {
    const mine = subject;
    const { key, gallery, settings } = mine.request;
    const answer = await server.ask('rank.explain', {
      key, gallery, settings, id: mine.item.id, query_removed: removed[0], result_removed: removed[1],
    });
    if (subject !== mine) return;
    found = answer;
    node.hidden = false;
    draw();
  }

  const change = (sides) => { removed = sides; return ask(); };

  function toggle(side, modality, patch) {
    const others = removed[side].filter((one) => one.modality !== modality || one.patch !== patch);
    const sides = [...removed];
    sides[side] = others.length === removed[side].length ? [...others, { modality, patch }] : others;
    return change(sides);
  }

  function changesOf() {
    const count = removed[0].length + removed[1].length;
    if (!count) return [button('match.strongest', () => change([strongestOf(found.shares, found.kept, STRONGEST), []]))];
    const places = { place: found.place_after ?? '–', before: found.place ?? '–' };
    const said = [i18n.t(count === 1 ? 'match.removed.1' : 'match.removed', { n: count, cosine: found.after.toFixed(4), ...places })];
    if (found.first_right) said.push(i18n.t('match.right', { place: found.first_right_after, before: found.first_right }));
    return [h('p', { 'data-match': 'after' }, said.join(' ')), button('match.reset', () => change([[], []]))];
  }

  function draw() {
    if (!subject || !found) return;
    if (found.error) {
      title.textContent = i18n.sentence(found.error);
      for (const part of [pairs, facts]) part.replaceChildren();
      return;
    }
    const place = { place: found.place, cosine: found.cosine.toFixed(4) };
    title.textContent = i18n.t(found.place === null ? 'match.title.none' : 'match.title', place);
    const resolved = MODALITIES.filter((m) => found.shares[m]);
    const pairOf = (m) => makePair(lens, m, subject.images.map((side) => side[m]), found, removed, (side, patch) => toggle(side, m, patch));
    const made = resolved.map(pairOf);
    pairs.replaceChildren(...(made.length ? made : [h('p.lens-hint', { 'data-t': 'match.nopatches' })]));
    const win = winOf(found, i18n, (patches) => change([patches, []]));
    facts.replaceChildren(...termsOf(found, i18n).filter((part) => part !== null), ...(resolved.length ? changesOf() : []), ...win);
    i18n.apply(node);
    node.dataset.shown = JSON.stringify([subject.item.id, removed]);
  }

  return { node, open, close, retranslate: draw };
}

async function imagesOf(sides) {
  const one = async (photos, m) => [m, photos[m] ? await decodedImage(photos[m]) : null];
  const decode = async (photos) => Object.fromEntries(await Promise.all(MODALITIES.map((m) => one(photos, m))));
  return Promise.all(sides.map(decode));
}
