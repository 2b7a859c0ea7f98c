// An engine of several devices: members of ensembles and sweeps and sequences of batches are
// distributed over them, and results come in order, with the bits of one device. A single
// reservoir's sequence runs on the first device, or on all of them if that is modelled to be
// faster.
import { disposeAllAsync, eachOrNone } from "@spillway/core/disposal.js";
import { SpillwayError } from "@spillway/core/errors.js";
import { Matrix, stackRows } from "@spillway/numerics";
import { DeviceSequences } from "../device-matrix.js";
import type { Engine, EngineOptions, EnginePlan, EngineSession, EngineStatus, SequenceInput } from "../engine.js";
import { profileOf } from "../profile.js";
import type { EngineModel } from "../spiking-model.js";
import type { EnsembleOptions, EnsembleSession } from "./device.js";
import { EngineCapacityError } from "./errors.js";
import { askedAs, type Evaluated, type Evaluation, stepsOf } from "./evaluation.js";
import { openEnsemble } from "./one-by-one.js";
import { runShares, type Share, sharesOf } from "./shares.js";

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
      return distributedSession(session, planned(session.plan), openOn, names);
    },
  };
}

const stepsOfAll = (sequences: readonly SequenceInput[]): number => sequences.reduce((sum, { inputs }) => sum + inputs.rows, 0);

/** A session for sequences, and one on each device once there are batches for them. */
function distributedSession(
  first: EngineSession,
  plan: EnginePlan,
  openOn: readonly (() => Promise<EngineSession>)[],
  names: readonly string[],
): EngineSession {
  let sessions: readonly EngineSession[] | undefined;
  const all = () => [...new Set([first, ...(sessions ?? [])])];
  const sessionOf = async (device: number): Promise<EngineSession> => {
    const ownedBy = (session: EngineSession) => (session === first ? [] : [session]);
    sessions ??= await eachOrNone(openOn, (open) => open(), ownedBy);
    return sessions[device]!;
  };
  /**
   * The shares of sequences, once there are sessions for them. One, if there is one sequence, if
   * data lies on the first device, or if W is too large for a device by itself.
   */
  const sharesOfAll = async (sequences: readonly SequenceInput[]): Promise<readonly Share[]> => {
    const apart = sequences.every(({ inputs }) => inputs instanceof Matrix);
    const shares = sharesOf(
      sequences.map(({ inputs }) => inputs.rows),
      apart ? openOn.length : 1,
    );
    if (shares.length < 2) return shares;
    try {
      await sessionOf(1);
      return shares;
    } catch (error) {
      if (plan.details["plan"] === "sharded" && error instanceof EngineCapacityError) return [];
      throw error;
    }
  };
  const { accumulate, summarise } = first;
  return {
    plan,
    model: first.model,
    device: first.device,
    run: (...given) => first.run(...given),
    step: (...given) => first.step(...given),
    generate: (options) => first.generate(options),
    getState: () => first.getState(),
    setState: (state) => first.setState(state),
    reset: () => first.reset(),
    ...(accumulate && { accumulate: accumulate.bind(first) }),
    async batch(sequences, options) {
      const { into } = options;
      const shares = into instanceof DeviceSequences ? [] : await sharesOfAll(sequences);
      if (shares.length < 2) return first.batch(sequences, options);
      const results = await runShares(shares, names, stepsOfAll(sequences), options, async ({ device, from, to }, work) =>
        (await sessionOf(device)).batch(sequences.slice(from, to), {
          ...options,
          ...work,
          into: into instanceof DeviceSequences ? into : into?.slice(from, to),
          firstSequence: (options.firstSequence ?? 0) + from,
          devices: shares.length,
        }),
      );
      return results.flat();
    },
    ...(summarise && {
      async summarise(sequences, work) {
        const shares = await sharesOfAll(sequences);
        if (shares.length < 2) return summarise.call(first, sequences, work);
        const parts = await runShares(shares, names, stepsOfAll(sequences), work, async ({ device, from, to }, options) =>
          (await sessionOf(device)).summarise!(sequences.slice(from, to), {
            ...work,
            ...options,
            given: work.given.subarray(from, to),
            firstSequence: (work.firstSequence ?? 0) + from,
            devices: shares.length,
          }),
        );
        return stackRows(parts);
      },
    }),
    profile: () => profileOf(all()),
    dispose: () => disposeAllAsync(all()),
  };
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
  const opened = await eachOrNone(
    shares,
    ({ device, from, to }) => openEnsemble(engines[device]!, models.slice(from, to), options),
    (session) => [session],
  );
  return {
    plan: planOf(name, shares, opened),
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
    profile: () => profileOf(opened),
    dispose: () => disposeAllAsync(opened),
  };
}

function planOf(engine: string, shares: readonly Share[], of: readonly { readonly plan: EnginePlan }[]): EnginePlan {
  const plans = of.map(({ plan }) => plan);
  const counts = shares.map(({ from, to }) => to - from);
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
  if (!declined)
    return running.then((results) => ({
      plan: planOf(name, shares, results),
      profile: profileOf(results.map(({ profile }) => ({ profile: () => profile }))),
    }));
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
