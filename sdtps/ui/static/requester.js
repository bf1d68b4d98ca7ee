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
