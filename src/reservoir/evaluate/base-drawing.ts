// What the seeds of an evaluation draw, ahead of the work that takes it, by threads if that is
// worth their start.
import { SpillwayError } from "@spillway/core/errors.js";
import type { SpectralRadius } from "@spillway/numerics";
import { isDenseBlock, largestRadius, type RadiusPart } from "@spillway/numerics/spectrum/radius.js";
import type { ReservoirConfig } from "../config.js";
import type { DeviceAbilities } from "../engine/device.js";
import type { Engine, WorkOptions } from "../engine.js";
import { drawnConfig, isKnownRadius } from "../known-radii.js";
import type { EngineProfile } from "../profile.js";
import { type DrawnParts, drawWeightsBy, isInParts } from "../recurrent-weights.js";
import { expectedNonzeros } from "../topologies/index.js";
import { WorkPacer } from "../work.js";
import { DrawThreads, drawParts, hasDeviceParts, spareThreads } from "./draw-threads.js";
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

/** What the weights and the radius of one seed take; balancing takes as long as drawing. */
function millisecondsOf(config: ReservoirConfig, onDevice: boolean): number {
  const isMeasured = config.spectralRadius !== null && config.radiusMethod !== "circularLaw";
  const radius = onDevice ? drawMilliseconds * expectedNonzeros(config) : denseMillisecondsPerCube * config.size ** 3;
  return drawMilliseconds * expectedNonzeros(config) + (isMeasured ? radius : 0);
}

/** Whether the device of an engine suits radii of so many draws, alike but for their seeds. */
const suitsDevice = ({ device }: Engine, fresh: readonly Draw[]): boolean =>
  device !== undefined && fresh.length >= device.leastRadii && hasDeviceParts(fresh[0]!.config);

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

/** Bytes of blocks that are computed at once: those of 200 matrices of 200 rows. */
const bytesAtOnce = 2 ** 26;

interface Asked {
  readonly parts: readonly RadiusPart[];
  readonly resolve: (found: SpectralRadius | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects what so many seeds ask for; it is computed when the last one has asked, or before. */
class DeviceRadii {
  readonly #device: Pick<DeviceAbilities, "denseRadii">;
  readonly #asked: Asked[] = [];
  #seeds: number;
  #bytes = 0;
  #milliseconds = 0;

  constructor(device: Pick<DeviceAbilities, "denseRadii">, seeds: number) {
    this.#device = device;
    this.#seeds = seeds;
  }

  /** What the device took, by the host's clock. */
  get milliseconds(): number {
    return this.#milliseconds;
  }

  /** The radius of a matrix by its parts; undefined if the host has to measure it. */
  measure(parts: readonly RadiusPart[]): Promise<SpectralRadius | undefined> {
    for (const part of parts) if (isDenseBlock(part)) this.#bytes += part.values.byteLength;
    return new Promise((resolve, reject) => void this.#asked.push({ parts, resolve, reject }));
  }

  /** A seed is drawn and has asked, if it asks at all. */
  drawn(): void {
    this.#seeds--;
    if (this.#seeds === 0 || this.#bytes >= bytesAtOnce) void this.#answer(this.#asked.splice(0));
  }

  async #answer(asked: readonly Asked[]): Promise<void> {
    this.#bytes = 0;
    const begun = performance.now();
    try {
      const blocks = asked.flatMap(({ parts }) => parts.filter(isDenseBlock));
      const radii = blocks.length > 0 ? await this.#device.denseRadii(blocks) : [];
      let next = 0;
      for (const { parts, resolve } of asked) {
        const radiusOf = (part: RadiusPart) =>
          isDenseBlock(part) ? { radius: radii?.[next++] ?? Number.NaN, method: "dense" as const } : part;
        const found = parts.map(radiusOf);
        resolve(found.some(({ radius }) => Number.isNaN(radius)) ? undefined : largestRadius(found));
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
    this.#milliseconds += performance.now() - begun;
  }
}

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
    const onDevice = suitsDevice(engine, fresh);
    const threads = fresh[0] ? threadsFor(fresh.length, fresh.length * millisecondsOf(fresh[0].config, onDevice), spareThreads()) : 0;
    if (threads > 0) this.#threads = new DrawThreads(threads);
    this.#signal?.addEventListener("abort", this.#end);
  }

  /** @throws WorkInterruptedError; Error after `dispose` */
  async draw({ from, to }: DrawRange): Promise<readonly Base[]> {
    const { kept, done } = this.#options;
    const bases: (Base | Promise<Base>)[] = [];
    // Looked up once: another evaluation may add to them while this one draws.
    const wanted = this.#draws.slice(from, to).map((draw) => ({ ...draw, known: kept?.get(draw.key) }));
    const radii = this.#deviceRadii(wanted.filter(({ known }) => !known));
    try {
      for (const { key, config, known } of wanted) {
        if (known) {
          bases.push(known);
          continue;
        }
        if (this.#pacer.due()) await this.#pacer.pause(done());
        if (this.#disposed) throw new SpillwayError("lifecycle", "the evaluation that these weights are drawn for is over");
        const base = this.#draw(config, radii).then((drawn) => {
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
    } finally {
      this.#radiusMs += radii?.milliseconds ?? 0;
    }
  }

  /** What it took so far, by the clock of the threads that did it. */
  profile(): EngineProfile {
    const { draw, radius } = this.#threads?.milliseconds ?? { draw: 0, radius: 0 };
    const spent = { draw: this.#drawMs + draw, radius: this.#radiusMs + radius };
    const phase = (name: keyof typeof spent) => ({ phase: name, clock: "host", milliseconds: spent[name], pieces: this.#radii }) as const;
    return { phases: [phase("draw"), phase("radius")] };
  }

  /** Ends the threads, and what is being drawn. Idempotent. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#signal?.removeEventListener("abort", this.#end);
    await this.#threads?.dispose();
  }

  /** What measures the radii of so many draws on the engine's device, if that is worth it. */
  #deviceRadii(fresh: readonly Draw[]): DeviceRadii | undefined {
    return suitsDevice(this.#engine, fresh) ? new DeviceRadii(this.#engine.device!, fresh.length) : undefined;
  }

  /** W and its radius by a thread, and by a device if it is asked. */
  async #parts(config: ReservoirConfig, radii: DeviceRadii | undefined, asked: () => void): Promise<DrawnParts | undefined> {
    const threads = this.#threads;
    const isKnown = config.spectralRadius === null || isKnownRadius(config);
    const task = { config: drawnConfig(config), radius: isKnown ? "none" : radii ? "parts" : "whole" } as const;
    let parts = threads && (await threads.draw(task));
    if (!parts && radii) {
      const made = drawParts(task);
      ({ parts } = made);
      // Without threads the caller takes all of this time for drawing.
      this.#drawMs += threads ? made.drawMs : -made.radiusMs;
      this.#radiusMs += made.radiusMs;
    }
    if (!parts || !radii || !isInParts(parts.radius)) return parts;
    const found = radii.measure(parts.radius);
    asked();
    return { ...parts, radius: await found };
  }

  async #draw(config: ReservoirConfig, radii: DeviceRadii | undefined): Promise<Base> {
    const measured = config.spectralRadius !== null;
    let isAwaited = true;
    const asked = () => {
      if (isAwaited) radii?.drawn();
      isAwaited = false;
    };
    let begun = performance.now();
    const pending = drawWeightsBy(config, this.#engine, this.#threads || radii ? () => this.#parts(config, radii, asked) : undefined);
    this.#drawMs += performance.now() - begun;
    const drawn = await pending.finally(asked);
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
