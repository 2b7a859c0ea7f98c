/**
 * What of spillway/serve runs in browsers, such as in a service worker.
 * @module spillway/serve
 */
export { handler, type ModelHandler } from "../serve/handler.js";
export type { HandlerOptions } from "../serve/options.js";
export type { ServableModel } from "../serve/served-model.js";
