// What a server answers, as a table: the same entries choose the work, check what is sent, and make
// the OpenAPI document.

import type { JsonSchema, OptionTable, Resolved } from "@spillway/core/options.js";

/** A request whose path, body and name are checked. */
export interface Call<Body> {
  readonly body: Body;
  /** The part of the path that stands in braces. */
  readonly id: string;
  /** Aborted when the client is gone or the server ends. */
  readonly signal: AbortSignal;
  /**
   * Waits until an answer of so many numbers may be held, which it is until it is read.
   * Call it before the work. @throws the signal's reason
   */
  readonly reserve: (numbers: number) => Promise<void>;
}

/** One thing that a server answers. */
export interface Route<Table extends OptionTable = OptionTable> {
  readonly method: "GET" | "POST" | "DELETE";
  /** With at most one part in braces: /sessions/{session}. */
  readonly path: string;
  readonly summary: string;
  /** The fields of the body; undefined if none is read. */
  readonly body?: Table | undefined;
  /** The status if it goes well, in words, with the fields of a JSON answer or another type. */
  readonly answer: {
    readonly status: number;
    readonly description: string;
    readonly fields?: OptionTable;
    readonly schema?: JsonSchema;
    readonly type?: string;
  };
  /** Statuses of its own refusals, in words. */
  readonly refusals?: Readonly<Record<number, string>>;
  /**
   * Gives the answer: a value for JSON, a text as it is, a stream of bytes, undefined for no
   * content.
   */
  readonly run: (call: Call<Resolved<Table>>) => unknown;
}

/** A route whose body has the fields of its own table. */
export function route<const Table extends OptionTable>(one: Route<Table>): Route {
  return one as unknown as Route;
}

/** The route of a path, and what stands where it has braces. */
export function matching(routes: readonly Route[], path: string): readonly (readonly [route: Route, id: string])[] {
  const parts = path.split("/");
  return routes.flatMap((one) => {
    const wanted = one.path.split("/");
    if (wanted.length !== parts.length) return [];
    let id = "";
    for (const [i, part] of wanted.entries()) {
      if (part.startsWith("{")) id = parts[i]!;
      else if (part !== parts[i]) return [];
    }
    return [[one, id] as const];
  });
}
