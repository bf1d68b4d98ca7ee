// Where the triplet comes from: zones, one wide image, examples, data folders; and what is left out or how it is fitted.

function makeSources(config, i18n, server, state, onTriplet) {
  const zones = Object.fromEntries([...MODALITIES, 'wide'].map((slot) => [slot, makeZone(slot, take)]));
  const errors = h('div.lens-errors', { role: 'alert' });
  const notes = h('ul.lens-notes', { 'data-t-aria': 'notes' });
  const toggles = Object.fromEntries(MODALITIES.map((m) => [m, h('button.lens-toggle', {
    type: 'button', role: 'switch', 'aria-checked': 'true', 'data-toggle': m, 'data-t-aria': `toggle.${m}`, 'data-t-title': `toggle.${m}`,
    onclick: () => toggle(m),
  })]));
  const strip = h('div.lens-examples', { role: 'group', 'data-t-aria': 'examples' },
    ...config.examples.map((example) => h('button.lens-example', {
      type: 'button', 'data-example': example.name, onclick: () => useExample(example.name),
    }, h('img', { src: example.thumbnail, alt: '' }), h('span'))));
  const browser = config.roots.length ? makeBrowser(config, i18n, server, state, useRecord) : null;
  const kinds = browser ? segmented('offer', ['examples', 'folder'], state.record ? 'folder' : 'examples', offer) : null;
  const fit = segmented('fit', FITS, state.fit, (value) => { state.fit = value; onTriplet(); });
  const examples = config.examples.length ? strip : h('p.lens-hint', { 'data-t': 'examples.none' });
  const node = h('section.lens-sources', {},
    h('h2', { 'data-t': 'triplet' }),
    h('div.lens-zones', {}, ...MODALITIES.map((m) => h('div.lens-zone-box', {},
      h('div.lens-zone-head', {}, h('span', {}, m.toUpperCase()), toggles[m]), zones[m].drop))),
    zones.wide.drop,
    h('div.lens-field', {}, h('span', { 'data-t': 'fit' }), fit),
    errors, notes,
    kinds || h('h2', { 'data-t': 'examples' }),
    examples, browser ? browser.node : null);
  const shown = { errors: [], notes: [] };

  function pictures() {
    return Object.fromEntries(MODALITIES.map((m) => {
      const source = state.sources[m];
      if (!source) return [m, null];
      if (source.record) return [m, { record: source.record }];
      return [m, source.example ? { example: source.example } : { token: source.token }];
    }));
  }

  function offer(kind) {
    if (!browser) return;
    kinds.select(kind);
    examples.hidden = kind !== 'examples';
    browser.node.hidden = kind !== 'folder';
    if (kind === 'folder') browser.start();
  }

  function useRecord(id) {
    state.example = null;
    state.record = id;
    state.sources = Object.fromEntries(MODALITIES.map((m) => [m, { record: id }]));
    offer('folder');
    complain([]);
    onTriplet();
  }

  function useExample(name) {
    state.example = name;
    state.record = null;
    state.sources = Object.fromEntries(MODALITIES.map((m) => [m, { example: name }]));
    complain([]);
    onTriplet();
  }

  function toggle(m) {
    if (state.leaveOut.has(m)) state.leaveOut.delete(m);
    else state.leaveOut.add(m);
    onTriplet();
  }

  // An upload replaces an example or a record as a whole: pictures of two people in one triplet would mislead.
  function place(slot, answer, file) {
    const previous = state.example === null && state.record === null ? state.sources : {};
    state.example = null;
    state.record = null;
    state.sources = { rgb: null, nir: null, tir: null, ...previous };
    for (const [m, picture] of Object.entries(answer.pictures)) {
      state.sources[m] = { token: picture.token, preview: picture.preview, file, slot };
      state.leaveOut.delete(m);
    }
  }

  async function stage(slot, file) {
    if (file.size > config.max_bytes) {
      const values = { megabytes: file.size / 2 ** 20, limit: config.max_bytes / 2 ** 20 };
      const text = fillTemplate('The file has {megabytes:.1f} MB; the limit is {limit} MB.', values);
      return { error: { code: 'input.too_big', values, text }, zone: slot };
    }
    return (await server.stage(file, slot)) || unreachable();
  }

  async function take(slot, files) {
    if (!files.length) return;
    const failures = [];
    let placed = false;
    for (const [target, file] of Object.entries(assignFiles(slot, files))) {
      zones[target].drop.classList.add('lens-busy');
      const answer = await stage(target, file);
      zones[target].drop.classList.remove('lens-busy');
      if (answer.error) {
        failures.push({ zone: target, note: answer.error });
      } else {
        place(target, answer, file);
        placed = true;
      }
    }
    complain(failures);
    if (placed) onTriplet();
  }

  // The server forgot a picture; the browser still has the file.
  async function restage(modalities) {
    const files = new Map();
    for (const m of modalities) {
      const source = state.sources[m];
      if (source && source.file) files.set(source.file, source.slot);
    }
    for (const [file, slot] of files) {
      const answer = await stage(slot, file);
      if (answer.error) return false;
      place(slot, answer, file);
    }
    return files.size > 0;
  }

  function complain(failures) {
    shown.errors = failures;
    refresh();
  }

  function refresh() {
    for (const m of MODALITIES) {
      const source = state.sources[m];
      const whole = source ? source.preview || state.photos[m] : null;
      zones[m].show(whole || thumbnailOf(source), !whole);
      zones[m].drop.classList.toggle('lens-left-out', state.leaveOut.has(m));
      toggles[m].setAttribute('aria-checked', String(!state.leaveOut.has(m)));
    }
    for (const slot of Object.keys(zones)) zones[slot].mark(shown.errors.some((failure) => failure.zone === slot));
    errors.replaceChildren(...shown.errors.map((failure) => h('p', { 'data-error': failure.zone || 'page' },
      failure.zone ? h('b', {}, failure.zone === 'wide' ? i18n.t('wide') : failure.zone.toUpperCase()) : null,
      ` ${i18n.sentence(failure.note)}`)));
    notes.replaceChildren(...shown.notes.map((note) => h('li', {}, i18n.sentence(note))));
    if (browser) {
      browser.follow();
      browser.refresh();
    }
    for (const button of strip.children) {
      const example = config.examples.find((e) => e.name === button.dataset.example);
      button.setAttribute('aria-pressed', String(example.name === state.example));
      button.lastChild.textContent = example.title[i18n.language] || example.title.en || example.name;
    }
  }

  // An example's zone shows its third of the thumbnail until the photograph itself is there.
  function thumbnailOf(source) {
    const example = source && config.examples.find((e) => e.name === source.example);
    return example ? example.thumbnail : null;
  }

  offer(state.record ? 'folder' : 'examples');
  listenForPaste(Object.values(zones), take);
  return {
    node, pictures, useExample, useRecord, restage, complain, refresh,
    setNotes(list) {
      if (JSON.stringify(list) === JSON.stringify(shown.notes)) return;
      shown.notes = list;
      refresh();
    },
    setFit: (value) => fit.select(value),
  };
}

function unreachable() {
  return { error: { code: 'server.unreachable', values: {}, text: 'The server did not answer; check that it is running and try again.' } };
}
