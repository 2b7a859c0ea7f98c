/**
 * A saved model behind HTTP: forecasts, classes, and series that move on row by row.
 */
export type { ServeOptions } from "./options.js";
export { type ModelServer, serveModel } from "./server.js";
