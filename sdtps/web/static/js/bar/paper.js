// Above a page without a server: its title, what its author says, and one line on the weights.

/** @import { Lens } from '../core/types.js' */
import { h, setText } from '../core/dom.js';
import { currentModel } from '../core/models.js';
import { descriptionOf } from '../dialogs/about.js';

/** @param {Lens} lens */
export function makePaper({ config, i18n, store }) {
  if (!config.paper) return null;
  const { title, introduction } = config.paper;
  const line = h('p.lens-paper-line', { 'data-paper': 'weights' });
  const node = h('section.lens-paper', { 'data-t-aria': 'paper' },
    title ? h('h2', { 'data-paper': 'title' }, title) : null,
    ...introduction.map((text) => h('p', { 'data-paper': 'introduction' }, text)), line);

  function tell() {
    const { weights } = currentModel(store.state);
    const own = weights.trained ? descriptionOf(weights, i18n.language).line || i18n.t('paper.silent') : i18n.t('about.random');
    setText(line, i18n.t('paper.line', { name: weights.name, own }));
  }

  store.subscribe(['language'], tell);
  return { node, tell };
}
