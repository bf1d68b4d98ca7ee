// The epoch slider: which run, which image set, which epoch; play it; back to the model.

/** @import { Lens } from '../core/types.js' */
import { h, setText, uniqueId } from '../core/dom.js';

const FRAME = 350; // milliseconds between two epochs while playing

// The choices of a menu, written only when they are others.
function fill(select, entries) {
  const key = JSON.stringify(entries);
  if (select.dataset.filled === key) return;
  select.dataset.filled = key;
  select.replaceChildren(...entries.map(([value, text]) => h('option', { value }, text)));
}

/**
 * @param {Lens} lens
 * @param {{ runs: () => any[] }} training what the Training tab knows of the runs
 */
export function makeEpochBar({ i18n, session, store }, training) {
  const { state } = store;
  const id = uniqueId('epoch');
  const run = h('select', { 'data-epoch-run': '', 'data-t-aria': 'training.run', onchange: () => go({ run: Number(run.value) }) });
  const probe = h('select', { 'data-epoch-probe': '', 'data-t-aria': 'training.probe', onchange: () => go({ probe: Number(probe.value) }) });
  const range = h('input', { type: 'range', id, min: 0, step: 1, 'data-epoch': '', oninput: () => moved(Number(range.value)) });
  const now = h('output.lens-epoch-now', { htmlFor: id });
  const play = h('button.lens-button', { type: 'button', 'data-epoch-play': '', onclick: toggle });
  const back = () => { stop(); session.analyse(); };
  const leave = h('button.lens-button', { type: 'button', 'data-t': 'training.leave', 'data-epoch-leave': '', onclick: back });
  const node = h('div.lens-epochs', { hidden: true }, run, probe, play,
    h('label', { htmlFor: id, 'data-t': 'training.epoch' }), range, now, leave);
  let timer = null;

  const card = (number) => training.runs().find((r) => r.id === number);

  /** Another run, image set or place on the slider; the rest stays as near as it can. */
  function go(change) {
    const from = state.recorded;
    if (!from) return;
    const { run: number, probe: set, place } = { run: from.run, probe: from.probe, ...change };
    const chosen = card(number);
    if (!chosen || !chosen.epochs.length) return;
    const last = chosen.epochs.length - 1;
    const wanted = place ?? chosen.epochs.indexOf(from.epoch);
    const epoch = chosen.epochs[wanted < 0 ? last : Math.min(wanted, last)];
    const { name, epochs, probes } = chosen;
    session.showEpoch({ run: number, name, epochs, epoch, probe: Math.min(set, probes.length - 1) });
  }

  function moved(place) {
    stop();
    go({ place });
  }

  function toggle() {
    if (timer !== null) { stop(); return; }
    const { recorded } = state;
    const chosen = recorded && card(recorded.run);
    if (!chosen) return;
    let place = chosen.epochs.indexOf(recorded.epoch);
    if (place === chosen.epochs.length - 1) place = -1;
    timer = setInterval(() => {
      place += 1;
      if (place >= chosen.epochs.length || !state.recorded) stop();
      else go({ place });
    }, FRAME);
    update();
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    update();
  }

  function update() {
    const { recorded } = state;
    node.hidden = recorded === null;
    setText(play, i18n.t(timer === null ? 'training.play' : 'training.stop'));
    const chosen = recorded && card(recorded.run);
    if (!chosen) return;
    fill(run, training.runs().filter((r) => r.epochs.length).map((r) => [r.id, r.name]));
    fill(probe, chosen.probes.map((name, i) => [i, name]));
    probe.hidden = chosen.probes.length < 2;
    run.value = String(recorded.run);
    probe.value = String(recorded.probe);
    const place = chosen.epochs.indexOf(recorded.epoch);
    range.max = String(chosen.epochs.length - 1);
    range.value = String(place);
    range.style.setProperty('--filled', `${(place / Math.max(1, chosen.epochs.length - 1)) * 100}%`);
    range.setAttribute('aria-valuetext', String(recorded.epoch));
    setText(now, String(recorded.epoch));
    node.dataset.shown = `${recorded.run}/${recorded.epoch}/${recorded.probe}`;
  }

  store.subscribe(['recorded', 'language'], () => { if (!state.recorded && timer !== null) stop(); else update(); });
  update();
  return { node };
}
