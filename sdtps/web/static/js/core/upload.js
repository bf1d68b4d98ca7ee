// A large file on its way: how far it is, and how to stop it. `fetch` tells neither.

/**
 * How a caller looks after an upload.
 * @typedef {object} Watch
 * @property {(done: number, total: number) => void} onProgress bytes
 * @property {AbortSignal} signal
 */

/**
 * @param {string} url
 * @param {FormData} form
 * @param {Watch} watch
 * @returns {Promise<Pick<Response, 'ok' | 'status' | 'json'>>} what fetch would give
 */
export function sendForm(url, form, { onProgress, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const stopped = () => reject(new DOMException('stopped by the reader', 'AbortError'));
    if (signal.aborted) { stopped(); return; }
    signal.addEventListener('abort', () => request.abort());
    request.open('POST', url);
    request.upload.onprogress = (event) => onProgress(event.loaded, event.total);
    request.onload = () => resolve({
      ok: request.status >= 200 && request.status < 300, status: request.status, json: async () => JSON.parse(request.responseText),
    });
    request.onerror = () => reject(new TypeError('the line broke'));
    request.onabort = stopped;
    request.send(form);
  });
}
