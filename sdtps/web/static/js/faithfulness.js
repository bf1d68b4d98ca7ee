// Does the selection hold on to what matters, and does it beat chance? Measured on request, with progress and cancel.

function makeFaithfulnessView(lens) {
  const { i18n } = lens;
  const start = h('button.lens-button.lens-primary', { type: 'button', 'data-t': 'faith.run', 'data-faith': 'run', onclick: run });
  const cancel = h('button.lens-button', { type: 'button', 'data-t': 'faith.cancel', 'data-faith': 'cancel', hidden: true, onclick: () => { if (job) job.cancel(); } });
  const bar = h('progress', { max: 1, value: 0, hidden: true, 'data-t-aria': 'faith.progress' });
  const stale = h('span.lens-badge.lens-warn', { 'data-t': 'faith.stale', 'data-faith': 'stale', hidden: true });
  const status = h('span.lens-status', { 'aria-live': 'polite' });
  let target = 'whole';
  const targets = segmented('faith.target', ['whole', 'person'], target, (value) => { target = value; draw(); });
  const body = h('div.lens-faith-body');
  const node = h('div.lens-faith', {}, h('div.lens-toolbar', {}, start, cancel, bar, status, stale, targets), body);
  let found = null;
  let job = null;

  // Tau is no part of it: it moves neither the kept set nor the feature.
  const about = (analysis) => {
    const { tau, ...settings } = analysis.settings;
    return JSON.stringify([lens.state.key, settings]);
  };

  async function run() {
    const analysis = lens.current();
    if (!analysis || !lens.state.key || job) return;
    const mine = about(analysis);
    job = runJob(lens.server, 'why.faithfulness', aboutShown(lens), (done, total) => { bar.value = total ? done / total : 0; });
    running(true);
    const answer = await job.finished;
    job = null;
    running(false);
    if (answer.cancelled) { status.textContent = i18n.t('faith.cancelled'); return; }
    if (answer.expired && answer.expired.length) lens.analyse();
    if (answer.error) { status.textContent = i18n.sentence(answer.error); return; }
    found = { ...answer.result, about: mine };
    draw();
  }

  function running(yes) {
    start.disabled = yes;
    cancel.hidden = !yes;
    bar.hidden = !yes;
    bar.value = 0;
    status.textContent = '';
  }

  function markStale() {
    const analysis = lens.current();
    stale.hidden = !found || !analysis || about(analysis) === found.about;
    body.classList.toggle('lens-stale', !stale.hidden);
  }

  function draw() {
    targets.hidden = !found || !hasPerson();
    if (!found) {
      body.replaceChildren(h('div.lens-invite', {}, h('h2', { 'data-t': 'faith.empty.title' }), h('p', { 'data-t': 'faith.empty.text' })));
      i18n.apply(body);
      return;
    }
    if (!hasPerson()) { target = 'whole'; targets.select(target); }
    const given = MODALITIES.filter((m) => m in found.removal);
    body.replaceChildren(
      h('p.lens-intro', { 'data-t': `faith.explain.${target}` }),
      h('div.lens-faith-charts', {}, ...given.map((m) => h('div', { 'data-modality': m }, h('h3', {}, m.toUpperCase()),
        removalChart(m, 'insertion'), removalChart(m, 'deletion')))),
      h('div.lens-faith-tables', {}, factTable(given), setTable(given)));
    i18n.apply(body);
    body.dataset.report = found.about;
    markStale();
  }

  const hasPerson = () => Object.values(found.removal).some((row) => 'person' in row);

  function removalChart(m, kind) {
    const removal = found.removal[m][target];
    if (!removal) return h('p.lens-hint', { 'data-t': 'sweep.no_mask' });
    const curve = removal[kind];
    const beats = kind === 'insertion' ? curve.above : curve.below;
    const low = Math.min(0, ...curve.cosine, ...curve.low);
    return h('figure.lens-figure', { 'data-curve': `${m}-${kind}` },
      h('figcaption', {}, h('b', { 'data-t': `faith.${kind}` }),
        h(`span.lens-chip${beats ? '.lens-good' : ''}`, { 'data-verdict': `${m}-${kind}`, 'data-t': beats ? 'faith.beats' : 'faith.not' }),
        h('span', { 'data-area': `${m}-${kind}`, 'data-value': curve.area }, i18n.t('faith.area', {
          area: curve.area.toFixed(3), low: curve.area_low.toFixed(3), high: curve.area_high.toFixed(3), percentile: Math.round(curve.percentile * 100),
        }))),
      lineChart({
        width: 326, height: 128, label: `${m.toUpperCase()}, ${i18n.t(`faith.${kind}`)}`,
        x: { values: curve.share, range: [0, 1], title: i18n.t(`faith.${kind}.x`) }, y: { range: [Math.floor(low * 5) / 5, 1], title: i18n.t('faith.cosine') },
        series: [{ values: curve.cosine, kind: m }], band: curve,
      }));
  }

  function factTable(given) {
    const fact = (key, value) => h('tr', { 'data-fact': key }, h('td', { 'data-t': `faith.${key}`, 'data-t-title': `faith.${key}.title` }), ...given.map((m) => h('td', {}, value(found.facts[m], found.removal[m][target] || found.removal[m].whole))));
    const withChance = (value, share) => (value === null ? '–' : `${value.toFixed(3)} (${i18n.t('faith.percentile', { n: Math.round(share * 100) })})`);
    return h('table.lens-facts', {}, h('thead', {}, h('tr', {}, h('th'), ...given.map((m) => h('th', {}, m.toUpperCase())))), h('tbody', {},
      fact('kept_only', (f, r) => withChance(r.retained.kept, r.retained.kept_percentile)),
      fact('dropped_only', (f, r) => withChance(r.retained.dropped, r.retained.dropped_percentile)),
      fact('margin', (f) => (f.margin === null ? '–' : `${f.margin.toFixed(4)} (${orDash(f.margin_sigmas, 2)} σ)`)),
      fact('effective', (f) => (f.effective_median === null ? '–' : `${f.effective_median.toFixed(1)} (${f.effective_min.toFixed(1)} – ${f.effective_max.toFixed(1)})`)),
      fact('outliers', (f) => i18n.t('faith.of', { n: f.outliers_kept, all: f.outliers })),
      fact('person', (f) => (f.precision === null ? '–' : `${f.precision.toFixed(3)} / ${orDash(f.recall)}`))));
  }

  // Sets against sets: disturbed pictures, and modalities among themselves.
  function setTable(given) {
    const cell = (overlap) => (overlap ? `${overlap.jaccard.toFixed(3)} → ${orDash(overlap.corrected)}` : '–');
    const pairs = Object.entries(found.overlap);
    return h('table.lens-facts', {}, h('thead', {}, h('tr', {}, h('th', { 'data-t': 'faith.sets' }), ...given.map((m) => h('th', {}, m.toUpperCase())))), h('tbody', {},
      ...Object.entries(found.stability).map(([kind, row]) => h('tr', { 'data-fact': `stability-${kind}` }, h('td', { 'data-t': `faith.${kind}`, 'data-t-title': `faith.${kind}.title` }), ...given.map((m) => h('td', {}, cell(row[m]))))),
      pairs.length ? h('tr', {}, h('th', { 'data-t': 'faith.between' })) : null,
      ...pairs.map(([pair, overlap]) => h('tr', { 'data-fact': `overlap-${pair}` }, h('td', {}, pair.toUpperCase().replace('-', ' ∩ ')), h('td', { colSpan: given.length }, cell(overlap))))));
  }

  return { id: 'faithfulness', node, update: () => { if (!found && !body.firstChild) draw(); markStale(); }, retranslate: draw };
}
