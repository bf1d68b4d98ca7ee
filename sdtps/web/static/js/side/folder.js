// The folder browser: data set, split, identity, camera, search; a list of any length; next, previous, random.

/** @import { Lens } from '../core/types.js' */
/** @import { Found } from './folder_list.js' */
/** @import { Filter } from './folder_parts.js' */
import { h } from '../core/dom.js';
import { clampTo } from '../core/numbers.js';
import { latestWins } from '../core/requester.js';
import { makeRowList } from './folder_list.js';
import { makeBroken, makeCurrent, makeMenus } from './folder_parts.js';
import { byName, makeSort, sortFields } from './folder_sort.js';

const PAGE_ROWS = 60;
const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
const SHORTCUTS = { ',': -1, '.': 1 };

/** @returns {Found} */
const nothingFound = () => ({ total: 0, rows: new Map(), position: null, facets: { identities: [], cameras: [], broken: 0 } });

/** @param {Lens} lens */
export function makeFolder(lens) {
  const { config, i18n, store } = lens;
  const { state } = store;
  const filter = /** @type {Filter} */ ({ root: 0, split: config.roots[0].first, pid: null, cam: null, search: '', sort: byName() });
  const found = nothingFound();
  const search = makeSearch(lens, filter, found, { rowsCame, facetsCame });
  const walk = makeWalk(lens, found, search, () => { list.reveal(/** @type {number} */ (found.position)); draw(); });
  const menus = makeMenus(lens, filter, restart);
  const sort = makeSort(lens, filter, () => restart(false));
  const list = makeRowList(found, walk.press, search.lack);
  const current = makeCurrent(i18n, found, walk);
  const broken = makeBroken(lens, () => ({ ...filter, start: 0 }));
  const parts = [...menus.nodes, ...sort.nodes, list.node, broken.node, ...current.nodes];
  const node = h('div.lens-browser', { 'data-t-aria': 'browse', role: 'group' }, ...parts);
  const shown = makeShown(lens, filter, found, { search, draw, describe, restart, clearSearch: menus.clearSearch });
  let started = false;

  function restart(otherSplit) {
    if (otherSplit) Object.assign(filter, { pid: null, cam: null });
    refresh();
    broken.close();
    search.fresh(otherSplit);
  }

  function rowsCame(fresh) {
    if (fresh) {
      walk.forget();
      list.reset();
    }
    draw();
  }

  function facetsCame() {
    refresh();
  }

  function describe() {
    current.refresh(shown.record());
  }

  function draw() {
    list.draw();
    describe();
  }

  function refresh() {
    menus.refresh(found.facets);
    sort.refresh();
    broken.refresh(found.facets.broken);
    describe();
  }

  listenForKeys(node, walk.step);
  store.subscribe(['record', 'recorded', 'photos', 'failures'], shown.follow);
  store.subscribe(['language'], refresh);
  if (state.record) shown.follow();
  return {
    node,
    start() {
      if (!started) restart(true);
      started = true;
    },
  };
}

// Asks for rows and menus; the newest question wins.
function makeSearch({ server, store }, filter, found, { rowsCame, facetsCame }) {
  const { state } = store;
  const asked = () => ({ ...filter, ...sortFields(filter, state.survey) });
  let facetsDue = false; // the menus belong to another split
  let restarting = false; // the rows here belong to another filter

  const ask = latestWins(
    async (fields) => ({ for: JSON.stringify(asked()), ...await server.ask('data.find', { ...asked(), ...fields }) }),
    (answer, fields, more) => {
      if (more) return;
      if (fields.fresh && fields.at !== state.record && !answer.error) { fresh(false); return; }
      restarting = false;
      if (answer.error && answer.error.code === 'cases.gone') { store.update({ survey: null }); return; }
      if (answer.error || answer.for !== JSON.stringify(asked())) return;
      if (fields.fresh) {
        found.rows.clear();
        found.position = answer.position;
        found.total = answer.total;
      }
      answer.rows.forEach((row, i) => found.rows.set(answer.start + i, row));
      rowsCame(Boolean(fields.fresh));
      if (answer.identities) {
        facetsDue = false;
        found.facets = answer;
        facetsCame();
      }
    },
  );

  function fresh(withFacets) {
    restarting = true;
    facetsDue = facetsDue || withFacets;
    ask({ fresh: true, facets: facetsDue, start: 0, count: PAGE_ROWS, at: state.record });
  }

  // A broken one was met: only the count has changed.
  async function facets() {
    const answer = await server.ask('data.find', { ...asked(), facets: true, count: 0 });
    if (answer.error) return;
    found.facets = /** @type {any} */ (answer);
    facetsCame();
  }

  const lack = (position) => { if (!restarting) ask({ start: Math.max(0, position - 5), count: PAGE_ROWS }); };

  return { fresh, facets, lack, asked, restarting: () => restarting };
}

// Goes from one record to another.
function makeWalk({ server, session }, found, search, onMove) {
  let tried = null; // where the last step went, also when that one turned out to be broken

  async function go(position) {
    if (position === found.position || !found.total || search.restarting()) return;
    found.position = position;
    tried = position;
    onMove();
    let row = found.rows.get(position);
    if (!row) {
      const answer = await server.ask('data.find', { ...search.asked(), start: position, count: 1 });
      if (found.position !== position || answer.error || !answer.rows.length) return;
      [row] = answer.rows;
      found.rows.set(position, row);
    }
    session.useRecord(row.id);
  }

  // A row in sight names its record, so it can be chosen while another filter's rows are on their way.
  function press(position) {
    const row = found.rows.get(position);
    if (search.restarting() && row) session.useRecord(row.id);
    else go(position);
  }

  function step(by) {
    if (!found.total) return;
    const from = tried ?? found.position;
    go(from === null ? 0 : clampTo([0, found.total - 1], from + by));
  }

  return { go, press, step, forget: () => { tried = null; } };
}

// Follows what the page shows: chosen by this browser, a link or a rank list.
function makeShown({ server, store }, filter, found, { search, draw, describe, restart, clearSearch }) {
  const { state } = store;
  let record = null; // the one on screen, as the server describes it

  const ask = latestWins(
    (id) => server.ask('data.show', { id }),
    (answer, id, more) => {
      if (answer.error) search.facets();
      if (more || answer.error || state.record !== id) return;
      record = answer;
      state.recordNames.set(id, record.name);
      if (record.root !== null && (record.root !== filter.root || record.split !== filter.split)) {
        Object.assign(filter, { root: record.root, split: record.split, search: '' });
        clearSearch();
        restart(true);
      }
      describe();
    },
  );

  function leave() {
    if (found.position === null && record === null) return;
    record = null;
    found.position = null;
    draw();
  }

  function follow() {
    if (state.record === null || state.recorded) { leave(); return; }
    const told = record !== null && record.id === state.record;
    const here = [...found.rows].find(([, row]) => row.id === state.record);
    if (here && here[0] !== found.position) {
      [found.position] = here;
      draw();
    } else if (!here && !told && found.total) {
      search.fresh(false);
    }
    if (!told) ask(state.record);
  }

  return { follow, record: () => record };
}

function listenForKeys(node, step) {
  const withKeys = (event) => event.ctrlKey || event.altKey || event.metaKey;
  node.addEventListener('keydown', (event) => {
    const by = STEPS[event.key];
    if (!by || event.target.closest('select, input, details') || withKeys(event)) return;
    event.preventDefault();
    event.stopPropagation();
    step(by);
  });
  document.addEventListener('keydown', (event) => {
    const by = SHORTCUTS[event.key];
    const typing = /** @type {Element} */ (event.target).closest('select, input, textarea, [contenteditable], dialog');
    if (!by || withKeys(event) || typing) return;
    event.preventDefault();
    step(by);
  });
}
