// One engine of a comparison: its name and arithmetic, and how long its pieces of work take. It
// compares nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Matrix } from "@spillway/numerics";
import type { Arithmetic } from "../../reservoir/config.js";
import { selectEngine } from "../../reservoir/engines.js";
import {
  type AnyModel,
  type AnyReservoirComputer,
  type EnginePlan,
  type EngineSelection,
  loopTime,
  type PhaseProfile,
  type Profile,
  ReservoirComputer,
} from "../../reservoir/index.js";
import { contextKind } from "../../reservoir/options.js";

/** One engine's run. */
export interface ComparedRun {
  /**
   * As it was asked for: with ":fast" or ":portable" if the arithmetic was, and "cuda, named" if
   * the plan was.
   */
  readonly engine: string;
  readonly reason: string;
  readonly plan: EnginePlan;
  /** What the engine was allowed. One that has nothing faster computes portably. */
  readonly arithmetic: Arithmetic;
  /** Seconds for all steps, states brought to the host. */
  readonly seconds: number;
  /** Steps a second by the median chunk. */
  readonly stepsPerSecond: number;
  /**
   * Only the loop over time steps: by events on a device, by the clock on a host. Left out if the
   * engine does not measure it, and on a simulated device, whose time compares with nothing.
   */
  readonly loop?: { readonly clock: PhaseProfile["clock"]; readonly stepsPerSecond: number } | undefined;
  readonly profile?: Profile | undefined;
}

/** A device that is open already. */
export type OpenDevice = NonNullable<EngineSelection["context"]>;

/** An engine as a comparison names it: "cpu", "cuda:1", "cuda:fast". */
export interface ComparedEngine {
  readonly name: string;
  readonly engine?: string | undefined;
  /** An open device in place of a name. */
  readonly context?: OpenDevice | undefined;
  /** Where it is not the description's. */
  readonly arithmetic?: "portable" | "fast" | undefined;
  readonly plan?: string | undefined;
}

/**
 * An engine once for each plan; once without a plan if it has none. @throws EngineUnavailableError
 */
export async function byPlan(asked: ComparedEngine, plans: readonly string[] | undefined): Promise<ComparedEngine[]> {
  if (!plans) return [asked];
  const { engine } = await selectEngine(asked, async () => undefined);
  return engine.supports.has("plans") ? plans.map((plan) => ({ ...asked, plan })) : [asked];
}

/** Reads the name of an engine, and behind it the arithmetic. */
export function comparedEngine(name: string | OpenDevice): ComparedEngine {
  if (typeof name !== "string") return { name: "context", context: contextKind.read(name, "engines") };
  const [, engine, arithmetic] = /^(.+):(fast|portable)$/.exec(name) ?? [];
  return engine === undefined ? { name, engine: name } : { name, engine, arithmetic: arithmetic as "fast" | "portable" };
}

/** The arithmetic that an engine of a comparison is allowed. */
export function arithmeticOf(model: AnyModel, { arithmetic }: ComparedEngine): Arithmetic {
  return arithmetic ?? (model.kind === undefined ? model.config.arithmetic : "portable");
}

/** A reservoir on one engine whose calls are timed. */
export class TimedRun {
  readonly #asked: ComparedEngine;
  readonly #computer: AnyReservoirComputer;
  readonly #arithmetic: Arithmetic;
  readonly #seconds: number[] = [];
  readonly #rates: number[] = [];
  readonly #loopRates: number[] = [];

  private constructor(asked: ComparedEngine, computer: AnyReservoirComputer, arithmetic: Arithmetic) {
    this.#asked = asked;
    this.#computer = computer;
    this.#arithmetic = arithmetic;
  }

  /**
   * @throws ArgumentError for an arithmetic that the kind of reservoir does not have;
   * EngineUnavailableError
   */
  static async open(model: AnyModel, asked: ComparedEngine): Promise<TimedRun> {
    if (model.kind !== undefined && asked.arithmetic === "fast")
      throw ArgumentError.shape(
        `engines holds ${JSON.stringify(asked.name)}; ${model.kind === "spiking" ? "a spiking reservoir has only portable arithmetic" : "a composed reservoir says the arithmetic of its parts itself"}`,
        {
          field: "engines",
        },
      );
    if (model.kind === undefined && model.config.arithmetic === "integer" && asked.arithmetic !== undefined)
      throw ArgumentError.because(`engines holds ${JSON.stringify(asked.name)}; a reservoir in integers has no other arithmetic`, {
        field: "engines",
      });
    const arithmetic = arithmeticOf(model, asked);
    const itsModel = model.kind === undefined ? { ...model, config: { ...model.config, arithmetic } } : model;
    const computer = await ReservoirComputer.fromModel<AnyModel>(itsModel, {
      engine: asked.engine,
      context: asked.context,
      plan: asked.plan,
      profile: true,
    });
    return new TimedRun(asked, computer, arithmetic);
  }

  /** Times work of the given number of steps. */
  async time(steps: number, work: (computer: AnyReservoirComputer) => Promise<Matrix[]>): Promise<Matrix[]> {
    const before = this.#loop();
    const begun = performance.now();
    const states = await work(this.#computer);
    const seconds = (performance.now() - begun) / 1000;
    const loop = this.#loop() - before;
    this.#seconds.push(seconds);
    this.#rates.push(steps / seconds);
    if (loop > 0) this.#loopRates.push((1000 * steps) / loop);
    return states;
  }

  result(): ComparedRun {
    const { engine, profile } = this.#computer;
    const { arithmetic, plan } = this.#asked;
    const clock = profile && loopTime(profile)?.clock;
    return {
      engine: `${engine.name}${arithmetic ? `:${arithmetic}` : ""}${plan ? `, ${plan}` : ""}`,
      reason: engine.reason,
      plan: engine.plan,
      arithmetic: this.#arithmetic,
      seconds: this.#seconds.reduce((sum, value) => sum + value, 0),
      stepsPerSecond: middle(this.#rates),
      ...(clock && clock !== "simulated" && this.#loopRates.length > 0 ? { loop: { clock, stepsPerSecond: middle(this.#loopRates) } } : {}),
      profile,
    };
  }

  dispose(): Promise<void> {
    return this.#computer.dispose();
  }

  /** Milliseconds of the loop so far. */
  #loop(): number {
    const { profile } = this.#computer;
    return (profile && loopTime(profile)?.milliseconds) ?? 0;
  }
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
