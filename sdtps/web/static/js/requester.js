// One call in flight; while it runs only the newest request is remembered.

function latestWins(call, apply) {
  let busy = false;
  let waiting = null;
  const run = async (request) => {
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
  run.busy = () => busy;
  return run;
}

const MOST_IN_FLIGHT = 4; // a browser has six connections to a host, and other things need some
const PACE = 60; // milliseconds between the starts of two calls that run beside each other
const SLOWED = 2; // times the quickest answer: then the server is busy, and more calls would make it slower
const FORGETTING = 1.1; // per answer, so that a line that became slower is not taken for a busy server for ever

// The same for small calls over a slow line: a few in flight, so that a distant server still follows a drag.
// What is shown never goes back to an older request, and the newest request is always sent.
function latestWinsInFlight(call, apply) {
  const started = []; // when the calls in flight began
  let waiting = null;
  let timer = null;
  let asked = 0;
  let applied = 0;
  let quickest = Infinity;
  let latest = 0;

  async function start() {
    const { request } = waiting;
    waiting = null;
    asked += 1;
    const number = asked;
    const begin = performance.now();
    started.push(begin);
    try {
      const answer = await call(request);
      latest = performance.now() - begin;
      quickest = Math.min(latest, quickest * FORGETTING);
      if (number > applied) {
        applied = number;
        await apply(answer, request, waiting !== null || number < asked);
      }
    } finally {
      started.splice(started.indexOf(begin), 1);
      next();
    }
  }

  function next() {
    clearTimeout(timer);
    if (!waiting) return;
    const room = started.length < MOST_IN_FLIGHT && latest <= SLOWED * quickest;
    const pause = started.length ? PACE - (performance.now() - started.at(-1)) : 0;
    if (started.length && !room) return; // the next answer looks again
    if (pause > 0) timer = setTimeout(next, pause);
    else start();
  }

  return (request) => {
    waiting = { request };
    next();
  };
}
