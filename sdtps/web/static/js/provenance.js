// Why this patch: its parts, rank, margin and flips; and where an aggregated token comes from. Lies over the side bar.

const PART_KINDS = ['predictor', 'self', 'first', 'second'];

function makeProvenance(lens, actions) {
  const { i18n } = lens;
  const title = h('h2');
  const close = h('button.lens-icon', { type: 'button', 'data-t-aria': 'close', onclick: () => hide() }, '✕');
  const body = h('div.lens-why-body');
  const node = h('section.lens-why', { hidden: true, 'data-t-aria': 'why.label' }, h('header', {}, title, close), body);
  document.addEventListener('keydown', (event) => { if (event.key === 'Escape' && !node.hidden && !document.querySelector('dialog[open]')) hide(); });
  let subject = null; // { patch, modality } or { token }
  let answered = null;

  const ask = latestWins(
    (asked) => (asked.token === undefined
      ? askAbout(lens, 'why.patch', { patch: asked.patch, modality: asked.modality })
      : askAbout(lens, 'why.token', { token: asked.token })),
    (answer, asked) => {
      if (JSON.stringify(asked) !== JSON.stringify(subject)) return;
      answered = answer;
      draw();
    },
  );

  // Without a server, or without weights behind the numbers, there is nobody to ask.
  function open(next) {
    if (!lens.server.ask || !lens.state.key) return;
    subject = next;
    node.hidden = false;
    node.parentNode.classList.add('lens-covered');
    refresh();
  }

  function hide() {
    subject = null;
    answered = null;
    node.hidden = true;
    node.parentNode.classList.remove('lens-covered');
    delete node.dataset.about;
  }

  function refresh() {
    if (subject && lens.state.key) ask(subject);
  }

  function draw() {
    if (!answered) return;
    if (answered.error) {
      title.textContent = '';
      body.replaceChildren(h('p.lens-hint', {}, i18n.sentence(answered.error)));
    } else if (subject.token === undefined) {
      drawPatch(answered);
    } else {
      drawToken(answered);
    }
    node.dataset.about = JSON.stringify(subject);
    i18n.apply(node);
  }

  function modalityChoice(found) {
    return h('div.lens-segmented', { role: 'group', 'data-t-aria': 'rows' }, ...MODALITIES.map((m) => h('button', {
      type: 'button', 'aria-pressed': m === found.modality, 'data-why-modality': m,
      onclick: () => actions.onModality(m),
    }, m.toUpperCase())));
  }

  function drawPatch(found) {
    const analysis = lens.current();
    const { cut } = analysis.modalities[found.modality].packed;
    title.textContent = i18n.t('readout.patch', { row: found.row + 1, col: found.col + 1 });
    const state = i18n.t(found.kept ? 'readout.kept' : 'readout.dropped');
    body.replaceChildren(
      modalityChoice(found),
      h(`p.lens-verdict${found.kept ? '.lens-good' : ''}`, { 'data-why': 'verdict' },
        h('b', {}, state), ` · ${i18n.t('why.rank', { rank: found.rank + 1, n: analysis.counts.patches, kept: found.kept_count })}`),
      scoreBar(found, cut),
      partTable(found, cut),
      h('h3', { 'data-t': 'why.flips' }),
      h('p', { 'data-why': 'flips' }, ...flipLines(found)),
      h('h3', { 'data-t': 'why.elsewhere' }),
      h('p.lens-chips', { 'data-why': 'kept-in' }, ...MODALITIES.filter((m) => m !== found.modality).map((m) => {
        const kept = found.kept_in[m];
        const word = kept === null ? 'missing' : kept ? 'readout.kept' : 'readout.dropped';
        return h(`span.lens-chip${kept ? '.lens-good' : ''}`, {}, `${m.toUpperCase()} ${i18n.t(word)}`);
      })),
      h('h3', { 'data-t': 'why.tokens' }),
      ...feeds(found),
      h('h3', { 'data-t': 'why.norm' }),
      h('p', { 'data-why': 'norm' }, i18n.t(found.norm_outlier ? 'why.norm.outlier' : 'why.norm.usual', {
        norm: found.norm.toPrecision(4), z: found.norm_z.toFixed(1),
      })),
    );
  }

  // The parts side by side on the scale of the score, with the cut.
  function scoreBar(found, cut) {
    const [low, high] = found.top;
    const at = (value) => `${((value - low) / (high - low || 1)) * 100}%`;
    const bar = h('div.lens-parts', { role: 'img', 'aria-label': i18n.t('why.bar', { score: shortNumber(found.score) }) });
    let start = Math.max(0, low);
    found.parts.forEach((part, i) => {
      const piece = h(`i.lens-part-${kindOf(found, i)}`);
      // Cosines may be negative; such a part is drawn back from where the others ended.
      const [from, to] = part.share < 0 ? [start + part.share, start] : [start, start + part.share];
      piece.style.left = at(from);
      piece.style.width = `calc(${at(to)} - ${at(from)})`;
      start += part.share;
      bar.append(piece);
    });
    const mark = h('b.lens-cut');
    mark.style.left = at(cut);
    bar.append(mark);
    return h('div', {}, bar, h('div.lens-ends', {}, h('span', {}, rangeNumber(low)), h('span', {}, rangeNumber(high))));
  }

  const kindOf = (found, i) => PART_KINDS[i + (PART_KINDS.length - found.parts.length)];

  function partTable(found, cut) {
    const rows = found.parts.map((part, i) => h('tr', { 'data-part': part.name },
      h('td', {}, h(`i.lens-swatch.lens-part-${kindOf(found, i)}`), partName(part)),
      h('td', {}, `${part.value.toFixed(3)} × ${part.weight.toFixed(2)}`),
      h('td', { 'data-value': part.share }, part.share.toFixed(3))));
    return h('table.lens-sum', {}, h('tbody', {}, ...rows,
      h('tr.lens-total', {}, h('td', { 'data-t': 'column.score' }), h('td'), h('td', { 'data-why': 'score', 'data-value': found.score }, found.score.toFixed(3))),
      h('tr', {}, h('td', {}, i18n.t('why.cut')), h('td'), h('td', {}, cut.toFixed(3))),
      h('tr', {}, h('td', { 'data-t': 'why.margin' }), h('td'),
        h('td', { 'data-why': 'margin' }, found.margin === null ? '–' : signed(found.margin)))));
  }

  function partName(part) {
    if (part.name === 'predictor' || part.name === 'self') return i18n.t(`column.${part.name}`);
    return `${i18n.t('why.cross', { other: part.name.toUpperCase() })}${part.from_missing ? ` (${i18n.t('missing')})` : ''}`;
  }

  function flipLines(found) {
    const other = i18n.t(found.kept ? 'readout.dropped' : 'readout.kept');
    const lines = [['ρ', 'sparse_ratio'], ['β', 'beta']].map(([symbol, name]) => {
      const stop = found.flips[name];
      if (stop === null) return h('span.lens-flip', {}, i18n.t('why.flip.never', { symbol }));
      return h('button.lens-flip', {
        type: 'button', 'data-flip': name, 'data-value': stop,
        onclick: () => lens.changeSettings({ [name]: stop }),
      }, i18n.t('why.flip.at', { symbol, value: stop, state: other }));
    });
    return [...lines, h('span.lens-flip', { 'data-t': 'why.flip.others' })];
  }

  function feeds(found) {
    if (found.tokens === null) return [h('p.lens-hint', { 'data-t': 'absent' })];
    if (!found.kept && !found.token_total) return [h('p', {}, i18n.t('why.extra', { value: (found.extra_weight * 100).toFixed(2) }))];
    if (!found.tokens.length) return [h('p.lens-hint', { 'data-t': 'means.none' })];
    const most = Math.max(...found.tokens);
    const best = found.tokens.map((w, j) => [w, j]).sort((a, b) => b[0] - a[0])[0];
    return [
      h('p', {}, i18n.t('why.feeds', { total: found.token_total.toFixed(2), token: best[1] + 1, value: (best[0] * 100).toFixed(1) })),
      h('div.lens-token-bars', { role: 'group', 'data-t-aria': 'why.tokens' }, ...found.tokens.map((w, j) => {
        const bar = h('button', {
          type: 'button', 'data-token': j, title: i18n.t('why.token.title', { n: j + 1, value: (w * 100).toFixed(2) }),
          'aria-label': i18n.t('why.token.title', { n: j + 1, value: (w * 100).toFixed(2) }),
          onclick: () => actions.onToken(j),
        }, h('i'));
        bar.firstChild.style.height = `${most ? Math.max(3, (w / most) * 100) : 0}%`;
        return bar;
      })),
      h('div.lens-ends', {}, h('span', {}, i18n.t('token.one', { n: 1 })), h('span', {}, String(found.tokens.length))),
    ];
  }

  function drawToken(found) {
    const analysis = lens.current();
    title.textContent = i18n.t('why.token.name', { n: found.token + 1, all: found.tokens });
    const table = lens.tables[lens.state.display.colormap];
    const width = miniWidth(analysis.grid, 64, 64);
    const most = Math.max(...MODALITIES.map((m) => Math.max(...found.modalities[m].weights)));
    body.replaceChildren(
      h('p', { 'data-t': 'why.token.explain' }),
      h('div.lens-minis', {}, ...MODALITIES.map((m) => miniMap(analysis.grid, width, {
        image: analysis.modalities[m].image, values: found.modalities[m].weights, range: [0, most], table, opacity: 0.75,
        mask: keptMask(analysis, m), caption: m.toUpperCase(), label: `${m.toUpperCase()}, ${title.textContent}`, data: { token: found.token, modality: m },
      }))),
      numberedBar(table, '0', percent(most)),
      ...MODALITIES.map((m) => {
        const { weights, sources, effective } = found.modalities[m];
        return h('div.lens-draws', { 'data-draws': m },
          h('h3', {}, `${m.toUpperCase()} · ${i18n.t('why.effective', { n: effective.toFixed(1) })}`),
          ...sources.slice(0, 4).map((patch) => h('button.lens-source', {
            type: 'button', 'data-source': patch, onclick: () => actions.onPatch(m, patch),
          },
          h('span', {}, i18n.t('why.source', { row: Math.floor(patch / analysis.grid.cols) + 1, col: (patch % analysis.grid.cols) + 1 })),
          h('span', {}, `${(weights[patch] * 100).toFixed(1)} %`))));
      }),
      h('button.lens-button', { type: 'button', 'data-t': 'why.token.done', onclick: () => { actions.onToken(null); hide(); } }),
    );
  }

  return { node, open, hide, refresh, redraw: draw, subject: () => subject };
}
