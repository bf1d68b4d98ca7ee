// What the page holds, in one place: parts read `state`, change it by `update`, and subscribe to what they draw.

/**
 * @template {object} T
 * @typedef {object} Store
 * @property {T} state for reading; only `update` may change it
 * @property {(changes: Partial<T>) => void} update
 * @property {(paths: string[], listener: () => void) => () => void} subscribe returns what ends it
 */

// `settings.variant` → the value there now.
function valueAt(state, steps) {
  let value = state;
  for (const step of steps) value = value === null || value === undefined ? value : value[step];
  return value;
}

/**
 * Listeners hear once per update, in the order in which they came, and only when a value at one of their paths is
 * another one: values are replaced, never changed in place.
 * @template {Record<string, any>} T
 * @param {T} state
 * @returns {Store<T>}
 */
export function makeStore(state) {
  const watchers = [];

  function update(changes) {
    Object.assign(state, changes);
    for (const watcher of [...watchers]) {
      let changed = false;
      for (let i = 0; i < watcher.paths.length; i += 1) {
        const value = valueAt(state, watcher.paths[i]);
        if (Object.is(value, watcher.values[i])) continue;
        watcher.values[i] = value;
        changed = true;
      }
      if (changed) watcher.listener();
    }
  }

  function subscribe(paths, listener) {
    const split = paths.map((path) => path.split('.'));
    const watcher = { paths: split, values: split.map((path) => valueAt(state, path)), listener };
    watchers.push(watcher);
    return () => { watchers.splice(watchers.indexOf(watcher), 1); };
  }

  return { state, update, subscribe };
}
