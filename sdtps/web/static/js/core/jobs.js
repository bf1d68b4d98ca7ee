// Long work on the server: start it, look after it, and let the reader stop it.

/** @import { Answer, Server } from './types.js' */

const POLL_MILLISECONDS = 250;

/**
 * @param {Server} server
 * @param {string} task
 * @param {object} request
 * @param {(done: number, total: number) => void} onProgress
 * @returns {{ finished: Promise<Answer>, cancel: () => void }} ends with { result }, { error } or { cancelled: true }
 */
export function runJob(server, task, request, onProgress) {
  let job = null;
  let stopped = false;
  const finished = (async () => {
    const started = await server.ask(task, request);
    if (started.error) return started;
    job = started.job;
    if (stopped) server.ask('job.cancel', { job });
    for (;;) {
      const answer = await server.ask('job.poll', { job });
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
