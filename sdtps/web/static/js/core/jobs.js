// Long work on the server: start it, look after it, and let the reader stop it.

/** @import { Answer, Server } from './types.js' */

const FIRST_MILLISECONDS = 40; // a figure is often done by then
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
    for (let wait = FIRST_MILLISECONDS; ; wait = Math.min(2 * wait, POLL_MILLISECONDS)) {
      const answer = await server.ask('job.poll', { job });
      if (stopped) return { cancelled: true }; // also where the result was faster than the reader
      if (answer.error || answer.cancelled || answer.result !== undefined) return answer;
      onProgress(answer.done, answer.total);
      await new Promise((resolve) => { setTimeout(resolve, wait); });
    }
  })();
  const cancel = () => {
    stopped = true;
    if (job) server.ask('job.cancel', { job });
  };
  return { finished, cancel };
}

/**
 * Work whose progress nobody watches, such as a preview: its result, or { error }.
 * @param {Server} server
 * @param {string} task
 * @param {object} request
 * @returns {Promise<Answer>}
 */
export async function askJob(server, task, request) {
  const answer = await runJob(server, task, request, () => {}).finished;
  return answer.result || answer;
}
