// The link to what is on screen, for the clipboard: in an embedding frame the address bar is out of reach.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';
import { linkTo } from '../core/link.js';

// Where the clipboard is closed to pages (plain HTTP, some frames), a selected field still copies.
function copySelected(text) {
  const field = h('textarea', { value: text, className: 'lens-live' });
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  return done;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** @param {Lens} lens */
export function makeCopyLink({ config, i18n, notice, session, store }) {
  const button = h('button.lens-plain', {
    type: 'button', 'data-t': 'copy', 'data-choice': 'copy', 'data-t-title': 'copy.title',
    onclick: async () => {
      const shown = session.linked();
      const link = linkTo(location.href, config, shown);
      button.dataset.link = link;
      if (!(await copy(link))) notice.tell(i18n.t('copy.failed', { link }));
      else notice.tell(i18n.t(store.state.own ? 'copy.own' : 'copy.done'));
    },
  });
  return button;
}
