// Why a patch was kept or dropped: its parts, rank, margin and flips, and the tokens that it feeds.

/** @import { Analysis, Lens } from '../core/types.js' */
import { h } from '../core/dom.js';
import { MODALITIES } from '../core/modalities.js';
import { negative, rangeNumber, shortNumber, signed } from '../core/numbers.js';

const isModality = (name) => MODALITIES.includes(name);

// Colours of the parts: the two other modalities are the first and the second.
function kindOf(found, part) {
  if (!isModality(part.name)) return part.name;
  return found.parts.filter(({ name }) => isModality(name))[0] === part ? 'first' : 'second';
}

/**
 * @param {Record<string, any>} found the answer to why.patch
 * @param {Analysis} analysis
 * @param {Lens} lens
 * @param {{ pin: Function, chooseToken: Function }} actions
 * @returns {[string, Node[]]} heading and content
 */
export function patchContent(found, analysis, lens, actions) {
  const { i18n } = lens;
  const { cut } = analysis.modalities[found.modality];
  const byScore = found.weight === null && found.group === null; // else no slider turns a rank over
  const section = (key, ...content) => [h('h3', { 'data-t': key }), ...content];
  return [i18n.t('readout.patch', { row: found.row + 1, col: found.col + 1 }), [
    modalityChoice(found, lens.store.state, actions),
    verdict(found, analysis, i18n),
    ...(found.parts.length ? [scoreBar(found, cut, i18n), partTable(found, cut, i18n)] : []),
    ...(byScore ? section('why.flips', h('p', { 'data-why': 'flips' }, ...flipLines(found, lens))) : []),
    ...(found.weight === null ? section('why.elsewhere', elsewhere(found, i18n)) : []),
    ...(byScore && found.tokens !== undefined ? section('why.tokens', ...feeds(found, i18n, actions)) : []),
    ...section('why.norm', h('p', { 'data-why': 'norm' }, i18n.t(found.norm_outlier ? 'why.norm.outlier' : 'why.norm.usual', {
      norm: found.norm.toPrecision(4), z: negative(found.norm_z.toFixed(1)),
    }))),
  ]];
}

function modalityChoice(found, state, { pin }) {
  return h('div.lens-segmented', { role: 'group', 'data-t-aria': 'rows' }, ...MODALITIES.map((m) => h('button', {
    type: 'button', 'aria-pressed': m === found.modality, 'data-why-modality': m, onclick: () => pin(state.pointed.patch, m),
  }, m.toUpperCase())));
}

function verdict(found, analysis, i18n) {
  if (found.weight !== null) {
    return h('p.lens-verdict', { 'data-why': 'verdict' }, h('b', {}, i18n.t('why.weight', { w: found.weight.toFixed(3) })));
  }
  if (found.group !== null) {
    const why = found.group ? i18n.t('why.group', { why: i18n.t(`group.${found.group}`) }) : i18n.t('why.dropped_by_all');
    return h(`p.lens-verdict${found.kept ? '.lens-good' : ''}`, { 'data-why': 'verdict' },
      h('b', {}, i18n.t(found.kept ? 'readout.kept' : 'readout.dropped')), ` · ${why}`);
  }
  return h(`p.lens-verdict${found.kept ? '.lens-good' : ''}`, { 'data-why': 'verdict' },
    h('b', {}, i18n.t(found.kept ? 'readout.kept' : 'readout.dropped')),
    ` · ${i18n.t('why.rank', { rank: found.rank + 1, n: analysis.counts.patches, kept: found.kept_count })}`);
}

// The parts side by side on the scale of the score, with the cut.
function scoreBar(found, cut, i18n) {
  const [low, high] = found.top;
  const at = (value) => `${((value - low) / (high - low || 1)) * 100}%`;
  const bar = h('div.lens-parts', { role: 'img', 'aria-label': i18n.t('why.bar', { score: shortNumber(found.score) }) });
  let start = Math.max(0, low);
  for (const part of found.parts) {
    const piece = h(`i.lens-part-${kindOf(found, part)}`);
    // Cosines may be negative; such a part is drawn back from where the others ended.
    const [from, to] = part.share < 0 ? [start + part.share, start] : [start, start + part.share];
    piece.style.left = at(from);
    piece.style.width = `calc(${at(to)} - ${at(from)})`;
    start += part.share;
    bar.append(piece);
  }
  if (cut !== null) {
    const mark = h('b.lens-cut');
    mark.style.left = at(cut);
    bar.append(mark);
  }
  return h('div', {}, bar, h('div.lens-ends', {}, h('span', {}, rangeNumber(low)), h('span', {}, rangeNumber(high))));
}

function partTable(found, cut, i18n) {
  const rows = found.parts.map((part) => h('tr', { 'data-part': part.name },
    h('td', {}, h(`i.lens-swatch.lens-part-${kindOf(found, part)}`), partName(part, i18n)),
    h('td', {}, `${part.value.toFixed(3)} × ${part.weight.toFixed(2)}`),
    h('td', { 'data-value': part.share }, part.share.toFixed(3))));
  return h('table.lens-sum', {}, h('tbody', {}, ...rows,
    h('tr.lens-total', {}, h('td', { 'data-t': 'column.score' }), h('td'),
      h('td', { 'data-why': 'score', 'data-value': found.score }, found.score.toFixed(3))),
    ...(cut === null ? [] : [h('tr', {}, h('td', {}, i18n.t('why.cut')), h('td'), h('td', {}, cut.toFixed(3)))]),
    h('tr', {}, h('td', { 'data-t': found.kept ? 'why.margin.kept' : 'why.margin.dropped' }), h('td'),
      h('td', { 'data-why': 'margin' }, found.margin === null ? '–' : signed(found.margin)))));
}

function partName(part, i18n) {
  if (!isModality(part.name)) return i18n.t(`column.${part.name}`);
  return `${i18n.t('why.cross', { other: part.name.toUpperCase() })}${part.from_missing ? ` (${i18n.t('missing')})` : ''}`;
}

// Where a slider would turn the decision over; a click goes there.
function flipLines(found, { config, i18n, session }) {
  const other = i18n.t(found.kept ? 'readout.dropped' : 'readout.kept');
  const lines = config.sliders.filter(({ name }) => name in found.flips).map(({ name, symbol }) => {
    const stop = found.flips[name];
    if (stop === null) return h('span.lens-flip', {}, i18n.t('why.flip.never', { symbol }));
    return h('button.lens-flip', {
      type: 'button', 'data-flip': name, 'data-value': stop, onclick: () => session.changeSettings({ [name]: stop }),
    }, i18n.t('why.flip.at', { symbol, value: stop, state: other }));
  });
  return [...lines, h('span.lens-flip', { 'data-t': 'why.flip.others' })];
}

function elsewhere(found, i18n) {
  return h('p.lens-chips', { 'data-why': 'kept-in' }, ...MODALITIES.filter((m) => m !== found.modality).map((m) => {
    const kept = found.kept_in[m];
    const word = kept === null ? 'missing' : kept ? 'readout.kept' : 'readout.dropped';
    return h(`span.lens-chip${kept ? '.lens-good' : ''}`, {}, `${m.toUpperCase()} ${i18n.t(word)}`);
  }));
}

function feeds(found, i18n, { chooseToken }) {
  if (found.tokens === null) return [h('p.lens-hint', { 'data-t': 'absent' })];
  if (!found.kept && !found.token_total) return [h('p', {}, i18n.t('why.extra', { value: (found.extra_weight * 100).toFixed(2) }))];
  if (!found.tokens.length) return [h('p.lens-hint', { 'data-t': 'means.none' })];
  const most = Math.max(...found.tokens);
  const best = found.tokens.indexOf(most);
  return [
    h('p', {}, i18n.t('why.feeds', { total: found.token_total.toFixed(2), token: best + 1, value: (most * 100).toFixed(1) })),
    h('div.lens-token-bars', { role: 'group', 'data-t-aria': 'why.tokens' }, ...found.tokens.map((weight, token) => {
      const label = i18n.t('why.token.title', { n: token + 1, value: (weight * 100).toFixed(2) });
      const height = most ? Math.max(3, (weight / most) * 100) : 0;
      return h('button', { type: 'button', 'data-token': token, title: label, 'aria-label': label, onclick: () => chooseToken(token) },
        h('i', { style: `height:${height}%` }));
    })),
    h('div.lens-ends', {}, h('span', {}, i18n.t('token.one', { n: 1 })), h('span', {}, String(found.tokens.length))),
  ];
}
