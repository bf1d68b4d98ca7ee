// The named variants on the same triplet and weights, each beside the one that is chosen.

function makeVariantsView(lens) {
  const { i18n, config, state } = lens;
  const cards = h('div.lens-variant-cards');
  const intro = h('p.lens-intro', { 'data-t': 'variants.intro' });
  const node = h('div.lens-variants', {}, intro, cards);
  let found = null;

  const ask = latestWins(
    () => askAbout(lens, 'why.variants'),
    (answer) => { found = answer; draw(); },
  );

  function draw() {
    if (!found || !lens.current()) return;
    if (found.error) {
      cards.replaceChildren(h('p.lens-hint', {}, i18n.sentence(found.error)));
      return;
    }
    cards.replaceChildren(...found.variants.map(card));
    i18n.apply(cards);
    node.dataset.variants = found.now;
  }

  function card(result) {
    const about = config.variants.find((v) => v.name === result.name);
    const current = result.name === found.now;
    const summary = i18n.language === 'en' ? about.summary : i18n.t(`variant.${result.name}`);
    const head = h('header', {},
      h('h3', {}, result.name, h('small', {}, about.label)),
      current ? h('span.lens-badge', { 'data-t': 'variants.current' })
        : h('button.lens-button', { type: 'button', 'data-use': result.name, 'data-t': 'variants.use', disabled: Boolean(result.lacking), onclick: () => use(result.name) }));
    const tile = h('article.lens-card', { 'data-variant': result.name }, head, h('p', {}, summary));
    if (current) tile.classList.add('lens-current');
    tile.append(...(result.lacking ? [h('p.lens-lacking', {}, i18n.sentence(result.lacking))] : pictures(result, current)));
    return tile;
  }

  function pictures(result, current) {
    const analysis = lens.current();
    const { grid } = analysis;
    const given = MODALITIES.filter((m) => !result.modalities[m].missing);
    const differ = given.some((m) => result.modalities[m].entered.length);
    const verdict = current ? '' : i18n.t(differ ? 'variants.differs' : 'variants.same');
    return [
      h('div.lens-minis', {}, ...MODALITIES.map((m) => {
        const change = result.modalities[m];
        return h('div', {},
          miniMap(grid, miniWidth(grid, 72, 96), {
            image: analysis.modalities[m].image, mask: change.mask, entered: current ? null : change.entered, left: current ? null : change.left,
            caption: m.toUpperCase(), label: `${result.name}, ${m.toUpperCase()}`, data: { variant: result.name, modality: m },
          }),
          current ? null : h('p.lens-under', { 'data-jaccard': m }, `+${change.entered.length} −${change.left.length} · J ${change.overlap.jaccard.toFixed(2)}`));
      })),
      h('p.lens-under', { 'data-numbers': result.name }, [
        i18n.t('variants.numbers', { kept: result.kept, tokens: result.tokens ?? '–' }),
        ...(current ? [] : [i18n.t('variants.cosine', { value: orDash(result.sdtps_cosine, 3) }), verdict]),
      ].join(' · ')),
    ];
  }

  function use(name) {
    state.settings.variant = name;
    lens.analyse();
  }

  return {
    id: 'variants', node, retranslate: draw,
    update: () => { if (state.key) ask(null); },
  };
}
