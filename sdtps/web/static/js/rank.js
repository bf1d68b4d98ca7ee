// The rank list: the nearest triplets of a gallery, three rows each, framed by whether they show the same identity.

const RANK_LENGTHS = [10, 20, 50];
const RANK_SETTINGS = ['sparse_ratio', 'aggr_ratio', 'beta', 'variant'];
const VERDICTS = { true: ['right', '✓'], false: ['wrong', '✗'], null: ['unknown', '·'] };

function makeRankView(lens) {
  const { i18n, server, state } = lens;
  const shown = { galleries: null, for: null, gallery: 0, length: RANK_LENGTHS[0], asked: null, list: null, error: null };
  const open = new Map(); // column → kept patches, while they are shown
  let job = null;

  const gallery = h('select', { 'data-rank': 'gallery', 'data-t-aria': 'rank.gallery', onchange: () => { shown.gallery = Number(gallery.value); refresh(); } });
  const length = h('select', { 'data-rank': 'length', 'data-t-aria': 'rank.length', onchange: () => { shown.length = Number(length.value); refresh(); } },
    ...RANK_LENGTHS.map((n) => h('option', { value: n }, String(n))));
  const state_ = h('span.lens-rank-state');
  const makeIndex = h('button.lens-button', { type: 'button', 'data-rank': 'index', onclick: runIndex });
  const cancel = h('button.lens-button', { type: 'button', 'data-rank': 'cancel', 'data-t': 'rank.cancel', hidden: true, onclick: () => job && job.cancel() });
  const useSettings = h('button.lens-button', { type: 'button', 'data-rank': 'use', 'data-t': 'rank.use', hidden: true, onclick: takeSettings });
  const bar = h('progress', { max: 1, value: 0, hidden: true, 'data-t-aria': 'rank.indexing' });
  const summary = h('p.lens-rank-summary', { 'aria-live': 'polite' });
  const columns = h('div.lens-rank-columns', { role: 'list', 'data-t-aria': 'view.rank' });
  const empty = h('div.lens-rank-empty', { hidden: true }, h('h2'), h('p'));
  const saver = makeFigureSaver(lens, 'export.ranks', () => shown.list.request);
  const head = h('div.lens-rank-head', {},
    h('label', {}, h('span.lens-key', { 'data-t': 'rank.gallery' }), gallery),
    h('label', {}, h('span.lens-key', { 'data-t': 'rank.length' }), length),
    state_, bar, makeIndex, cancel, useSettings, saver);
  const node = h('div.lens-rank', {}, head, summary, columns, empty);

  const chosen = () => (shown.galleries && shown.galleries[shown.gallery]) || null;
  const sameSettings = (a, b) => RANK_SETTINGS.every((name) => a[name] === b[name]);
  // The features made with the sliders' settings, or else the last ones that are complete.
  function chosenIndex() {
    const card = chosen();
    if (!card) return null;
    const whole = card.indexes.filter((index) => index.done >= index.total);
    return whole.find((index) => sameSettings(index.settings, lens.current().settings)) || whole[0] || null;
  }

  const askGalleries = latestWins(
    async (key) => (await server.ask('rank.galleries', { key })) || unreachable(),
    async (answer, key, more) => {
      if (more) return;
      if (answer.expired && answer.expired.length) { lens.analyse(); return; }
      shown.error = answer.error || null;
      shown.galleries = answer.galleries || null;
      shown.for = key;
      refresh();
    },
  );

  const askList = latestWins(
    async (request) => (await server.ask('rank.list', request)) || unreachable(),
    async (answer, request, more) => {
      if (more) return;
      shown.error = answer.error || null;
      shown.list = answer.error ? null : { ...answer, request };
      open.clear();
      await draw();
    },
  );

  function refresh() {
    const analysis = lens.current();
    if (!analysis || node.hidden) return;
    columns.classList.toggle('lens-stale', shown.for !== analysis.key);
    if (shown.for !== analysis.key) {
      describe();
      askGalleries(analysis.key);
      return;
    }
    const index = chosenIndex();
    if (index) {
      const request = { key: analysis.key, gallery: shown.gallery, length: shown.length, settings: index.settings };
      const text = JSON.stringify(request);
      if (text !== shown.asked) {
        shown.asked = text;
        columns.classList.add('lens-stale');
        askList(request);
      }
    } else {
      shown.asked = null;
      shown.list = null;
      draw();
    }
    describe();
  }

  function describe() {
    const analysis = lens.current();
    const card = chosen();
    const index = card && chosenIndex();
    gallery.replaceChildren(...(shown.galleries || []).map((g, i) => h('option', { value: i, selected: i === shown.gallery }, `${g.name} · ${g.split} (${g.count})`)));
    head.hidden = !card;
    const fits = index && sameSettings(index.settings, analysis.settings);
    const partial = card && card.indexes.find((one) => one.done < one.total && sameSettings(one.settings, analysis.settings));
    makeIndex.hidden = Boolean(job) || !card || Boolean(fits);
    makeIndex.textContent = i18n.t(partial ? 'rank.continue' : index ? 'rank.again' : 'rank.index', { n: card ? card.count : 0, done: partial ? partial.done : 0 });
    useSettings.hidden = Boolean(job) || !index || fits;
    cancel.hidden = !job;
    bar.hidden = !job;
    if (!job) {
      state_.textContent = index && !fits ? i18n.t('rank.other', {
        sparse: index.settings.sparse_ratio, aggr: index.settings.aggr_ratio, beta: index.settings.beta, variant: index.settings.variant,
      }) : '';
    }
    const { list } = shown;
    saver.hidden = !list;
    summary.hidden = !list && shown.galleries !== null;
    if (!list) summary.textContent = i18n.t('rank.looking');
    if (list) {
      const parts = [i18n.t('rank.searched', { n: list.searched })];
      if (list.left_out) parts.push(i18n.t(`rank.left.${list.apart}`, { n: list.left_out }));
      if (list.right !== null) {
        parts.push(i18n.t('rank.right', { n: list.right }));
        if (list.average_precision !== null) parts.push(i18n.t('rank.precision', { ap: list.average_precision, first: list.first_right }));
      } else {
        parts.push(i18n.t(list.comparable ? 'rank.nameless' : 'rank.stranger'));
      }
      summary.textContent = parts.join(' ');
    }
    const reason = shown.error ? 'error' : shown.galleries && !shown.galleries.length ? 'nodata' : card && !index ? 'noindex' : null;
    empty.hidden = reason === null;
    columns.hidden = reason !== null;
    if (reason) {
      empty.firstChild.textContent = reason === 'error' ? '' : i18n.t(`rank.${reason}.title`);
      empty.lastChild.textContent = reason === 'error' ? i18n.sentence(shown.error) : i18n.t(`rank.${reason}.text`);
    }
  }

  async function draw() {
    const { list } = shown;
    describe();
    delete columns.dataset.shown;
    if (!list) { columns.replaceChildren(); return; }
    const items = [{ ...list.query.record, ...list.query, query: true }, ...list.rows];
    const made = await Promise.all(items.map((item, i) => makeColumn(item, i)));
    if (shown.list !== list) return;
    columns.replaceChildren(...made);
    columns.classList.remove('lens-stale');
    columns.dataset.shown = list.request.key;
  }

  async function makeColumn(item, place) {
    const [verdict, symbol] = item.query ? ['query', ''] : VERDICTS[item.same];
    const canvases = {};
    const column = h('div.lens-rank-column', { role: 'listitem', 'data-verdict': verdict, 'data-record': item.id || null });
    const pictures = await Promise.all(MODALITIES.map(async (m) => [m, await decoded(item.photos[m])]));
    const images = Object.fromEntries(pictures);
    const [height, width] = lens.current().size;
    column.style.setProperty('--aspect', `${width} / ${height}`);
    column.classList.toggle('lens-rank-broad', width > height);
    for (const m of MODALITIES) {
      canvases[m] = h('canvas', { width: images[m] ? images[m].naturalWidth : width, height: images[m] ? images[m].naturalHeight : height, 'data-rank-modality': m });
    }
    const paint = () => {
      const masks = open.get(place);
      for (const m of MODALITIES) {
        const look = { image: images[m], rows: masks ? masks.grid.rows : 1, cols: masks ? masks.grid.cols : 1 };
        if (masks) Object.assign(look, { mask: unpackBytes(masks[m]), dropped: state.display.dropped });
        paintPanel(canvases[m], look);
      }
      button.setAttribute('aria-pressed', String(Boolean(masks)));
    };
    const label = item.query ? i18n.t('rank.query') : i18n.t('rank.place', { i: place });
    const button = h('button.lens-rank-pictures', {
      type: 'button', 'aria-pressed': 'false', title: i18n.t('rank.kept'),
      'aria-label': `${label}, ${i18n.t(`rank.is.${verdict}`)}. ${i18n.t('rank.kept')}`,
      onclick: async () => {
        if (open.has(place)) open.delete(place);
        else {
          const masks = item.query ? item.masks : await keptOf(item.id);
          if (!masks) return;
          open.set(place, masks);
        }
        paint();
      },
    }, ...MODALITIES.map((m) => h('span', { 'data-name': m.toUpperCase() }, canvases[m])));
    const name = item.name ? h('span.lens-rank-name', { title: item.name }, item.name) : h('span.lens-rank-name', {}, ' ');
    const told = item.pid === null || item.pid === undefined ? '' : i18n.t('browse.is.pid', { n: item.pid });
    column.append(
      h('div.lens-rank-place', {}, h('b', {}, item.query ? label : `${place}`), h('span.lens-rank-verdict', { title: i18n.t(`rank.is.${verdict}`) }, symbol),
        item.query || !item.id ? null : h('button.lens-icon', { type: 'button', title: i18n.t('rank.open'), 'aria-label': i18n.t('rank.open'), 'data-rank': 'open', onclick: () => lens.openRecord(item.id) }, '↗')),
      button,
      h('div.lens-rank-distance', { 'data-distance': item.query ? '' : item.distance }, item.query ? '' : `d ${item.distance.toFixed(3)}`),
      h('span.lens-rank-name', {}, told || ' '), name);
    paint();
    return column;
  }

  async function keptOf(id) {
    const { key, settings } = shown.list.request;
    const answer = (await server.ask('rank.kept', { key, settings, id })) || unreachable();
    if (!answer.error) return answer.masks;
    shown.error = answer.error;
    describe();
    return null;
  }

  async function decoded(url) {
    if (!url) return null;
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  }

  async function runIndex() {
    const { key, settings } = lens.current();
    job = runJob(server, 'rank.index', { key, gallery: shown.gallery, settings }, (done, total) => {
      bar.value = total ? done / total : 0;
      state_.textContent = i18n.t('rank.progress', { done, total });
    });
    bar.value = 0;
    state_.textContent = i18n.t('rank.indexing');
    describe();
    const answer = await job.finished;
    job = null;
    shown.for = null;
    shown.asked = null;
    refresh();
    shown.error = answer.error || null;
    describe();
  }

  function takeSettings() {
    const { settings } = chosenIndex();
    const other = settings.variant !== state.settings.variant;
    lens.changeSettings(settings);
    if (other) lens.analyse();
  }

  return {
    id: 'rank',
    node,
    update: refresh,
    shown: refresh,
    retranslate() { if (!node.hidden) { describe(); draw(); } },
  };
}
