// The recorded runs that the Training tab knows: which there are, which are shown, and an epoch of one in the grid.

/** @import { Lens } from '../core/types.js' */
import { latestWins } from '../core/requester.js';

const SEED = /-s\d+$/; // at the end of the name of a lab's run
const MANY = 16; // runs; above that, those without maps begin hidden

/**
 * @param {Lens} lens
 * @param {() => void} draw what is shown has changed
 */
export function makeRunList({ i18n, server, session, store }, draw) {
  const { state } = store;
  const hidden = new Set();
  let found = null;
  let wanted = null; // runs that were asked for before the list was here

  const ask = latestWins(() => server.ask('runs.list', {}), got);
  const runs = () => (found && found.runs) || [];
  const shown = () => runs().filter((run) => !hidden.has(run.id));

  function got(answer) {
    const first = !found;
    found = answer;
    if (first && wanted) only(wanted);
    else if (first && runs().length > MANY) for (const { id, epochs } of runs()) if (!epochs.length) hidden.add(id);
    draw();
  }

  /** Only the runs of these names, or of these experiments of a lab; all where there is none of them. */
  function only(names) {
    wanted = names;
    const chosen = runs().filter(({ name }) => names.includes(name) || names.includes(name.replace(SEED, '')));
    hidden.clear();
    if (chosen.length) for (const run of runs()) if (!chosen.includes(run)) hidden.add(run.id);
    draw();
  }

  /** The nearest watched epoch of a run: the one named, the one on screen, or the first that has maps. */
  function open(epoch, name) {
    const watched = shown().filter((run) => run.epochs.length);
    const run = watched.find((r) => r.name === name) || watched.find((r) => r.id === state.recorded?.run) || watched[0];
    if (!run) return false;
    const nearest = run.epochs.reduce((best, e) => (Math.abs(e - epoch) < Math.abs(best - epoch) ? e : best));
    session.showEpoch({ run: run.id, name: run.name, epochs: run.epochs, epoch: nearest, probe: state.recorded?.probe ?? 0 });
    return true;
  }

  /** What a link names; where there is no such epoch, that is said, and the model is shown. */
  async function openLinked({ name, epoch, probe }) {
    got(await server.ask('runs.list', {}));
    const run = runs().find((r) => r.name === name);
    if (run && run.epochs.includes(epoch)) {
      session.showLinkedEpoch({ run: run.id, name, epochs: run.epochs, epoch, probe });
      return;
    }
    session.complain([{ zone: null, note: { code: null, values: {}, text: i18n.t('training.gone', { name, epoch }) } }]);
    session.analyse();
  }

  /** What a lab's run changes; nothing is known of others. */
  function wordsOf({ name }) {
    const line = found.lab.find((l) => l.name === name.replace(SEED, ''));
    return line ? i18n.sentence(line.words) : '';
  }

  function show(run, visible) {
    if (visible) hidden.delete(run.id); else hidden.add(run.id);
    draw();
  }

  return { refresh: () => ask(null), found: () => found, runs, shown, isShown: (run) => !hidden.has(run.id), show, only, open, openLinked, wordsOf };
}
