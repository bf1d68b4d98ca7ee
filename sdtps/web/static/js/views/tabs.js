// The tabs above the main area, one per view.

/** @import { LensStore, View } from '../core/types.js' */
import { h } from '../core/dom.js';

/**
 * @param {View[]} views
 * @param {LensStore} store
 * @param {(view: View) => void} onSwitch
 */
export function makeTabs(views, store, onSwitch) {
  const { state } = store;
  const panelId = (view) => `lens-view-${view.id}`;
  const tabs = views.map((view) => h('button', {
    type: 'button', role: 'tab', 'data-t': `view.${view.id}`, 'data-view': view.id, 'aria-controls': panelId(view),
    onclick: () => store.update({ view: view.id }),
  }));
  const node = h('div.lens-views', { role: 'tablist', 'data-t-aria': 'views', hidden: views.length < 2, onkeydown: walk }, ...tabs);
  for (const view of views) {
    view.node.classList.add('lens-view');
    view.node.id = panelId(view);
    view.node.setAttribute('role', 'tabpanel');
  }
  let current = views[0];

  function show() {
    current = views.find((view) => view.id === state.view) || views[0];
    views.forEach((view, i) => {
      view.node.hidden = view !== current;
      tabs[i].setAttribute('aria-selected', String(view === current));
      tabs[i].tabIndex = view === current ? 0 : -1;
    });
    if (current.shown) current.shown();
    onSwitch(current);
    update();
  }

  function update() {
    if (state.analysis) current.update(state.analysis);
  }

  function walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(views.indexOf(current) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  }

  store.subscribe(['view'], show);
  store.subscribe(['analysis'], update);
  function retranslate() {
    for (const view of views) if (view.retranslate) view.retranslate();
  }

  store.subscribe(['language'], retranslate);
  store.subscribe(['display'], () => { if (state.analysis && current.retranslate) current.retranslate(); }); // small maps follow, too
  return { node, show, retranslate, has: (/** @type {string} */ id) => views.some((view) => view.id === id) };
}
