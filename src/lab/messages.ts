// What page and server say to each other over the WebSocket.
import { isObject } from "@spillway/core/checks.js";
import { describe } from "@spillway/numerics";
import { expectedNonzeros } from "../reservoir/topologies/index.js";
import { type LabSettings, type Offered, parseSettings, topologyOf } from "./settings.js";

/** From the page: run these settings for this many steps on the server. */
export interface RunRequest {
  readonly type: "run";
  readonly id: number;
  readonly settings: LabSettings;
  readonly steps: number;
}

/** From the server. */
export type ServerMessage =
  | {
      readonly type: "hello";
      readonly engine: string;
      readonly reason: string;
      readonly version: string;
      /** What the server has, a user's own parts among it. */
      readonly offered: Offered;
    }
  | { readonly type: "progress"; readonly id: number; readonly done: number; readonly total: number }
  | {
      readonly type: "result";
      readonly id: number;
      readonly engine: string;
      readonly plan: string;
      readonly seconds: number;
      readonly stepsPerSecond: number;
      /** SHA-256 of the states of the first 1000 steps. */
      readonly hash: string;
    }
  | { readonly type: "error"; readonly id: number; readonly message: string };

/** Bytes of the longest message. */
export const longestMessage = 65_536;

/** What the server runs for a page at most: weights that are drawn in about a minute. */
const largest = { size: 20_000, steps: 1_000_000, connections: 40_000_000, orthogonal: 2000 } as const;

/** The answer to what cannot be done; id -1 if the message named none. */
export type Refused = Extract<ServerMessage, { type: "error" }>;

/** The request in a message, or the answer to what is none. */
export function parseRequest(text: string): RunRequest | Refused {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused(-1, "the message is no JSON");
  }
  if (!isObject(value)) return refused(-1, "the message is no object");
  const { type, id, settings: given, steps } = value as Partial<Record<keyof RunRequest, unknown>>;
  if (!isWhole(id, 0, Number.MAX_SAFE_INTEGER)) return refused(-1, `id is ${describe(id)}; it takes a whole number of at least 0`);
  if (type !== "run") return refused(id, `type is ${describe(type)}; it takes "run"`);
  const settings = parseSettings(given, largest.size);
  if (typeof settings === "string") return refused(id, settings);
  if (!isWhole(steps, 1, largest.steps))
    return refused(id, `steps is ${describe(steps)}; it takes a whole number from 1 to ${largest.steps}`);
  const problem = tooManyConnections(settings);
  return problem === undefined ? { type, id, settings, steps } : refused(id, problem);
}

function refused(id: number, message: string): Refused {
  return { type: "error", id, message };
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

function tooManyConnections(settings: LabSettings): string | undefined {
  const { topology, size, connectionProbability } = settings;
  if (topology === "orthogonal" && size > largest.orthogonal) return `size is ${size}; an orthogonal W takes up to ${largest.orthogonal}`;
  const connections = Math.round(expectedNonzeros({ size, connectionProbability, topology: topologyOf(settings) }));
  if (connections <= largest.connections) return undefined;
  const count = (value: number) => value.toLocaleString("en-US");
  return `${count(connections)} connections; a run takes up to ${count(largest.connections)}: fewer neurons or a smaller probability`;
}
