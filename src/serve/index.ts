/**
 * A saved model behind HTTP: forecasts, classes, and series that move on row by row.
 */
export { handler, type ModelHandler } from "./handler.js";
export type { HandlerOptions, ServeOptions } from "./options.js";
export type { ServableModel } from "./served-model.js";
export { type ModelServer, serveModel } from "./server.js";
