// The folder browser: data set, split, identity, camera, search; a list of any length; next, previous, random.

const ROW_HEIGHT = 21;
const PAGE_ROWS = 60;
const SEARCH_DELAY = 150;
const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
const SHORTCUTS = { ',': -1, '.': 1 };

function makeBrowser(config, i18n, server, state, onChoose) {
  const filter = { root: 0, split: config.roots[0].first, pid: null, cam: null, search: '' };
  const found = { total: 0, rows: new Map(), position: null, facets: { identities: [], cameras: [], broken: 0 } };
  const drawn = new Map(); // position to its line in the document
  let tried = null; // where the last step went, also when that triplet turned out to be broken
  let facetsDue = false; // the menus belong to another split
  let restarting = false; // the rows here belong to another filter
  let current = null; // the record on screen, as the server describes it
  const names = state.recordNames; // of all that were shown, by id

  const choice = (name, onchange) => h('select', { 'data-browse': name, 'data-t-aria': `browse.${name}`, onchange });
  const root = choice('root', () => { filter.root = Number(root.value); filter.split = config.roots[filter.root].first; restart(true); });
  const split = choice('split', () => { filter.split = split.value; restart(true); });
  const pid = choice('pid', () => { filter.pid = pid.value === '' ? null : Number(pid.value); restart(false); });
  const cam = choice('cam', () => { filter.cam = cam.value === '' ? null : Number(cam.value); restart(false); });
  const searched = afterwards(() => { if (search.value !== filter.search) { filter.search = search.value; restart(false); } }, SEARCH_DELAY);
  const search = h('input', { type: 'search', 'data-browse': 'search', 'data-t-aria': 'browse.search', oninput: searched });
  const rowId = uniqueId('record');
  const spacer = h('div.lens-rows-all');
  const list = h('div.lens-rows', { role: 'listbox', tabIndex: 0, 'data-t-aria': 'browse.list', onscroll: () => drawRows() }, spacer);
  const thumb = h('img.lens-browse-thumb', { alt: '', hidden: true });
  const facts = h('div.lens-browse-facts');
  const where = h('span.lens-browse-position', { 'aria-live': 'polite' });
  const button = (name, text, onclick) => h('button.lens-step', { type: 'button', 'data-browse': name, 'data-t-title': `browse.${name}`, 'data-t-aria': `browse.${name}`, onclick }, text);
  const previous = button('previous', '‹', () => step(-1));
  const next = button('next', '›', () => step(1));
  const random = button('random', '⚄', () => go(Math.floor(Math.random() * found.total)));
  const brokenCount = h('summary', { 'data-browse': 'broken' });
  const brokenList = h('ul.lens-broken-list');
  const broken = h('details.lens-broken', { hidden: true, ontoggle: listBroken }, brokenCount, brokenList);
  const node = h('div.lens-browser', { 'data-t-aria': 'browse', role: 'group' },
    config.roots.length > 1 ? root : null,
    h('div.lens-browse-row', {}, split, cam), h('div.lens-browse-row', {}, pid, search),
    list, broken,
    h('div.lens-browse-now', {}, previous, where, next, random),
    h('div.lens-browse-current', {}, thumb, facts));

  const request = (more) => ({ ...filter, ...more });
  const ask = latestWins(
    async (fields) => ({ for: JSON.stringify(filter), ...((await server.ask('data.find', request(fields))) || unreachable()) }),
    async (answer, fields, more) => {
      if (more) return;
      if (fields.fresh && fields.at !== state.record && !answer.error) { askFresh(false); return; }
      restarting = false;
      if (answer.error || answer.for !== JSON.stringify(filter)) return;
      if (fields.fresh) {
        found.rows.clear();
        found.position = answer.position;
        tried = null;
        found.total = answer.total;
        spacer.style.height = `${found.total * ROW_HEIGHT}px`;
        list.scrollTop = (found.position === null ? 0 : Math.max(0, found.position - 2)) * ROW_HEIGHT;
      }
      answer.rows.forEach((row, i) => found.rows.set(answer.start + i, row));
      if (answer.identities) {
        facetsDue = false;
        found.facets = answer;
        refresh();
      }
      drawRows();
      describe();
    },
  );

  function askFresh(facets) {
    restarting = true;
    facetsDue = facetsDue || facets;
    ask({ fresh: true, facets: facetsDue, start: 0, count: PAGE_ROWS, at: state.record });
  }

  // A broken triplet was met: only the count has changed.
  async function askFacets() {
    const answer = (await server.ask('data.find', request({ facets: true, count: 0 }))) || unreachable();
    if (!answer.error) { found.facets = answer; refresh(); }
  }

  function restart(facets) {
    if (facets) Object.assign(filter, { pid: null, cam: null });
    refresh();
    broken.open = false;
    askFresh(facets);
  }

  // Only the rows in sight are in the document; what is not here yet is asked for.
  function drawRows() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - 2);
    const last = Math.min(found.total, first + Math.ceil((list.clientHeight || 110) / ROW_HEIGHT) + 5);
    drawn.forEach((line, i) => { if (i < first || i >= last) { line.remove(); drawn.delete(i); } });
    let lacking = null;
    for (let i = last - 1; i >= first; i -= 1) {
      const row = found.rows.get(i);
      if (!row) lacking = i;
      drawRow(i, row);
    }
    if (found.position === null) list.removeAttribute('aria-activedescendant');
    else list.setAttribute('aria-activedescendant', `${rowId}-${found.position}`);
    if (lacking !== null && !restarting) ask({ start: Math.max(0, lacking - 5), count: PAGE_ROWS });
  }

  // A line that stays in sight stays the same element: one replaced between press and release would hear no click.
  function drawRow(i, row) {
    if (!drawn.has(i)) {
      const line = h('div.lens-row-name-only', { role: 'option', id: `${rowId}-${i}`, 'aria-posinset': i + 1, style: `top:${i * ROW_HEIGHT}px`, onclick: () => press(i) });
      spacer.insertBefore(line, drawn.get(i + 1) || null);
      drawn.set(i, line);
    }
    const line = drawn.get(i);
    line.setAttribute('aria-selected', i === found.position);
    line.setAttribute('aria-setsize', found.total);
    line.title = row ? row.name : '';
    line.textContent = row ? row.name : '…';
    if (row) line.dataset.record = row.id;
    else delete line.dataset.record;
  }

  // A row in sight names its triplet, so it can be chosen while another filter's rows are on their way.
  function press(position) {
    const row = found.rows.get(position);
    if (restarting && row) onChoose(row.id);
    else go(position);
  }

  function step(by) {
    if (!found.total) return;
    const from = tried ?? found.position;
    go(from === null ? 0 : clampTo([0, found.total - 1], from + by));
  }

  async function go(position) {
    if (position === found.position || !found.total || restarting) return;
    found.position = position;
    tried = position;
    const top = position * ROW_HEIGHT;
    if (top < list.scrollTop || top + ROW_HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = Math.max(0, top - 2 * ROW_HEIGHT);
    drawRows();
    describe();
    let row = found.rows.get(position);
    if (!row) {
      const answer = (await server.ask('data.find', request({ start: position, count: 1 }))) || unreachable();
      if (found.position !== position || answer.error || !answer.rows.length) return;
      [row] = answer.rows;
      found.rows.set(position, row);
    }
    onChoose(row.id);
  }

  const askShow = latestWins(
    async (id) => (await server.ask('data.show', { id })) || unreachable(),
    async (answer, id, more) => {
      if (answer.error) askFacets();
      if (more || answer.error || state.record !== id) return;
      current = answer;
      names.set(id, current.name);
      if (current.root !== null && (current.root !== filter.root || current.split !== filter.split)) {
        Object.assign(filter, { root: current.root, split: current.split, search: '' });
        search.value = '';
        restart(true);
      }
      describe();
    },
  );

  // The page chose a record, by this browser, a link or a rank list.
  function follow() {
    if (state.record === null) {
      if (found.position === null && current === null) return;
      current = null;
      found.position = null;
      drawRows();
      describe();
      return;
    }
    const told = current !== null && current.id === state.record;
    const here = [...found.rows].find(([, row]) => row.id === state.record);
    if (here && here[0] !== found.position) {
      [found.position] = here;
      drawRows();
      describe();
    } else if (!here && !told && found.total) {
      askFresh(false);
    }
    if (!told) askShow(state.record);
  }

  function describe() {
    const { total, position } = found;
    where.textContent = total === 0 ? i18n.t('browse.none')
      : position === null ? i18n.t('browse.count', { n: total.toLocaleString(i18n.language) })
        : i18n.t('browse.position', { i: (position + 1).toLocaleString(i18n.language), n: total.toLocaleString(i18n.language) });
    where.dataset.position = position === null ? '' : position;
    where.dataset.total = total;
    previous.disabled = position === null || position === 0;
    next.disabled = total === 0 || position === total - 1;
    random.disabled = total < 2;
    thumb.hidden = !current;
    if (current) thumb.src = current.thumbnail;
    const told = current ? [['browse.is.pid', current.pid], ['browse.is.cam', current.cam], ['browse.is.scene', current.scene]] : [];
    facts.replaceChildren(...(current ? [
      h('b', { title: current.name }, current.name),
      h('span', {}, told.filter(([, value]) => value !== null).map(([key, value]) => i18n.t(key, { n: value })).join(' · ')),
      current.mask ? h('span', {}, i18n.t('browse.mask')) : null,
    ] : []).filter(Boolean));
  }

  async function listBroken() {
    if (!broken.open) return;
    const answer = (await server.ask('data.broken', request({ start: 0 }))) || unreachable();
    const rows = answer.error ? [{ name: '', note: answer.error }] : answer.rows;
    const items = rows.map((row) => h('li', { title: row.name }, h('b', {}, row.name), ` ${i18n.sentence(row.note)}`));
    if (answer.total > rows.length) items.push(h('li', {}, i18n.t('browse.more', { n: answer.total - rows.length })));
    brokenList.replaceChildren(...items);
  }

  function refresh() {
    const card = config.roots[filter.root];
    const options = (select, items, chosen) => select.replaceChildren(...items.map(([value, text]) => h('option', { value, selected: String(value) === String(chosen ?? '') }, text)));
    options(root, config.roots.map((r, i) => [i, `${r.name} · ${r.layout}`]), filter.root);
    root.title = card.layout;
    options(split, card.splits.map((s) => [s, s]), filter.split);
    const any = (key) => ['', i18n.t(key)];
    options(pid, [any('browse.any.pid'), ...found.facets.identities.map((n) => [n, i18n.t('browse.is.pid', { n })])], filter.pid);
    options(cam, [any('browse.any.cam'), ...found.facets.cameras.map((n) => [n, i18n.t('browse.is.cam', { n })])], filter.cam);
    pid.disabled = !found.facets.identities.length;
    cam.disabled = !found.facets.cameras.length;
    broken.hidden = !found.facets.broken;
    brokenCount.textContent = i18n.t('browse.broken', { n: found.facets.broken });
    search.placeholder = i18n.t('browse.search');
    describe();
  }

  node.addEventListener('keydown', (event) => {
    const by = STEPS[event.key];
    if (!by || event.target.closest('select, input, details') || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    step(by);
  });
  document.addEventListener('keydown', (event) => {
    const by = SHORTCUTS[event.key];
    if (!by || event.ctrlKey || event.altKey || event.metaKey || event.target.closest('select, input, textarea, [contenteditable], dialog')) return;
    event.preventDefault();
    step(by);
  });
  let started = false;
  return {
    node, follow, refresh,
    start() {
      if (!started) restart(true);
      started = true;
    },
  };
}
