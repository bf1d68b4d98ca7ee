// What reaches the scores when the module trains: norms on a logarithmic scale, maps, and the story behind them.

const ROUTES = [
  { key: 'final', kind: 'final' },
  { key: 'importance', kind: 'importance' },
  { key: 'gumbel-tau1', kind: 'gumbel1' },
  { key: 'gumbel-tau5', kind: 'gumbel5' },
];
const GRADIENT_GROUPS = ['score', 'predictor', 'patches', 'globals', 'aggregation'];
const GRADIENT_DELAY = 400;

function makeGradientsView(lens) {
  const { i18n } = lens;
  const story = h('div.lens-story');
  const chart = h('div.lens-norms');
  const maps = h('div.lens-gradient-maps');
  const status = h('span.lens-status', { 'aria-live': 'polite' });
  const cancel = h('button.lens-button', { type: 'button', 'data-t': 'faith.cancel', 'data-gradient-cancel': '', hidden: true, onclick: () => job && job.cancel() });
  let source = 'triplet';
  let cosines = 'free';
  const toolbar = h('div.lens-toolbar', {},
    segmented('gradient.source', ['triplet', 'reference'], source, (value) => { source = value; draw(); }),
    segmented('gradient.cosines', ['free', 'cut'], cosines, (value) => { cosines = value; draw(); }), status, cancel);
  const node = h('div.lens-split.lens-gradients', {}, story,
    h('section', { 'data-t-aria': 'view.gradients' }, toolbar, chart, maps));
  let found = null;
  let asked = null; // what the newest job was started for
  let job = null;

  const about = (analysis) => JSON.stringify([lens.state.key, analysis.settings]);

  async function run() {
    const analysis = lens.current();
    if (!analysis || !lens.state.key || node.hidden) return;
    const mine = about(analysis);
    if (mine === asked) return;
    asked = mine;
    if (job) job.cancel();
    job = runJob(lens.server, 'why.gradients', aboutShown(lens), () => {});
    cancel.hidden = false;
    mark();
    const answer = await job.finished;
    if (asked !== mine) return;
    job = null;
    cancel.hidden = true;
    if (answer.cancelled) { asked = null; status.textContent = i18n.t('faith.cancelled'); return; }
    if (answer.expired && answer.expired.length) { asked = null; lens.analyse(); return; }
    found = answer.error ? { error: answer.error } : { ...answer.result, about: mine };
    draw();
  }
  const later = afterwards(run, GRADIENT_DELAY);

  function mark() {
    const current = lens.current();
    status.textContent = found && current && found.about === about(current) ? '' : i18n.t('gradient.working');
  }

  function draw() {
    const analysis = lens.current();
    if (!found || !analysis) return;
    if (found.error) {
      story.replaceChildren(h('p.lens-hint', {}, i18n.sentence(found.error)));
      return;
    }
    story.replaceChildren(...drawStory(found.triplet, analysis, i18n));
    drawNorms();
    drawMaps(analysis);
    mark();
    node.dataset.gradients = found.about;
  }

  const flow = (data, key) => flowOf(data, key, cosines === 'cut');

  function drawNorms() {
    const data = found[source];
    const all = data.flows.flatMap((f) => Object.values(f.norms)).filter((v) => v > 0);
    if (!all.length) { chart.replaceChildren(); return; }
    const range = [10 ** Math.floor(Math.log10(Math.min(...all))), 10 ** Math.ceil(Math.log10(Math.max(...all)))];
    const names = ROUTES.map(({ key, kind }) => ({ kind, name: i18n.t(`route.${key}`) }));
    chart.replaceChildren(
      chartLegend(names),
      dotChart({
        width: 600, label: i18n.t('gradient.norms'), title: i18n.t('gradient.norms'), range,
        rows: GRADIENT_GROUPS.map((group) => ({
          key: group, name: i18n.t(`gradient.${group}`),
          dots: ROUTES.map(({ key, kind }) => {
            const value = flow(data, key).norms[group] ?? null;
            return { kind, value, text: `${i18n.t(`route.${key}`)}: ${value === null ? '–' : power(value)}` };
          }),
        })),
      }));
  }

  function drawMaps(analysis) {
    const { grid } = analysis;
    const width = miniWidth(grid, 58, 64);
    const table = lens.tables[lens.state.display.colormap];
    const live = [
      { key: 'mask', look: (m) => ({ mask: keptMask(analysis, m) }), bar: [] },
      ...['soft', 'frequency'].map((key) => {
        const range = [0, Math.max(...MODALITIES.map((m) => analysis.modalities[m].ranges[key][1]))];
        return { key, look: (m) => ({ values: analysis.modalities[m].arrays[key], range, table, opacity: 0.85 }), bar: ['0', rangeNumber(range[1])], colours: true };
      }),
    ];
    const routes = ROUTES.map(({ key }) => routeColumn(key, table));
    const columns = [...live, ...routes];
    maps.replaceChildren(
      h('div.lens-map-head', {}, h('span'), ...columns.map((column) => h('span', { title: i18n.t(`map.${column.key}`) }, i18n.t(`map.${column.key}`)))),
      ...MODALITIES.map((m) => h('div.lens-map-row', { 'data-modality': m }, h('div.lens-row-name', {}, h('span', {}, m.toUpperCase())), ...columns.map((column) => miniMap(grid, width, {
        image: analysis.modalities[m].image, ...column.look(m), label: `${m.toUpperCase()}, ${i18n.t(`map.${column.key}`)}`,
        data: { gradient: column.key, modality: m },
      })))),
      h('div.lens-map-row', {}, h('span'), ...columns.map((column) => (column.colours ? numberedBar(table, ...column.bar)
        : h('div.lens-ends', {}, ...column.bar.map((text) => h('span', {}, text)))))));
  }

  // |dL/ds| as colours of its logarithm; scores that get exactly nothing are dimmed.
  function routeColumn(key, table) {
    const { score, lacking } = flow(found.triplet, key);
    if (lacking) return { key, look: () => ({}), bar: [i18n.t('absent'), ''] };
    const positive = MODALITIES.flatMap((m) => score[m].filter((v) => v > 0));
    if (!positive.length) return { key, look: () => ({}), bar: ['0', '0'] };
    const range = [Math.log10(Math.min(...positive)), Math.log10(Math.max(...positive))];
    return {
      key,
      colours: true,
      look: (m) => ({
        values: score[m].map((v) => (v > 0 ? Math.log10(v) : range[0])), range, table, opacity: 0.9,
        ...(score[m].every((v) => v > 0) ? {} : { mask: score[m].map((v) => (v > 0 ? 1 : 0)) }),
      }),
      bar: range.map((v) => `1e${Math.round(v) || 0}`),
    };
  }

  return {
    id: 'gradients', node, retranslate: draw,
    update: (analysis) => {
      if (found && !found.error) drawMaps(analysis);
      mark();
      if (found) later(); else run();
    },
  };
}
