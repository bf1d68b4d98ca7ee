// Who asks when: one call in flight, or a few over a slow line; only the newest request is remembered.

/**
 * One call in flight; while it runs only the newest request is remembered.
 * @template Q, A
 * @param {(request: Q) => A | Promise<A>} call
 * @param {(answer: A, request: Q, more: boolean) => void | Promise<void>} apply `more`: a newer request is waiting
 */
export function latestWins(call, apply) {
  let busy = false;
  let waiting = null;
  /** @param {Q} request */
  return async (request) => {
    waiting = { request };
    if (busy) return;
    busy = true;
    try {
      while (waiting) {
        const current = waiting.request;
        waiting = null;
        const answer = await call(current);
        // An older answer is still shown while dragging: it is the newest there is.
        await apply(answer, current, waiting !== null);
      }
    } finally {
      busy = false;
    }
  };
}

const MOST_IN_FLIGHT = 4; // a browser has six connections to a host, and other things need some
const PACE = 60; // milliseconds between the starts of two calls that run beside each other
const SLOWED = 2; // times the quickest answer: then the server is busy, and more calls would make it slower
const FORGETTING = 1.1; // per answer, so that a line that became slower is not taken for a busy server for ever

/**
 * The same for small calls over a slow line: a few in flight, so that a distant server still follows a drag.
 * What is shown never goes back to an older request, and the newest request is always sent.
 * @template Q, A
 * @param {(request: Q) => Promise<A>} call
 * @param {(answer: A, request: Q) => void | Promise<void>} apply
 */
export function latestWinsInFlight(call, apply) {
  const started = []; // when the calls in flight began
  let waiting = null;
  let timer;
  let asked = 0;
  let applied = 0;
  let quickest = Infinity;
  let latest = 0;

  /** @param {Q} [newest] without one, the request that waits is looked at again */
  return async function ask(newest) {
    if (newest !== undefined) waiting = { request: newest };
    clearTimeout(timer);
    if (!waiting) return;
    const room = started.length < MOST_IN_FLIGHT && latest <= SLOWED * quickest;
    if (started.length && !room) return; // the next answer looks again
    const begin = performance.now();
    const pause = started.length ? PACE - (begin - started[started.length - 1]) : 0;
    if (pause > 0) { timer = setTimeout(ask, pause); return; }
    const { request } = waiting;
    waiting = null;
    asked += 1;
    const number = asked;
    started.push(begin);
    try {
      const answer = await call(request);
      latest = performance.now() - begin;
      quickest = Math.min(latest, quickest * FORGETTING);
      if (number > applied) {
        applied = number;
        await apply(answer, request);
      }
    } finally {
      started.splice(started.indexOf(begin), 1);
      ask();
    }
  };
}

/**
 * Once things have been quiet for a while.
 * @param {() => void} action
 * @param {number} delay milliseconds
 */
export function afterwards(action, delay) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, delay);
  };
}
