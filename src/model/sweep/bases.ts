// What the seeds of a sweep draw, ahead of the work that takes it, by threads if that is worth
// their start.
import { SpillwayError } from "@spillway/core/errors.js";
import type { Seed } from "@spillway/numerics";
import type { ReservoirConfig } from "../../reservoir/config.js";
import type { Engine, WorkOptions } from "../../reservoir/engine.js";
import { drawnConfig } from "../../reservoir/known-radii.js";
import type { EngineProfile } from "../../reservoir/profile.js";
import { type Base, baseOf } from "../../reservoir/swept.js";
import { expectedNonzeros } from "../../reservoir/topologies/index.js";
import { drawWeightsBy } from "../../reservoir/weights.js";
import { WorkPacer } from "../../reservoir/work.js";
import { DrawThreads, spareThreads } from "./draw-threads.js";

/** Seeds `from` to `to`, the last one not included. */
export interface SeedRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Threads start in a tenth of a second; from this many milliseconds of drawing and eigenvalues on
 * they are worth it, and there is one for each hundred.
 */
const worthThreads = 300;
const worthOfThread = 100;

/** Threads that draw so many seeds, which take these milliseconds in all; 0 if none is worth it. */
export const threadsFor = (seeds: number, milliseconds: number, spare: number): number =>
  milliseconds < worthThreads ? 0 : Math.min(spare, seeds - 1, Math.ceil(milliseconds / worthOfThread));

/** What the dense method takes for N rows, by N^3. */
const denseMillisecondsPerCube = 1e-6;

/** What a drawn connection takes. */
const drawMilliseconds = 4e-4;

/** The bases of a sweep, one for each description. */
export class BaseDrawing {
  readonly #configs: readonly ReservoirConfig[];
  readonly #engine: Engine;
  readonly #signal: AbortSignal | undefined;
  readonly #pacer: WorkPacer;
  readonly #done: () => number;
  readonly #threads: DrawThreads | undefined;
  readonly #end = () => void this.dispose();
  #disposed = false;
  #drawMs = 0;
  #radiusMs = 0;
  #radii = 0;

  /**
   * The bases of every seed, which all settings of a sweep share. W's radius is measured if any
   * setting takes it.
   */
  static of(
    seeds: readonly Seed[],
    settings: readonly ReservoirConfig[],
    engine: Engine,
    options: WorkOptions,
    done: () => number,
    total: number,
  ): BaseDrawing {
    const measured = settings.find(({ spectralRadius }) => spectralRadius !== null) ?? settings[0]!;
    return new BaseDrawing(
      seeds.map((seed) => ({ ...measured, seed })),
      engine,
      options,
      done,
      total,
    );
  }

  /** `done` of `total` steps of the sweep are reported while nothing but drawing goes on. */
  constructor(configs: readonly ReservoirConfig[], engine: Engine, options: WorkOptions, done: () => number, total: number) {
    this.#configs = configs;
    this.#engine = engine;
    this.#signal = options.signal;
    this.#done = done;
    this.#pacer = new WorkPacer(options, total);
    const first = configs[0]!;
    const isMeasured = first.spectralRadius !== null && first.radiusMethod !== "circularLaw";
    const each = drawMilliseconds * expectedNonzeros(first) + (isMeasured ? denseMillisecondsPerCube * first.size ** 3 : 0);
    const threads = threadsFor(configs.length, configs.length * each, spareThreads());
    if (threads > 0) this.#threads = new DrawThreads(threads);
    this.#signal?.addEventListener("abort", this.#end);
  }

  /** @throws WorkInterruptedError; Error after `dispose` */
  async draw({ from, to }: SeedRange): Promise<readonly Base[]> {
    const bases: Promise<Base>[] = [];
    try {
      for (const config of this.#configs.slice(from, to)) {
        if (this.#pacer.due()) await this.#pacer.pause(this.#done());
        if (this.#disposed) throw new SpillwayError("lifecycle", "the sweep that these weights are drawn for is over");
        const base = this.#draw(config);
        // All are awaited below, unless one before fails.
        base.catch(() => undefined);
        bases.push(base);
      }
      return await Promise.all(bases);
    } catch (error) {
      this.#pacer.check(this.#done());
      throw error;
    }
  }

  /** What it took so far, by the clock of the threads that did it. */
  profile(): EngineProfile {
    const phase = (name: "draw" | "radius", milliseconds: number) => ({
      ...({ phase: name, clock: "host" } as const),
      ...{ milliseconds, pieces: this.#radii },
    });
    const { draw, radius } = this.#threads?.milliseconds ?? { draw: 0, radius: 0 };
    return { phases: [phase("draw", this.#drawMs + draw), phase("radius", this.#radiusMs + radius)] };
  }

  /** Ends the threads, and what is being drawn. Idempotent. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#signal?.removeEventListener("abort", this.#end);
    await this.#threads?.dispose();
  }

  async #draw(config: ReservoirConfig): Promise<Base> {
    const threads = this.#threads;
    const measured = config.spectralRadius !== null;
    let begun = performance.now();
    const pending = drawWeightsBy(config, this.#engine, threads && (() => threads.draw({ config: drawnConfig(config), measured })));
    this.#drawMs += performance.now() - begun;
    const drawn = await pending;
    begun = performance.now();
    if (measured) drawn.measured();
    this.#radiusMs += performance.now() - begun;
    this.#radii++;
    begun = performance.now();
    const base = baseOf(config, drawn);
    this.#drawMs += performance.now() - begun;
    return base;
  }
}
