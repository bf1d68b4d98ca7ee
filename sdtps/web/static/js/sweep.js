// One slider over its range as curves; a click goes there.

const SWEEP_DELAY = 250; // after the last move: a sweep costs as much as a hundred moves

function makeSweep(lens) {
  const { i18n } = lens;
  let found = null;
  let name = 'sparse_ratio';
  const charts = h('div.lens-charts');
  const readout = h('p.lens-sweep-readout', { 'aria-live': 'polite' });
  const choice = segmented('sweep', SLIDERS.map((slider) => slider.name), name, (chosen) => { name = chosen; found = null; run(); });
  const node = h('section.lens-sweep', { 'data-t-aria': 'sweep.title' },
    h('div.lens-toolbar', {}, h('h2', { 'data-t': 'sweep.title' }), choice), readout, charts);

  const ask = latestWins(
    (asked) => askAbout(lens, 'why.sweep', { name: asked }),
    (answer, asked) => {
      if (asked !== name) return;
      found = answer;
      draw();
    },
  );
  const run = () => { if (lens.current() && lens.state.key) ask(name); };
  const later = afterwards(() => { if (!node.closest('[hidden]')) run(); }, SWEEP_DELAY);

  function draw() {
    if (!found) return;
    if (found.error) {
      charts.replaceChildren(h('p.lens-hint', {}, i18n.sentence(found.error)));
      return;
    }
    const given = MODALITIES.filter((m) => m in found.cosine);
    const lines = (curves) => given.map((m) => ({ values: curves[m], kind: m }));
    const patches = lens.current().counts.patches;
    const counts = [{ values: found.kept, kind: 'count' }, { values: found.tokens, kind: 'tokens' }];
    const cosineLow = Math.min(...given.flatMap((m) => found.cosine[m].filter((v) => v !== null)), 0.9);
    const specs = [
      ['counts', counts, [0, patches], [{ kind: 'count', name: i18n.t('sweep.kept') }, { kind: 'tokens', name: i18n.t('sweep.tokens') }]],
      ['jaccard', lines(found.jaccard), [0, 1]],
      ...(Object.keys(found.precision).length ? [['precision', lines(found.precision), [0, 1]]] : []),
      ['cosine', lines(found.cosine), [Math.floor(cosineLow * 10) / 10, 1]],
    ];
    const height = Math.max(104, Math.min(160, Math.floor(470 / specs.length)));
    charts.replaceChildren(...specs.map(([key, series, range, legend]) => h('figure.lens-figure', { 'data-curve': key },
      h('figcaption', {}, h('b', { 'data-t': `sweep.${key}` }), legend ? chartLegend(legend) : modalityLegend(given)),
      lineChart({
        width: 388, height, label: `${i18n.t(`sweep.${key}`)}, ${i18n.t(`setting.${name}`)}`,
        x: { values: found.values, range: [found.values[0], found.values[found.values.length - 1]], title: i18n.t(`setting.${name}`), log: found.log },
        y: { range, title: i18n.t(`sweep.${key}.y`) }, series, now: found.now, onPick: pick, onPoint: point,
      }))));
    if (!Object.keys(found.precision).length) charts.append(h('p.lens-hint', { 'data-t': 'sweep.no_mask' }));
    i18n.apply(charts);
    node.dataset.sweep = JSON.stringify({ name: found.name, now: found.now });
    point(null);
  }

  // The slider must land exactly on the point, so that its number is the curve's.
  function pick(i) {
    lens.changeSettings({ [found.name]: roundSetting(found.values[i]) });
  }

  function point(i) {
    const shown = i ?? nearestTo(found.now);
    const value = roundSetting(found.values[shown]);
    const parts = Object.keys(found.cosine).map((m) => {
      const words = [`J ${orDash(found.jaccard[m][shown], 2)}`, `cos ${orDash(found.cosine[m][shown], 3)}`];
      if (m in found.precision) words.push(`P ${orDash(found.precision[m][shown], 2)}`);
      return `${m.toUpperCase()} ${words.join(', ')}`;
    });
    readout.replaceChildren(h('b', {}, `${i18n.t(`setting.${found.name}`)} ${value}`), ...[`K ${found.kept[shown]}`, i18n.t('means.tokens', { n: found.tokens[shown] }), ...parts].map((part) => h('span', {}, part)));
  }

  const nearestTo = (value) => found.values.reduce((best, v, i) => (Math.abs(v - value) < Math.abs(found.values[best] - value) ? i : best), 0);

  return { node, update: () => { if (found) later(); else run(); }, redraw: draw };
}

const modalityLegend = (given) => chartLegend(given.map((m) => ({ kind: m, name: m.toUpperCase() })));
