// What a server of a model takes, and its handler: apart from both, which load much more.
import { checked, type InputOf, list, number, option, text, whole } from "@spillway/core/options.js";
import { engineTable, planTable, threadsTable } from "../reservoir/options.js";

export const handlerTable = {
  /** The path before the routes, such as "/models/flow", if no server removes it; default none. */
  base: option(
    checked<string>("a path that begins with / and does not end with it", (value) => /^(\/[^/?#\s]+)*$/.test(String(value)), {
      type: "string",
    }),
    "",
    "The path before those of the routes.",
  ),
  /** Bytes of a request's body; default 8 MiB. */
  maxBody: option(whole({ atLeast: 1, atMost: 2 ** 30, unit: "bytes" }), 8 * 2 ** 20, "Bytes of a request's body."),
  /** Seconds that the work of one request may take once it has begun; default 60. */
  timeout: option(
    number({ above: 0, atMost: 86_400, unit: "seconds" }),
    60,
    "Seconds that the work of a request may take once it has begun.",
  ),
  /** Sessions that are open at a time; default 100. */
  maxSessions: option(whole({ atLeast: 0, atMost: 100_000 }), 100, "Sessions that are open at a time."),
  /** Seconds after which a session that nobody uses is closed; default 600. */
  idle: option(number({ above: 0, atMost: 86_400, unit: "seconds" }), 600, "Seconds after which a session that nobody uses is closed."),
};

/** What a handler of a model refuses as too much, and where its paths begin. */
export interface HandlerOptions extends InputOf<typeof handlerTable> {}

export const serveTable = {
  ...handlerTable,
  /** Default 8080; 0 takes one that is free. */
  port: option(whole({ atLeast: 0, atMost: 65_535 }), 8080, "The port; 0 takes one that is free."),
  /** The address that is listened on; default 127.0.0.1, which only this machine reaches. */
  host: option(text("an address of this machine"), "127.0.0.1", "The address that is listened on; 0.0.0.0 is reached by other machines."),
  /**
   * Names by which requests may call the server, beside its own address and localhost:
   * "example.org" with any port, or "example.org:8443". Default none.
   */
  names: option(list(text("a name"), "a list of names, such as example.org"), [], "Names by which requests may call the server."),
  /** "auto" (default), "cpu", "cuda", "cuda:1" (a device by number), "sim" or "reference". */
  engine: engineTable.engine,
  /** "auto" (default) or the name of a plan of a device, such as "named". */
  plan: planTable.plan,
  /** Worker threads of the CPU engine. Default 1. */
  threads: threadsTable.threads,
};

/** Where a model is served, on what it runs, and what is too much. */
export interface ServeOptions extends HandlerOptions, InputOf<typeof serveTable> {}
