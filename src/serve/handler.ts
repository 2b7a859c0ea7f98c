// A model behind a function from a request to its response.
import { resolve } from "@spillway/core/options.js";
import { Answers } from "./answers.js";
import { type HandlerOptions, handlerTable } from "./options.js";
import { type ServableModel, servedModel } from "./served-model.js";

// A program without the types of a browser or of Node compiles too.
type WebRequest = typeof globalThis extends { Request: { prototype: infer T } } ? T : never;
type WebResponse = typeof globalThis extends { Response: { prototype: infer T } } ? T : never;

/** Answers requests to a model. */
export interface ModelHandler extends AsyncDisposable {
  (request: WebRequest): Promise<WebResponse>;
  /**
   * Refuses further requests, ends sessions and answers what was asked; what takes longer than a
   * second is broken off. The model remains open. Idempotent.
   */
  close(): Promise<void>;
}

/**
 * A function from a `Request` to its `Response` for a trained model: for Hono, Next.js, Deno, Bun,
 * a service worker, and every other server that has these two classes. Requests, limits and
 * refusals are those of `serveModel`, except that names, origins and connections are up to that
 * server.
 * @throws ArgumentError for an option
 *
 * @example
 * const app = new Hono().mount("/flow", handler(await Forecaster.load("flow.safetensors")));
 */
export function handler(model: ServableModel, options: HandlerOptions = {}): ModelHandler {
  const settings = resolve(handlerTable, options, "handler");
  const answers = new Answers(servedModel(model, settings), settings);
  const close = () => answers.close();
  return Object.assign((request: WebRequest) => answers.answer(request), { close, [Symbol.asyncDispose]: close });
}
