// An engine of several devices: members of ensembles and sweeps and sequences of batches are
// distributed over them, and results come in order, with the bits of one device. A single
// reservoir's sequence runs on the first device, or on all of them if that is modelled to be
// faster.
import { disposeAllAsync, disposeQuietlyAsync } from "@spillway/core/disposal.js";
import { SpillwayError } from "@spillway/core/errors.js";
import { Matrix, stackRows } from "@spillway/numerics";
import { DeviceSequences } from "../device-matrix.js";
import type {
  BatchOptions,
  Engine,
  EngineOptions,
  EnginePlan,
  EngineSession,
  EngineStatus,
  GenerateOptions,
  RunOptions,
  SequenceInput,
  SessionState,
} from "../engine.js";
import { addMeasurements, type EngineProfile } from "../profile.js";
import type { EngineModel } from "../spiking-model.js";
import type { EnsembleOptions, EnsembleSession } from "./device.js";
import { EngineCapacityError } from "./errors.js";
import { askedAs, type Evaluated, type Evaluation, stepsOf } from "./evaluation.js";
import { openEnsemble } from "./one-by-one.js";
import { runShares, type Share, sharesOf } from "./shares.js";
import type { SummaryWork } from "./summaries.js";
import type { AccumulateOptions } from "./training.js";

/** One engine over engines of one kind, one a device. */
export function distributedEngine(name: string, engines: readonly Engine[]): Engine {
  const first = engines[0]!.device?.beside(engines.slice(1)) ?? engines[0]!;
  const names = engines.map((engine) => engine.name);
  const planned = (plan: EnginePlan): EnginePlan => ({
    ...plan,
    engine: name,
    summary: `${plan.summary}; on ${plan.details["plan"] === "sharded" ? names.join(", ") : names[0]}, sequences of a batch over ${names.length} devices`,
    details: { ...plan.details, devices: names.length },
  });
  return {
    name,
    supports: first.supports,
    cost: first.cost,
    device: first.device && {
      ...first.device,
      openEnsemble: (models, options) => openShares(name, engines, models, options),
      evaluate: (work) => evaluateShares(name, engines, work),
    },
    async probe(): Promise<EngineStatus> {
      const all = await Promise.all(engines.map((each) => each.probe()));
      const missing = all.findIndex(({ available }) => !available);
      if (missing >= 0) return { available: false, reason: `${names[missing]}: ${all[missing]!.reason}` };
      const device = all[0]!.device === undefined ? {} : { device: `${all.length} x ${all[0]!.device}` };
      return { available: true, reason: `${all.length} devices: ${all[0]!.reason}`, ...device };
    },
    plan(model, options) {
      const plan = first.plan(model, options);
      return model.kind === "registered" ? plan : planned(plan);
    },
    async open(model, options) {
      const session = await first.open(model, options);
      if (model.kind === "registered") return session;
      // A session over all devices runs no share: its kernels would wait for those of the others'.
      const sharded = session.plan.details["plan"] === "sharded";
      const apart = sharded ? { ...options, plan: undefined } : options;
      const openOn = engines.map((each, device) => async () => (device === 0 && !sharded ? session : each.open(model, apart)));
      return new DistributedSession(session, planned(session.plan), openOn, names);
    },
  };
}

const stepsOfAll = (sequences: readonly SequenceInput[]): number => sequences.reduce((sum, { inputs }) => sum + inputs.rows, 0);

/** A session for sequences, and one on each device once there are batches for them. */
class DistributedSession implements EngineSession {
  readonly plan: EnginePlan;
  readonly summarise?: NonNullable<EngineSession["summarise"]>;
  readonly accumulate?: NonNullable<EngineSession["accumulate"]>;
  readonly #first: EngineSession;
  readonly #open: readonly (() => Promise<EngineSession>)[];
  readonly #names: readonly string[];
  #sessions: readonly EngineSession[] | undefined;

  constructor(first: EngineSession, plan: EnginePlan, open: readonly (() => Promise<EngineSession>)[], names: readonly string[]) {
    this.plan = plan;
    this.#first = first;
    this.#open = open;
    this.#names = names;
    if (first.summarise) this.summarise = (sequences, work) => this.#summaries(sequences, work);
    if (first.accumulate) this.accumulate = (sequence: SequenceInput, options: AccumulateOptions) => first.accumulate!(sequence, options);
  }

  get model() {
    return this.#first.model;
  }

  get device() {
    return this.#first.device;
  }

  run(sequence: SequenceInput, options: RunOptions): Promise<void> {
    return this.#first.run(sequence, options);
  }

  step(...values: Parameters<EngineSession["step"]>): ReturnType<EngineSession["step"]> {
    return this.#first.step(...values);
  }

  /**
   * The shares of sequences, once there are sessions for them. One, if there is one sequence, if
   * data lies on the first device, or if W is too large for a device by itself.
   */
  async #shares(sequences: readonly SequenceInput[]): Promise<readonly Share[]> {
    const apart = sequences.every(({ inputs }) => inputs instanceof Matrix);
    const shares = sharesOf(
      sequences.map(({ inputs }) => inputs.rows),
      apart ? this.#open.length : 1,
    );
    if (shares.length < 2) return shares;
    try {
      await this.#session(1);
      return shares;
    } catch (error) {
      if (this.plan.details["plan"] === "sharded" && error instanceof EngineCapacityError) return [];
      throw error;
    }
  }

  async #session(device: number): Promise<EngineSession> {
    if (this.#sessions === undefined) {
      const opened: EngineSession[] = [];
      try {
        for (const open of this.#open) opened.push(await open());
      } catch (error) {
        await disposeQuietlyAsync(opened.filter((session) => session !== this.#first));
        throw error;
      }
      this.#sessions = opened;
    }
    return this.#sessions[device]!;
  }

  async batch(sequences: readonly SequenceInput[], options: BatchOptions): Promise<Matrix[]> {
    const { into } = options;
    const shares = into instanceof DeviceSequences ? [] : await this.#shares(sequences);
    if (shares.length < 2) return this.#first.batch(sequences, options);
    const results = await runShares(shares, this.#names, stepsOfAll(sequences), options, async ({ device, from, to }, work) =>
      (await this.#session(device)).batch(sequences.slice(from, to), {
        ...options,
        ...work,
        into: into instanceof DeviceSequences ? into : into?.slice(from, to),
        firstSequence: (options.firstSequence ?? 0) + from,
        devices: shares.length,
      }),
    );
    return results.flat();
  }

  async #summaries(sequences: readonly SequenceInput[], work: SummaryWork): Promise<Matrix<Float64Array>> {
    const shares = await this.#shares(sequences);
    if (shares.length < 2) return this.#first.summarise!(sequences, work);
    const parts = await runShares(shares, this.#names, stepsOfAll(sequences), work, async ({ device, from, to }, options) =>
      (await this.#session(device)).summarise!(sequences.slice(from, to), {
        ...work,
        ...options,
        given: work.given.subarray(from, to),
        firstSequence: (work.firstSequence ?? 0) + from,
        devices: shares.length,
      }),
    );
    return stackRows(parts);
  }

  generate(options: GenerateOptions): Promise<Matrix> {
    return this.#first.generate(options);
  }

  getState(): SessionState {
    return this.#first.getState();
  }

  setState(state: SessionState): void {
    this.#first.setState(state);
  }

  reset(): void {
    this.#first.reset();
  }

  profile(): EngineProfile | undefined {
    const all = this.#all.flatMap((session) => session.profile?.() ?? []);
    return all.length > 0 ? addMeasurements(all) : undefined;
  }

  async dispose(): Promise<void> {
    await disposeAllAsync(this.#all);
  }

  get #all(): readonly EngineSession[] {
    return [...new Set([this.#first, ...(this.#sessions ?? [])])];
  }
}

/** What a member of an ensemble costs in a step: its synapses, and a share of the step itself. */
const costOf = (model: EngineModel): number => 1000 + (model.kind === "spiking" ? model.size : model.size ** 2);

async function openShares(
  name: string,
  engines: readonly Engine[],
  models: readonly EngineModel[],
  options?: EngineOptions,
): Promise<EnsembleSession> {
  const shares = sharesOf(models.map(costOf), engines.length);
  const opened: EnsembleSession[] = [];
  try {
    for (const { device, from, to } of shares) opened.push(await openEnsemble(engines[device]!, models.slice(from, to), options));
  } catch (error) {
    await disposeQuietlyAsync(opened);
    throw error;
  }
  const plans = opened.map(({ plan }) => plan);
  return {
    plan: planOf(
      name,
      shares.map(({ from, to }) => to - from),
      plans,
    ),
    async run(sequences: SequenceInput | readonly SequenceInput[], runOptions: EnsembleOptions) {
      const of = (r: number): SequenceInput => ("inputs" in sequences ? sequences : sequences[r]!);
      const { training } = runOptions;
      const total = models.reduce((sum, _, r) => sum + of(r).inputs.rows, 0);
      const names = engines.map((engine) => engine.name);
      const results = await runShares(shares, names, total, runOptions, ({ device, from, to }, work) =>
        opened[device]!.run("inputs" in sequences ? sequences : sequences.slice(from, to), {
          ...runOptions,
          ...work,
          training: training && { ...training, sinks: training.sinks.slice(from, to) },
        }),
      );
      return results.flat();
    },
    profile() {
      const all = opened.flatMap((session) => session.profile?.() ?? []);
      return all.length > 0 ? addMeasurements(all) : undefined;
    },
    async dispose() {
      await disposeAllAsync(opened);
    },
  };
}

function planOf(engine: string, counts: readonly number[], plans: readonly EnginePlan[]): EnginePlan {
  return {
    engine,
    summary: `${counts.join(" + ")} members on ${plans.map((plan) => plan.engine).join(", ")}, the first: ${plans[0]!.summary}`,
    bytes: plans.reduce((sum, { bytes }) => sum + bytes, 0),
    details: { ...plans[0]!.details, devices: plans.length },
  };
}

/** Shares of an evaluation, begun on all devices; undefined if one of them would not have it. */
function evaluateShares(name: string, engines: readonly Engine[], work: Evaluation): Promise<Evaluated> | undefined {
  const costs = work.members.map(({ base }) => work.bases[base]!.model.size ** 2);
  const shares = sharesOf(costs, engines.length);
  const names = engines.map((engine) => engine.name);
  const refused = new AbortController();
  let declined = false;
  const signal = work.signal ? AbortSignal.any([work.signal, refused.signal]) : refused.signal;
  const running = runShares(shares, names, stepsOf(work.ask) * work.members.length, { ...work, signal }, (share, options) => {
    const ask = askedAs(work.ask, (member: number) => share.from + member);
    const begun = declined ? undefined : engines[share.device]!.device?.evaluate({ ...work, ...options, ...membersOf(work, share), ask });
    declined ||= begun === undefined;
    return begun ?? Promise.reject(new SpillwayError("unavailable", `${engines[share.device]!.name} takes these members one by one`));
  });
  if (!declined) return running.then((results) => evaluatedOf(name, shares, results));
  running.catch(() => undefined);
  refused.abort();
  return undefined;
}

/** The members of a share, with the bases that they are of. */
function membersOf(work: Evaluation, { from, to }: Share): Pick<Evaluation, "bases" | "members"> {
  const members = work.members.slice(from, to);
  const indices = new Map<number, number>();
  for (const { base } of members) if (!indices.has(base)) indices.set(base, indices.size);
  return {
    bases: Array.from(indices.keys(), (base) => work.bases[base]!),
    members: members.map((member) => ({ ...member, base: indices.get(member.base)! })),
  };
}

function evaluatedOf(name: string, shares: readonly Share[], results: readonly Evaluated[]): Evaluated {
  const profiles = results.flatMap(({ profile }) => profile ?? []);
  const counts = shares.map(({ from, to }) => to - from);
  return {
    plan: planOf(
      name,
      counts,
      results.map(({ plan }) => plan),
    ),
    profile: profiles.length > 0 ? addMeasurements(profiles) : undefined,
  };
}
