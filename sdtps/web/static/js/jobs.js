// Long work on the server: start it, look after it, and let the reader stop it.

const POLL_MILLISECONDS = 250;

// Resolves with { result }, { error } or { cancelled: true }; `onProgress(done, total)` in between.
function runJob(server, task, request, onProgress) {
  let job = null;
  let stopped = false;
  const finished = (async () => {
    const started = (await server.ask(task, request)) || unreachable();
    if (started.error) return started;
    job = started.job;
    if (stopped) server.ask('job.cancel', { job });
    for (;;) {
      const answer = (await server.ask('job.poll', { job })) || unreachable();
      if (stopped) return { cancelled: true }; // also where the result was faster than the reader
      if (answer.error || answer.cancelled || answer.result !== undefined) return answer;
      onProgress(answer.done, answer.total);
      await new Promise((resolve) => { setTimeout(resolve, POLL_MILLISECONDS); });
    }
  })();
  const cancel = () => {
    stopped = true;
    if (job) server.ask('job.cancel', { job });
  };
  return { finished, cancel };
}
