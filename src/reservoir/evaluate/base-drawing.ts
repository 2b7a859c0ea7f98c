// What the seeds of an evaluation draw, ahead of the work that takes it, by threads if that is
// worth their start.
import { SpillwayError } from "@spillway/core/errors.js";
import type { ReservoirConfig } from "../config.js";
import type { Engine, WorkOptions } from "../engine.js";
import { drawnConfig } from "../known-radii.js";
import type { EngineProfile } from "../profile.js";
import { drawWeightsBy } from "../recurrent-weights.js";
import { expectedNonzeros } from "../topologies/index.js";
import { WorkPacer } from "../work.js";
import { DrawThreads, spareThreads } from "./draw-threads.js";
import { type Base, baseOf } from "./members.js";

/** Descriptions `from` to `to`, the last one not included. */
export interface DrawRange {
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

/** What the weights and the radius of one seed take. */
function millisecondsOf(config: ReservoirConfig): number {
  const isMeasured = config.spectralRadius !== null && config.radiusMethod !== "circularLaw";
  return drawMilliseconds * expectedNonzeros(config) + (isMeasured ? denseMillisecondsPerCube * config.size ** 3 : 0);
}

/** What is drawn: a description, and a key that tells it from others. */
export interface Draw {
  readonly key: string;
  readonly config: ReservoirConfig;
}

/** Bytes of W of the bases that are kept, near enough, with what a device makes of them. */
const keptBytes = 2 ** 29;

/** Bases for further evaluations on the same engine: the latest that memory suffices for. */
export class KeptBases {
  readonly #bases = new Map<string, Base>();
  #bytes = 0;

  get(key: string): Base | undefined {
    return this.#bases.get(key);
  }

  add(key: string, base: Base): void {
    this.#bases.set(key, base);
    this.#bytes += bytesOf(base);
    for (const [oldest, { model }] of this.#bases) {
      if (this.#bytes <= keptBytes) return;
      this.#bases.delete(oldest);
      this.#bytes -= bytesOf({ model });
    }
  }
}

const bytesOf = ({ model: { size, config } }: Pick<Base, "model">): number => 40 * (expectedNonzeros(config) + size);

/** How bases are drawn. */
export interface DrawOptions extends WorkOptions {
  readonly kept?: KeptBases | undefined;
  /** `done` of `total` steps of the evaluation are reported while only drawing is under way. */
  done(): number;
  readonly total: number;
}

/** The bases of an evaluation, one for each draw. */
export class BaseDrawing {
  readonly #draws: readonly Draw[];
  readonly #engine: Engine;
  readonly #signal: AbortSignal | undefined;
  readonly #pacer: WorkPacer;
  readonly #options: DrawOptions;
  readonly #threads: DrawThreads | undefined;
  readonly #end = () => void this.dispose();
  #disposed = false;
  #drawMs = 0;
  #radiusMs = 0;
  #radii = 0;

  constructor(draws: readonly Draw[], engine: Engine, options: DrawOptions) {
    this.#draws = draws;
    this.#engine = engine;
    this.#signal = options.signal;
    this.#options = options;
    this.#pacer = new WorkPacer(options, options.total);
    const fresh = draws.filter(({ key }) => !options.kept?.get(key));
    const threads = fresh[0] ? threadsFor(fresh.length, fresh.length * millisecondsOf(fresh[0].config), spareThreads()) : 0;
    if (threads > 0) this.#threads = new DrawThreads(threads);
    this.#signal?.addEventListener("abort", this.#end);
  }

  /** @throws WorkInterruptedError; Error after `dispose` */
  async draw({ from, to }: DrawRange): Promise<readonly Base[]> {
    const { kept, done } = this.#options;
    const bases: (Base | Promise<Base>)[] = [];
    try {
      for (const { key, config } of this.#draws.slice(from, to)) {
        const known = kept?.get(key);
        if (known) {
          bases.push(known);
          continue;
        }
        if (this.#pacer.due()) await this.#pacer.pause(done());
        if (this.#disposed) throw new SpillwayError("lifecycle", "the evaluation that these weights are drawn for is over");
        const base = this.#draw(config).then((drawn) => {
          kept?.add(key, drawn);
          return drawn;
        });
        // All are awaited below, unless one before fails.
        base.catch(() => undefined);
        bases.push(base);
      }
      return await Promise.all(bases);
    } catch (error) {
      this.#pacer.check(done());
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
