// The parts that a sweep is made in. Two are under way at most: while an engine makes the members of
// one, what the next draws is drawn and brought there.
import type { ReservoirConfig } from "../../reservoir/config.js";
import type { Base } from "../../reservoir/swept.js";
import { expectedNonzeros } from "../../reservoir/topologies/index.js";
import type { WorkOptions } from "../../reservoir/work.js";
import type { BaseDrawing, SeedRange } from "./bases.js";

/** Members of one part: enough to fill a device, and few enough that the first ones soon begin. */
const membersOfPart = 2112;

/** Bytes of W of the seeds of one part, near enough. */
const weightBytesOfPart = 2 ** 28;

/** The seeds of each part, in order; parts of one size, but for the last. */
export function partsOf(seeds: number, settings: number, config: ReservoirConfig): SeedRange[] {
  const fit = Math.floor(weightBytesOfPart / (16 * expectedNonzeros(config) + 1));
  const most = Math.max(1, Math.min(Math.ceil(membersOfPart / settings), fit));
  const size = Math.ceil(seeds / Math.ceil(seeds / most));
  return Array.from({ length: Math.ceil(seeds / size) }, (_, p) => ({ from: p * size, to: Math.min(seeds, (p + 1) * size) }));
}

/** What makes the members of a part, of which `made` says how many steps there are so far. */
type Making<Result> = (
  part: SeedRange,
  bases: readonly Base[],
  options: { readonly signal: AbortSignal; readonly onProgress: (made: number) => void },
) => Result;

/** How the parts of a sweep are made. */
export interface PartWork<Result> {
  /** Begins a part that others may be beside; undefined if the engine does not take it. */
  readonly together: Making<Promise<Result> | undefined>;
  /** Makes a part that has the engine to itself. */
  readonly alone: Making<Promise<Result>>;
  /** Called with what each part came to, in their order. */
  readonly take: (result: Result, part: SeedRange, bases: readonly Base[]) => void;
}

/** How the making is watched. */
interface PartOptions extends Pick<WorkOptions, "signal"> {
  /** Called with the steps of all parts. */
  readonly onProgress: (made: number) => void;
  /** Whether two parts are under way: what is measured is measured by itself. */
  readonly beside: boolean;
}

/**
 * Makes all parts. If one fails, the one behind it is stopped, and the error is thrown once that has
 * ended.
 */
export async function makeParts<Result>(
  parts: readonly SeedRange[],
  drawing: BaseDrawing,
  { together, alone, take }: PartWork<Result>,
  { signal, onProgress, beside }: PartOptions,
): Promise<void> {
  const stop = new AbortController();
  const made = parts.map(() => 0);
  const underWay: { readonly part: SeedRange; readonly bases: readonly Base[]; readonly result: Promise<Result> }[] = [];
  const finishOne = async () => {
    const { part, bases, result } = underWay[0]!;
    take(await result, part, bases);
    underWay.shift();
  };
  try {
    let ahead = drawing.draw(parts[0]!);
    for (const [p, part] of parts.entries()) {
      const bases = await ahead;
      const options = {
        signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
        onProgress: (some: number) => {
          made[p] = some;
          onProgress(made.reduce((sum, each) => sum + each, 0));
        },
      };
      let result = together(part, bases, options);
      if (!result) {
        while (underWay.length > 0) await finishOne();
        result = alone(part, bases, options);
      }
      // It is awaited when its turn comes, unless one before it failed.
      result.catch(() => undefined);
      underWay.push({ part, bases, result });
      if (p + 1 < parts.length) {
        ahead = drawing.draw(parts[p + 1]!);
        ahead.catch(() => undefined);
      }
      if (underWay.length > (beside ? 1 : 0)) await finishOne();
    }
    if (beside) await finishOne();
  } catch (error) {
    stop.abort();
    await Promise.allSettled(underWay.map(({ result }) => result));
    throw error;
  }
}
