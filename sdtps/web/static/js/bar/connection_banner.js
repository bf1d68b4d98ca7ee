// One line while the server is gone; it goes by itself.

/** @import { Lens } from '../core/types.js' */
import { h } from '../core/dom.js';

/** @param {Lens} lens */
export function makeConnectionBanner({ i18n, notice, session, store }) {
  const { state } = store;
  const node = h('div.lens-connection', { hidden: true, 'data-t': 'connection.gone' });
  store.subscribe(['connected'], () => {
    node.hidden = state.connected;
    if (!state.connected) {
      notice.say(i18n.t('connection.gone'));
      return;
    }
    notice.tell(i18n.t('connection.back'));
    session.goOn();
  });
  return { node };
}
