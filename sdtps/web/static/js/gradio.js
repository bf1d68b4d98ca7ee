// Inside Gradio: the component gives the place and the configuration; the calls go to its server.

import { findRoutes, makeServer } from './core/server.js';
import { sendForm } from './core/upload.js';
import { mountLens } from './lens.js';

/**
 * @param {HTMLElement} element of the component
 * @param {Record<string, any>} props of the component
 */
export function start(element, props) {
  const sheet = document.createElement('style');
  sheet.textContent = props.lens_css;
  document.head.append(sheet);
  const page = /** @type {any} */ (window).gradio_config;
  const server = makeServer(findRoutes(page, location.href), window.fetch.bind(window), sendForm);
  mountLens(/** @type {HTMLElement} */ (element.querySelector('.lens-root')), props.lens_config, server);
}
