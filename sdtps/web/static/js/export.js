// Taking results home: figure, bundle, supplement; and opening a bundle again. Files arrive inside answers.

const EXPORT_COLUMNS = ['input', 'self', 'cross1', 'cross2', 'predictor', 'score', 'kept', 'aggregation', 'soft', 'frequency'];
const EXPORT_HIDDEN = ['soft', 'frequency']; // not in the figure unless asked for
const PREVIEW_DPI = 110;
const PREVIEW_DELAY = 250;

function saveFile({ name, type, data }) {
  const link = h('a', { href: URL.createObjectURL(new Blob([unpackBytes(data)], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// How the page looks now, for a figure that should look alike.
const figureLook = ({ state, i18n }) => ({
  colormap: state.display.colormap,
  opacity: state.display.opacity,
  scale: state.display.scale,
  dropped: state.display.dropped,
  language: i18n.language,
});

// A view's own figure: choose a format, save it. `request()` gives the task's fields.
function makeFigureSaver(lens, task, request) {
  const { i18n, server, config } = lens;
  const kind = h('select', { 'data-t-aria': 'export.format' }, ...config.export.formats.map((f) => h('option', { value: f }, f.toUpperCase())));
  const message = h('span.lens-hint', { role: 'status' });
  const button = h('button.lens-button', {
    type: 'button', 'data-t': 'export.save', 'data-save': task,
    onclick: async () => {
      button.disabled = true;
      message.textContent = i18n.t('export.drawing');
      const answer = (await server.ask(task, { ...request(), look: figureLook(lens), format: kind.value, dpi: config.export.dpi })) || unreachable();
      button.disabled = false;
      const note = answer.error || answer.notes[0];
      message.textContent = note ? i18n.sentence(note) : '';
      if (answer.file) saveFile(answer.file);
    },
  });
  return h('span.lens-figure-saver', {}, kind, button, message);
}

// `lens.showBundle(answer)` draws what a bundle holds.
function makeExport(lens) {
  const { i18n, server, state, config } = lens;
  const choice = (name, options, value, onchange) => {
    const select = h('select', { id: uniqueId(name), 'data-export': name, onchange });
    select.append(...options.map((option) => h('option', { value: option, selected: option === value })));
    return select;
  };
  const check = (name, on) => h('input', { type: 'checkbox', id: uniqueId(name), checked: on, 'data-export': name, onchange: () => preview() });
  const width = choice('width', Object.keys(config.export.widths), 'cvpr-page', () => { chooseColumns(); preview(); });
  const format = segmented('format', config.export.formats, 'pdf', (value) => { kind = value; dpiRow.hidden = value !== 'png'; });
  const dpi = h('input', { type: 'number', id: uniqueId('dpi'), min: 72, max: 1200, value: config.export.dpi, 'data-export': 'dpi' });
  const captions = check('captions', false);
  const provenance = check('provenance', true);
  const columns = Object.fromEntries(EXPORT_COLUMNS.map((name) => [name, check(`column.${name}`, !EXPORT_HIDDEN.includes(name))]));
  const columnBox = h('div.lens-export-columns', { role: 'group', 'data-t-aria': 'export.columns' }, ...EXPORT_COLUMNS.map((name) => h('label', {}, columns[name], h('span', { 'data-t': `column.${name}` }))));
  const row = (key, field) => h('div.lens-field', {}, h(field.id ? 'label' : 'span', { htmlFor: field.id, 'data-t': key }), field);
  const dpiRow = row('export.dpi', dpi);
  dpiRow.hidden = true;
  const picture = h('img', { alt: '' });
  const wait = h('p.lens-hint', { 'data-t': 'export.drawing' });
  const size = h('figcaption');
  const message = h('p.lens-export-message', { role: 'status' });
  const action = (name, run) => h('button.lens-button', { type: 'button', 'data-t': `export.${name}`, 'data-do': name, onclick: run });
  const file = h('input', { type: 'file', accept: '.zip,application/zip', hidden: true, 'data-t-aria': 'export.open', 'data-export': 'bundle', onchange: () => open() });
  const stop = h('button.lens-plain', { type: 'button', 'data-t': 'export.stop', hidden: true });
  const buttons = {
    figure: action('figure', () => download('export.figure', { format: kind, dpi: Number(dpi.value) || config.export.dpi })),
    bundle: action('bundle', () => download('export.bundle', {})),
    supplement: action('supplement', () => supplement()),
    open: action('open', () => file.click()),
  };
  const part = (name, ...content) => h('section', {}, h('h3', { 'data-t': `export.${name}.title` }), h('p', { 'data-t': `export.${name}.text` }), ...content);
  const dialog = h('dialog.lens-dialog.lens-export', {},
    h('header', {}, h('h2', { 'data-t': 'export' }),
      h('button.lens-icon', { type: 'button', 'data-t-aria': 'close', onclick: () => dialog.close() }, '✕')),
    h('div.lens-export-body', {},
      h('div', {},
        part('figure', row('export.width', width), row('export.format', format), dpiRow, columnBox,
          h('div.lens-export-columns', {}, h('label', {}, captions, h('span', { 'data-t': 'export.captions' })),
            h('label', {}, provenance, h('span', { 'data-t': 'export.provenance' }))), buttons.figure),
        part('bundle', buttons.bundle, file, buttons.open),
        part('supplement', buttons.supplement, stop), message),
      h('figure', {}, wait, picture, size)));
  const button = h('button.lens-plain', { type: 'button', 'data-t': 'export', 'data-choice': 'export', onclick: () => show() });
  let kind = 'pdf';

  // A narrow figure holds six columns; the reader may still choose others.
  function chooseColumns() {
    const narrow = config.export.widths[width.value] < 5;
    for (const name of EXPORT_COLUMNS) columns[name].checked = !EXPORT_HIDDEN.includes(name) && !(narrow && ['cross2', 'predictor'].includes(name));
  }

  const request = () => ({
    key: state.key,
    settings: { ...state.settings },
    look: {
      width: width.value,
      columns: EXPORT_COLUMNS.filter((name) => columns[name].checked),
      captions: captions.checked,
      provenance: provenance.checked,
      ...figureLook(lens),
    },
  });

  const drawPreview = latestWins(
    async () => (await server.ask('export.figure', { ...request(), format: 'png', dpi: PREVIEW_DPI })) || unreachable(),
    async (answer) => {
      wait.hidden = true;
      if (answer.error) { say(answer.error); return; }
      say(answer.notes[0] || null);
      picture.src = `data:${answer.file.type};base64,${answer.file.data}`;
      picture.dataset.for = JSON.stringify(request().look);
      size.textContent = i18n.t('export.size', { width: answer.inches[0].toFixed(2), height: answer.inches[1].toFixed(2) });
    },
  );
  const preview = afterwards(() => { if (dialog.open && state.key && request().look.columns.length) drawPreview(null); }, PREVIEW_DELAY);

  function say(note) {
    message.textContent = note ? i18n.sentence(note) : '';
  }

  async function download(task, more) {
    busy(true);
    const answer = (await server.ask(task, { ...request(), ...more })) || unreachable();
    busy(false);
    say(answer.error || null);
    if (answer.file) saveFile(answer.file);
  }

  async function supplement() {
    busy(true);
    stop.hidden = false;
    const job = runJob(server, 'export.supplement', request(), (done, total) => {
      message.textContent = total ? i18n.t('export.progress', { percent: Math.round((100 * done) / total) }) : '';
    });
    stop.onclick = job.cancel;
    const answer = await job.finished;
    stop.hidden = true;
    busy(false);
    say(answer.error || null);
    if (answer.result) saveFile(answer.result.file);
  }

  async function open() {
    if (!file.files.length) return;
    busy(true);
    const [chosen] = file.files;
    const answer = (await server.stage(chosen, 'bundle')) || unreachable();
    file.value = '';
    busy(false);
    say(answer.error || null);
    if (answer.error) return;
    await lens.showBundle(answer, chosen);
    dialog.close();
  }

  function busy(yes) {
    dialog.setAttribute('aria-busy', String(yes));
    const still = yes || !state.key;
    for (const name of ['figure', 'bundle', 'supplement']) buttons[name].disabled = still;
    buttons.open.disabled = yes;
  }

  function show() {
    busy(false);
    say(null);
    wait.hidden = !state.key;
    dialog.showModal();
    preview();
  }

  function retranslate() {
    for (const option of width.children) {
      const [venue, part_] = option.value.split('-');
      const inches = config.export.widths[option.value];
      option.textContent = `${venue.toUpperCase()} ${i18n.t(`export.${part_}`)} (${inches.toFixed(2)} in)`;
    }
  }

  return { button, dialog, retranslate };
}
