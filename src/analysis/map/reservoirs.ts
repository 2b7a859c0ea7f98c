// Measures of many reservoirs: together if an engine can, else one after the other.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { ReservoirConfig } from "../../reservoir/config.js";
import { resolveConfig } from "../../reservoir/config-schema.js";
import { engineFor } from "../../reservoir/evaluate/members.js";
import { chooseEngine, type ReservoirOptions } from "../../reservoir/index.js";
import { WorkInterruptedError, type WorkOptions, WorkPacer } from "../../reservoir/work.js";
import { checkSource } from "../source.js";
import { type MapLengths, mapLengths } from "./lengths.js";
import { isTakenTogether, measurePoint, measureTogether, type PointSettings } from "./measures.js";
import { type EnsembleMeasureOptions, ensembleMeasureTable, type MapMeasure } from "./options.js";

/** Measures of some reservoirs. */
export interface EnsembleMeasures {
  /** A value a reservoir. NaN if a state left the finite numbers, or it was not measured yet. */
  readonly values: Readonly<Partial<Record<MapMeasure, Float64Array>>>;
  /** The engine, and why it was chosen. */
  readonly engine: { readonly name: string; readonly reason: string };
  /** Whether the work was stopped before the last reservoir. */
  readonly interrupted: boolean;
  /** Reservoirs that were measured. */
  readonly measured: number;
}

/**
 * Measures many reservoirs with the lengths of {@link qualityMap}. On a GPU they are measured
 * together, some thousands at a time, if they have one size and precision and no feedback; storage
 * and transfer by nearest neighbours come one reservoir after the other. The values have the same
 * bits on every engine. "auto" takes a GPU if the work is worth it. A signal stops it: the values
 * so far are returned.
 *
 * @example
 * const { values } = await measureReservoirs(
 *   [1, 2, 3].map((seed) => ({ size: 100, seed })),
 *   { measures: ["memoryCapacity"] },
 * );
 * @throws ArgumentError for options and descriptions; WorkInterruptedError if it was stopped before
 * the first
 */
export async function measureReservoirs(
  reservoirs: readonly ReservoirOptions[],
  options: EnsembleMeasureOptions = {},
): Promise<EnsembleMeasures> {
  const asked = resolve(ensembleMeasureTable, options);
  if (!Array.isArray(reservoirs) || reservoirs.length === 0)
    throw new ArgumentError("reservoirs", reservoirs, "a list of descriptions, at least one");
  return measureAll(reservoirs, asked);
}

/** What measureAll may be told. */
interface MeasuredAs {
  readonly lengths?: MapLengths | undefined;
  /** The reservoirs as `configsOf` has them, if the caller has a shorter way. */
  readonly configs?: readonly ReservoirConfig[] | undefined;
}

/** The same with lengths of the caller's own, for options that were checked. */
export async function measureAll(
  reservoirs: readonly ReservoirOptions[],
  options: Omit<PointSettings, "lengths"> & Pick<WorkOptions, "onProgress">,
  { lengths = mapLengths, configs = configsOf(reservoirs) }: MeasuredAs = {},
): Promise<EnsembleMeasures> {
  const { measures, signal, onProgress } = options;
  const count = reservoirs.length;
  new WorkPacer({ signal, onProgress }, count);
  const settings = { ...options, lengths };
  const { engine, reason } = configs
    ? await engineFor(options.engine, configs[0]!, count * stepsOf(lengths))
    : await chooseEngine(options.engine);
  const values = Object.fromEntries(measures.map((measure) => [measure, new Float64Array(count).fill(Number.NaN)]));
  const together = configs ? measures.filter((measure) => isTakenTogether(measure, configs, options)) : [];
  /** Measures that every reservoir so far has. */
  const known = new Int32Array(count);
  const take = (of: readonly MapMeasure[], point: number, found: readonly number[]) => {
    of.forEach((measure, m) => {
      values[measure]![point] = found[m]!;
    });
    known[point] = known[point]! + of.length;
  };
  const report = (done: number) => onProgress?.(done, count);
  try {
    const alone = together.length === measures.length;
    const left =
      together.length > 0 && engine.device
        ? await measureTogether(
            engine,
            configs!,
            { ...settings, measures: together },
            (point, found) => take(together, point, found),
            alone ? report : () => undefined,
          )
        : reservoirs.keys();
    const whole = new Set(left);
    const rest = measures.filter((measure) => !together.includes(measure));
    const points = Array.from(reservoirs.keys()).filter((point) => rest.length > 0 || whole.has(point));
    const pacer = new WorkPacer({ signal }, count);
    let done = count - points.length;
    for (const point of points) {
      const of = whole.has(point) ? measures : rest;
      take(of, point, await measurePoint(reservoirs[point]!, { ...settings, measures: of }));
      report(++done);
      if (done < count) pacer.check(done);
    }
  } catch (error) {
    const measured = known.reduce((sum, each) => sum + (each === measures.length ? 1 : 0), 0);
    if (!(error instanceof WorkInterruptedError) || measured === 0) throw error;
    return { values, engine: { name: engine.name, reason }, interrupted: true, measured };
  }
  return { values, engine: { name: engine.name, reason }, interrupted: false, measured: count };
}

/** Reservoir-steps of a point, near enough to choose an engine. */
function stepsOf({ exponent, memory, rank }: MapLengths): number {
  return exponent.washout + exponent.length + memory.length + memory.heldOut + 100 * rank;
}

/** Undefined if some are no plain reservoirs of rates, which run one after the other. */
export function configsOf(reservoirs: readonly ReservoirOptions[]): readonly ReservoirConfig[] | undefined {
  for (const reservoir of reservoirs) checkSource(reservoir);
  if (reservoirs.some((reservoir) => "kind" in reservoir || "parts" in reservoir)) return undefined;
  return reservoirs.map((reservoir) => resolveConfig(reservoir));
}
