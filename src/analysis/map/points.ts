// The measures of one reservoir. An engine that takes many at once has the
// same of most measures (together.ts).

import { NonFiniteStateError } from "../../reservoir/engine/errors.js";
import { ReservoirComputer, type ReservoirOptions } from "../../reservoir/index.js";
import { rankTolerance } from "../analyse/index.js";
import { informationCapacity } from "../capacity/index.js";
import { echoStateIndex } from "../echo-state-index.js";
import type { DynamicsEstimator } from "../information/dynamics-estimator.js";
import { informationDynamics } from "../information/index.js";
import { lyapunovExponent } from "../lyapunov-exponent.js";
import { memoryCapacity } from "../memory-capacity.js";
import { generalisationRank, kernelRank } from "../ranks.js";
import { type MapLengths, memoryLengths } from "./lengths.js";
import type { MapMeasure } from "./options.js";

/** What all points share. */
export interface PointSettings {
  readonly measures: readonly MapMeasure[];
  readonly engine: string | undefined;
  readonly seed: string | number;
  readonly amplitude: number;
  readonly estimator?: DynamicsEstimator | undefined;
  readonly signal: AbortSignal | undefined;
  readonly lengths: MapLengths;
}

/** The measures of one reservoir, in the order of `measures`. */
export async function measurePoint(reservoir: ReservoirOptions, settings: PointSettings): Promise<number[]> {
  const computer = (await ReservoirComputer.create(reservoir, { engine: settings.engine })) as ReservoirComputer;
  try {
    const at = new Point(computer, settings);
    const values: number[] = [];
    for (const measure of settings.measures) values.push(await finiteOrNaN(() => at[measure]()));
    return values;
  } finally {
    await computer.dispose();
  }
}

/** NaN at a point whose states left the finite numbers: the rest of the map is still a map. */
async function finiteOrNaN(measure: () => Promise<number>): Promise<number> {
  try {
    return await measure();
  } catch (error) {
    if (error instanceof NonFiniteStateError) return Number.NaN;
    throw error;
  }
}

/** Each measure with the lengths that a map affords; what two of them need is made once. */
class Point implements Readonly<Record<MapMeasure, () => Promise<number>>> {
  readonly #computer: ReservoirComputer;
  readonly #common: Pick<PointSettings, "seed" | "amplitude" | "signal">;
  readonly #lengths: MapLengths;
  readonly #dynamicsOptions: Pick<PointSettings, "engine" | "estimator">;
  readonly #made = new Map<string, Promise<unknown>>();

  constructor(computer: ReservoirComputer, { seed, amplitude, signal, lengths, engine, estimator }: PointSettings) {
    this.#computer = computer;
    this.#lengths = lengths;
    this.#dynamicsOptions = { engine, estimator };
    this.#common = { seed, amplitude, signal };
  }

  lyapunovExponent(): Promise<number> {
    return lyapunovExponent(this.#computer, { ...this.#common, ...this.#lengths.exponent });
  }

  async memoryCapacity(): Promise<number> {
    const lengths = memoryLengths(this.#lengths, this.#computer.model.size);
    return (await memoryCapacity(this.#computer, { ...this.#common, ...lengths })).total;
  }

  kernelRank(): Promise<number> {
    return this.#once("kernel", async () => (await kernelRank(this.#computer, this.#ranks())).rank);
  }

  generalisationRank(): Promise<number> {
    return this.#once("generalisation", async () => (await generalisationRank(this.#computer, this.#ranks())).rank);
  }

  async rankDifference(): Promise<number> {
    return (await this.kernelRank()) - (await this.generalisationRank());
  }

  async informationCapacity(): Promise<number> {
    return (await informationCapacity(this.#computer, { ...this.#common, ...this.#lengths.capacity })).total;
  }

  async echoStateIndex(): Promise<number> {
    return (await echoStateIndex(this.#computer, { ...this.#common, ...this.#lengths.echo })).index;
  }

  async storage(): Promise<number> {
    return (await this.#dynamics()).meanStorage;
  }

  async transfer(): Promise<number> {
    return (await this.#dynamics()).meanTransfer;
  }

  #dynamics() {
    return this.#once("dynamics", () =>
      informationDynamics(this.#computer, { ...this.#common, ...this.#dynamicsOptions, ...this.#lengths.dynamics }),
    );
  }

  #ranks() {
    return { ...this.#common, length: this.#lengths.rank, tolerance: rankTolerance };
  }

  #once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const made = this.#made.get(name) ?? make();
    this.#made.set(name, made);
    return made as Promise<T>;
  }
}
