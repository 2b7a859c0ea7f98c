// Work that is cut into consecutive shares, one for each of several devices, and put together again
// in order. It knows no engine.
import { SpillwayError } from "@spillway/core/errors.js";
import { WorkInterruptedError, type WorkOptions } from "../work.js";

/** The pieces of work that one device does: from `from` up to `to`, which is not among them. */
export interface Share {
  readonly device: number;
  readonly from: number;
  readonly to: number;
}

/** Consecutive shares of about equal cost, at most one a device; none is empty. */
export function sharesOf(costs: readonly number[], devices: number): readonly Share[] {
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  const shares: Share[] = [];
  let [from, before] = [0, 0];
  for (let device = 0; device < devices && from < costs.length; device++) {
    const goal = (total * (device + 1)) / devices;
    let to = from;
    // A piece goes to the side that it mostly lies on; the last device takes what is left.
    while (to < costs.length && (to === from || device === devices - 1 || before + costs[to]! / 2 <= goal)) before += costs[to++]!;
    shares.push({ device, from, to });
    from = to;
  }
  return shares;
}

/** An error of one of several devices, by its name. */
export function namedFailure(error: unknown, name: string): unknown {
  if (!(error instanceof SpillwayError) || error.code !== "device") return error;
  return new SpillwayError("device", `${name} failed, which ended the work of all devices: ${error.message}`, { cause: error });
}

/**
 * Does all shares beside one another. If one fails, those after it are stopped, or all if a device
 * failed; the error is the first in the order of the shares.
 */
export async function runShares<Result>(
  shares: readonly Share[],
  names: readonly string[],
  totalSteps: number,
  { signal, onProgress }: WorkOptions,
  work: (share: Share, options: WorkOptions) => Promise<Result>,
): Promise<Result[]> {
  const stops = shares.map(() => new AbortController());
  const stopAll = () => {
    for (const stop of stops) stop.abort(signal?.reason);
  };
  if (signal?.aborted) stopAll();
  signal?.addEventListener("abort", stopAll, { once: true });
  const done = shares.map(() => 0);
  const sum = () => done.reduce((all, some) => all + some, 0);
  try {
    const outcomes = await Promise.allSettled(
      shares.map(async (share, k) => {
        const progress = (some: number) => {
          done[k] = some;
          onProgress?.(sum(), totalSteps);
        };
        try {
          return await work(share, { signal: stops[k]!.signal, ...(onProgress && { onProgress: progress }) });
        } catch (error) {
          const from = error instanceof SpillwayError && error.code === "device" ? 0 : k + 1;
          for (const stop of stops.slice(from)) stop.abort();
          throw error;
        }
      }),
    );
    const failures = outcomes.flatMap((outcome, k) => (outcome.status === "rejected" ? [{ error: outcome.reason as unknown, k }] : []));
    if (signal?.aborted && failures.length > 0) throw new WorkInterruptedError(sum(), totalSteps, signal.reason);
    const failed = failures.find(({ error }) => !(error instanceof WorkInterruptedError)) ?? failures[0];
    if (failed) throw namedFailure(failed.error, names[shares[failed.k]!.device]!);
    return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<Result>).value);
  } finally {
    signal?.removeEventListener("abort", stopAll);
  }
}
