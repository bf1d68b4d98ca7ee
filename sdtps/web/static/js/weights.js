// About the weights: what the file holds, what was assumed, what is not in it; and, where allowed, another file.

const FACTS = ['input_size', 'grid', 'channels', 'classes', 'cameras', 'rows', 'global_local', 'direct'];

function factText(name, value, i18n) {
  if (Array.isArray(value)) return value.join(' × ');
  if (typeof value === 'boolean') return i18n.t(value ? 'report.yes' : 'report.no');
  return value === 0 ? '–' : String(value);
}

function makeWeightsDialog(config, i18n, server, { current, useModel, changeSettings }) {
  const title = h('h2');
  const content = h('div.lens-report');
  const picker = h('input', { type: 'file', accept: '.safetensors,.pth,.pt,.bin', hidden: true, 'data-upload': 'weights', 'data-t-aria': 'upload.choose' });
  const choose = h('button.lens-button', { type: 'button', 'data-t': 'upload.choose', onclick: () => picker.click() });
  const insist = h('button.lens-button', { type: 'button', 'data-t': 'upload.insist', hidden: true, onclick: () => send('yes') });
  const status = h('p.lens-report-status', { 'aria-live': 'polite' });
  const upload = h('section.lens-upload', { hidden: !config.upload_weights.allowed },
    h('h3', { 'data-t': 'upload.title' }), h('p', { 'data-t': 'upload.text' }),
    h('div.lens-row-buttons', {}, choose, insist), picker);
  const close = h('button.lens-icon', { type: 'button', 'data-t-aria': 'close', 'data-t-title': 'close', onclick: () => node.close() }, '✕');
  const node = h('dialog.lens-dialog.lens-weights-dialog', { 'data-dialog': 'weights' }, h('header', {}, title, close), content, upload, status);
  node.addEventListener('click', (event) => { if (event.target === node) node.close(); });
  let file = null;
  let said = null;

  function say(note) {
    said = note;
    status.textContent = note ? i18n.sentence(note) : '';
    status.classList.toggle('lens-bad', Boolean(note && note.code !== 'upload.busy'));
    insist.hidden = !(note && note.code === 'weights.mismatch');
    if (note && node.open) status.scrollIntoView({ block: 'nearest' });
  }

  function busy(yes) {
    for (const button of node.querySelectorAll('.lens-button')) button.disabled = yes;
    node.setAttribute('aria-busy', String(yes));
  }

  // One request to the server that answers with a model; the page then shows it.
  async function take(request, note) {
    say(note);
    busy(true);
    const answer = (await request()) || unreachable();
    busy(false);
    say(answer.error || null);
    if (!answer.error) await useModel(answer.model);
  }

  async function send(force) {
    const { max_bytes: limit } = config.upload_weights;
    if (file.size > limit) {
      const values = { name: file.name, megabytes: file.size / 2 ** 20, limit: limit / 2 ** 20 };
      say({ code: 'weights.too_big', values, text: fillTemplate('{name} holds {megabytes:.0f} MB; the limit is {limit:.0f} MB.', values) });
      return;
    }
    await take(() => server.uploadWeights(file, force), { code: 'upload.busy', values: {}, text: i18n.t('upload.busy') });
  }

  picker.addEventListener('change', () => {
    [file] = picker.files;
    picker.value = '';
    if (file) send('no');
  });

  const heading = (key) => h('h3', { 'data-t': key });
  const list = (notes) => h('ul', {}, ...notes.map((note) => h('li', {}, i18n.sentence(note))));

  function factsOf(report, card) {
    const rows = [['report.family', i18n.t(`family.${report.family}`)],
      ...FACTS.filter((name) => name in report.facts).map((name) => [`fact.${name}`, factText(name, report.facts[name], i18n)])];
    const { sparse_ratio: sparse, aggr_ratio: aggr, beta } = report.settings;
    const trained = [['ρ', sparse], ['α', aggr], ['β', beta]].filter(([, value]) => value !== undefined);
    if (trained.length) rows.push(['fact.settings', trained.map(([symbol, value]) => `${symbol} ${value}`).join(', ')]);
    return h('dl.lens-weights-facts', {}, ...rows.map(([key, text]) => h('div', {}, h('dt', { 'data-t': key }), h('dd', {}, text))),
      h('div.lens-wide', {}, h('dt', {}, 'SHA-256'), h('dd', {}, h('code', {}, card.sha256))));
  }

  function tensorsOf(report) {
    const counts = ['loaded', 'missing', 'unexpected', 'unused'];
    const cell = (group, name) => h('td', { className: name !== 'loaded' && name !== 'unused' && group[name] ? 'lens-bad' : '' }, group[name] ? String(group[name]) : '–');
    return h('table.lens-tensors', {},
      h('thead', {}, h('tr', {}, h('th', { 'data-t': 'report.part' }), ...counts.map((name) => h('th', { 'data-t': `report.${name}` })))),
      h('tbody', {}, ...report.groups.map((group) => h('tr', { 'data-group': group.name },
        h('th', { 'data-t': `part.${group.name}`, scope: 'row' }), ...counts.map((name) => cell(group, name))))));
  }

  function namesOf(report) {
    const lines = ['missing', 'unexpected'].filter((side) => report[side].count).map((side) => {
      const { first, count } = report[side];
      const more = count > first.length ? i18n.t('report.more', { n: count - first.length }) : '';
      return h('p.lens-names', {}, h('b', { 'data-t': `report.${side}` }), ` ${first.join(', ')}${more}`);
    });
    return h('div', {}, ...lines);
  }

  function absentOf(report) {
    const parts = report.absent.map((part) => i18n.t(`part.${part}`)).join(i18n.t('report.comma'));
    return h('p.lens-absent-note', {}, i18n.t('report.absent', { parts }));
  }

  function refresh() {
    const model = current();
    const { report, weights: card } = model;
    title.textContent = card.name;
    const turn = h('button.lens-button', {
      type: 'button', 'data-turn': model.id, 'data-t': 'report.turn',
      onclick: () => take(() => server.ask('weights.turn', { id: model.id }), null),
    });
    const trained = h('button.lens-button', {
      type: 'button', 'data-t': 'report.use', 'data-use': 'settings', onclick: () => changeSettings(report.settings),
    });
    content.replaceChildren(
      factsOf(report, card),
      ...(Object.keys(report.settings).length ? [trained] : []),
      ...(report.absent.length ? [absentOf(report)] : []),
      ...(report.assumed.length ? [heading('report.assumed'), list(report.assumed)] : []),
      ...(report.can_turn ? [turn] : []),
      ...(report.notes.length ? [heading('notes.weights'), list(report.notes)] : []),
      ...(report.groups.length ? [heading('report.tensors'), tensorsOf(report), namesOf(report)] : []),
    );
    i18n.apply(node);
    say(said);
  }

  return {
    node,
    refresh,
    open(part) {
      say(null);
      refresh();
      node.showModal();
      if (part === 'upload') choose.focus();
    },
  };
}
