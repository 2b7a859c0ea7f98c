// What a server of a model takes: apart from the server, which loads much more.
import { list, number, option, type TableOf, text, whole } from "@spillway/core/options.js";
import { engineTable, threadsTable } from "../reservoir/options.js";

/** Where a model is served, on what it runs, and what is too much. */
export interface ServeOptions {
  /** Default 8080; 0 takes one that is free. */
  readonly port?: number | undefined;
  /** The address that is listened on; default 127.0.0.1, which only this machine reaches. */
  readonly host?: string | undefined;
  /**
   * Names by which requests may call the server, beside its own address and localhost:
   * "example.org" with any port, or "example.org:8443". Default none.
   */
  readonly names?: readonly string[] | undefined;
  /** Bytes of a request's body; default 8 MiB. */
  readonly maxBody?: number | undefined;
  /** Seconds that the work of one request may take once it has begun; default 60. */
  readonly timeout?: number | undefined;
  /** Sessions that are open at a time; default 100. */
  readonly maxSessions?: number | undefined;
  /** Seconds after which a session that nobody uses is closed; default 600. */
  readonly idle?: number | undefined;
  /** "auto" (default), "cpu", "cuda", "cuda:1" (a device by number), "sim" or "reference". */
  readonly engine?: string | undefined;
  /** Worker threads of the CPU engine. Default 1. */
  readonly threads?: number | undefined;
}

/** The options of `serveModel`. */
export const serveTable = {
  port: option(whole({ atLeast: 0, atMost: 65_535 }), 8080, "The port; 0 takes one that is free."),
  host: option(text("an address of this machine"), "127.0.0.1", "The address that is listened on; 0.0.0.0 is reached by other machines."),
  names: option(list(text("a name"), "a list of names, such as example.org"), [], "Names by which requests may call the server."),
  maxBody: option(whole({ atLeast: 1, atMost: 2 ** 30, unit: "bytes" }), 8 * 2 ** 20, "Bytes of a request's body."),
  timeout: option(
    number({ above: 0, atMost: 86_400, unit: "seconds" }),
    60,
    "Seconds that the work of a request may take once it has begun.",
  ),
  maxSessions: option(whole({ atLeast: 0, atMost: 100_000 }), 100, "Sessions that are open at a time."),
  idle: option(number({ above: 0, atMost: 86_400, unit: "seconds" }), 600, "Seconds after which a session that nobody uses is closed."),
  ...engineTable,
  ...threadsTable,
} satisfies TableOf<ServeOptions>;
