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
export interface TimedRun {
  /** Times work of the given number of steps. */
  time(steps: number, work: (computer: AnyReservoirComputer) => Promise<Matrix[]>): Promise<Matrix[]>;
  result(): ComparedRun;
  dispose(): Promise<void>;
}

/**
 * @throws ArgumentError for an arithmetic that the kind of reservoir does not have;
 * EngineUnavailableError
 */
export async function openRun(model: AnyModel, asked: ComparedEngine): Promise<TimedRun> {
  const { name, engine, context, plan } = asked;
  const refused = (because: string) => `engines holds ${JSON.stringify(name)}; ${because}`;
  if (model.kind !== undefined && asked.arithmetic === "fast") {
    const reason =
      model.kind === "spiking"
        ? "a spiking reservoir has only portable arithmetic"
        : "a composed reservoir says the arithmetic of its parts itself";
    throw ArgumentError.shape(refused(reason), { field: "engines" });
  }
  if (model.kind === undefined && model.config.arithmetic === "integer" && asked.arithmetic !== undefined)
    throw ArgumentError.because(refused("a reservoir in integers has no other arithmetic"), { field: "engines" });
  const arithmetic = arithmeticOf(model, asked);
  const itsModel = model.kind === undefined ? { ...model, config: { ...model.config, arithmetic } } : model;
  const computer = await ReservoirComputer.fromModel<AnyModel>(itsModel, { engine, context, plan, profile: true });
  let total = 0;
  const rates: number[] = [];
  const loopRates: number[] = [];
  /** The loop so far. */
  const loop = () => computer.profile && loopTime(computer.profile);
  return {
    async time(steps, work) {
      const before = loop()?.milliseconds ?? 0;
      const begun = performance.now();
      const states = await work(computer);
      const seconds = (performance.now() - begun) / 1000;
      const milliseconds = (loop()?.milliseconds ?? 0) - before;
      total += seconds;
      rates.push(steps / seconds);
      if (milliseconds > 0) loopRates.push((1000 * steps) / milliseconds);
      return states;
    },
    result() {
      const { engine: own, profile } = computer;
      const clock = loop()?.clock;
      const isMeasured = clock !== undefined && clock !== "simulated" && loopRates.length > 0;
      return {
        engine: `${own.name}${asked.arithmetic ? `:${asked.arithmetic}` : ""}${plan ? `, ${plan}` : ""}`,
        ...{ reason: own.reason, plan: own.plan, arithmetic, seconds: total, stepsPerSecond: middle(rates) },
        ...(isMeasured && { loop: { clock, stepsPerSecond: middle(loopRates) } }),
        profile,
      };
    },
    dispose: () => computer.dispose(),
  };
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
