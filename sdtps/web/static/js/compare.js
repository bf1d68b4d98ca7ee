// B beside A: pin what is on screen, change anything, and see what entered, what left and how far the feature moved.

const DIFFERENCES = ['score', 'self', 'cross1', 'cross2', 'predictor', 'aggregation', 'soft', 'frequency'];

function makeCompareView(lens) {
  const { i18n, state } = lens;
  let pinned = null; // { key, settings, analysis, example }
  let answered = null;
  let shownMap = 'score';

  const pin = h('button.lens-button.lens-primary', { type: 'button', 'data-compare': 'pin', onclick: pinNow });
  const clear = h('button.lens-button', { type: 'button', 'data-t': 'compare.clear', 'data-compare': 'clear', onclick: () => { pinned = null; answered = null; draw(); } });
  const chooseMap = h('select', { 'data-t-aria': 'compare.map', 'data-compare': 'map', onchange: () => { shownMap = chooseMap.value; draw(); } });
  const who = h('p.lens-who');
  const rows = h('div.lens-compare-rows');
  const totals = h('div.lens-totals');
  const saver = makeFigureSaver(lens, 'export.compare', () => ({
    key: state.key, settings: { ...state.settings }, against: { key: pinned.key, settings: pinned.settings },
  }));
  const sweep = makeSweep(lens);
  const node = h('div.lens-split', {},
    h('section.lens-compare', { 'data-t-aria': 'view.compare' }, h('div.lens-toolbar', {}, pin, clear, who), rows, totals, saver),
    sweep.node);

  const ask = latestWins(
    ({ a, b }) => lens.server.ask('why.compare', { a, b }),
    (answer, asked) => {
      if (!pinned || asked.a.key !== pinned.key) return;
      answered = { ...(answer || unreachable()), b: asked.b };
      draw();
    },
  );

  function nameOf({ settings, weights, modalities }, from) {
    const example = lens.config.examples.find((e) => e.name === from.example);
    const own = lens.state.recordNames.get(from.record) || i18n.t('compare.own');
    const picture = example ? example.title[i18n.language] || example.title.en : own;
    const missing = MODALITIES.filter((m) => modalities[m].packed.missing).map((m) => `−${m.toUpperCase()}`);
    return [picture, ...missing, settings.variant, `ρ ${settings.sparse_ratio}`, `α ${settings.aggr_ratio}`, `β ${settings.beta}`,
      `τ ${settings.tau}`, weights.hash].join(' · ');
  }

  function pinNow() {
    const analysis = lens.current();
    if (!analysis || !state.key) return;
    pinned = { key: state.key, settings: { ...analysis.settings }, analysis, from: { example: state.example, record: state.record } };
    answered = null;
    update(analysis);
  }

  function update(analysis) {
    if (pinned && state.key) {
      ask({
        a: { key: pinned.key, settings: pinned.settings },
        b: { key: state.key, settings: analysis.settings },
      });
    }
    if (!pinned || !answered) draw();
    sweep.update(analysis);
  }

  function draw() {
    const analysis = lens.current();
    pin.textContent = i18n.t(pinned ? 'compare.repin' : 'compare.pin');
    clear.hidden = !pinned;
    saver.hidden = !pinned || !answered || Boolean(answered.error);
    delete node.dataset.compared;
    if (!pinned || !analysis) {
      who.replaceChildren();
      totals.replaceChildren();
      rows.replaceChildren(h('div.lens-invite', {}, h('h2', { 'data-t': 'compare.empty.title' }), h('p', { 'data-t': 'compare.empty.text' })));
      i18n.apply(rows);
      return;
    }
    who.replaceChildren(h('b', {}, 'A '), nameOf(pinned.analysis, pinned.from), h('br'), h('b', {}, 'B '), nameOf(analysis, state));
    if (!answered) return;
    if (answered.error) {
      const gone = answered.expired && answered.expired.length;
      totals.replaceChildren();
      rows.replaceChildren(h('div.lens-invite', {}, h('p', {}, gone ? i18n.t('compare.gone') : i18n.sentence(answered.error))));
      return;
    }
    drawRows(analysis);
    drawTotals();
    node.dataset.compared = JSON.stringify(answered.b.settings);
  }

  function drawRows(analysis) {
    if (!answered.same_grid) {
      rows.replaceChildren(h('div.lens-invite', {}, h('p', { 'data-t': 'compare.grids' })));
      i18n.apply(rows);
      return;
    }
    const { grid } = analysis;
    const width = miniWidth(grid, 78, 84);
    const known = DIFFERENCES.filter((name) => name in answered.ranges);
    if (!known.includes(shownMap)) [shownMap] = known;
    chooseMap.replaceChildren(...known.map((name) => h('option', { value: name, selected: name === shownMap }, i18n.t(`column.${name}`))));
    const limit = answered.ranges[shownMap];
    const heads = ['compare.a', 'compare.b', 'compare.changed'].map((key) => h('span', { 'data-t': key }));
    rows.replaceChildren(
      h('div.lens-compare-head', {}, h('span'), ...heads, h('span.lens-difference', {}, 'B − A ', chooseMap), h('span')),
      ...MODALITIES.map((m) => {
        const change = answered.modalities[m];
        const mini = (look) => miniMap(grid, width, look);
        const name = m.toUpperCase();
        const after = analysis.modalities[m];
        return h('div.lens-compare-row', { 'data-modality': m },
          h('div.lens-row-name', {}, h('span', {}, name)),
          mini({ image: pinned.analysis.modalities[m].image, mask: keptMask(pinned.analysis, m), label: `${name}, A` }),
          mini({ image: after.image, mask: keptMask(analysis, m), label: `${name}, B` }),
          mini({ image: after.image, entered: change.entered, left: change.left, label: `${name}, ${i18n.t('compare.changed')}`, data: { changed: m } }),
          h('div.lens-difference-map', {}, mini({
            image: after.image, values: change.differences[shownMap], range: [-limit, limit], table: lens.tables.diverging, opacity: 0.85,
            label: `${name}, B − A, ${i18n.t(`column.${shownMap}`)}`, data: { difference: m },
          }), limit ? numberedBar(lens.tables.diverging, `−${rangeNumber(limit)}`, `+${rangeNumber(limit)}`, '0')
            : h('p.lens-hint', { 'data-t': 'compare.same' })),
          facts(change, m));
      }),
    );
    i18n.apply(rows);
  }

  function facts(change, m) {
    const fact = (key, value, name) => h('tr', {}, h('td', { 'data-t': key }), h('td', { 'data-fact': name }, value));
    return h('table.lens-facts', { 'data-facts': m }, h('tbody', {},
      fact('compare.entered', String(change.entered.length), 'entered'),
      fact('compare.left', String(change.left.length), 'left'),
      fact('compare.jaccard', change.overlap.jaccard.toFixed(3), 'jaccard'),
      fact('compare.chance', change.overlap.chance.toFixed(3), 'chance'),
      fact('compare.corrected', orDash(change.overlap.corrected), 'corrected'),
      fact('compare.pooled', orDash(change.pooled_cosine, 4), 'cosine')));
  }

  function drawTotals() {
    const total = (key, value, name) => h('div.lens-total-card', { 'data-total': name }, h('b', {}, orDash(value, 4)), h('span', { 'data-t': key }));
    totals.replaceChildren(
      total('compare.feature', answered.feature_cosine, 'feature'),
      total('compare.sdtps', answered.sdtps_cosine, 'sdtps'),
      chartLegend([{ kind: 'entered', name: i18n.t('compare.entered') }, { kind: 'left', name: i18n.t('compare.left') }]));
    i18n.apply(totals);
  }

  return { id: 'compare', node, update, retranslate: () => { draw(); sweep.redraw(); } };
}
