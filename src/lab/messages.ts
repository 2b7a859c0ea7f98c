// What page and server say to each other over the WebSocket.
import type { LabSettings } from "./settings.js";

/** From the page: run these settings, with `size` neurons of its own and so many steps, where the server chooses. */
export interface RunRequest {
  readonly type: "run";
  readonly id: number;
  readonly settings: LabSettings;
  readonly steps: number;
}

/** From the server. */
export type ServerMessage =
  | { readonly type: "hello"; readonly engine: string; readonly reason: string; readonly version: string }
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

/** Largest reservoir and longest run that the server takes from a page. */
const largestRequest = { size: 20_000, steps: 1_000_000 } as const;

/** A request, or the sentence why it is none. */
export function parseRequest(text: string): RunRequest | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "the message is no JSON";
  }
  if (typeof value !== "object" || value === null) return "the message is no object";
  const { type, id, settings, steps } = value as Partial<RunRequest>;
  if (type !== "run") return `type is ${JSON.stringify(type)}; it takes "run"`;
  if (!Number.isSafeInteger(id)) return `id is ${JSON.stringify(id)}; it takes a whole number`;
  if (typeof settings !== "object" || settings === null) return "settings is missing";
  const { size } = settings;
  if (!Number.isSafeInteger(size) || size < 1 || size > largestRequest.size)
    return `size is ${JSON.stringify(size)}; it takes a whole number from 1 to ${largestRequest.size}`;
  if (!Number.isSafeInteger(steps) || steps! < 1 || steps! > largestRequest.steps)
    return `steps is ${JSON.stringify(steps)}; it takes a whole number from 1 to ${largestRequest.steps}`;
  return { type, id: id!, settings, steps: steps! };
}
