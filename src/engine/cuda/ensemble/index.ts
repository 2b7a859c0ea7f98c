// Ensembles on a device: all members in a few launches if that is faster than one after the other.
// Their weights stay there between runs, if they fit.
import { disposeQuietlyAsync, Making } from "@spillway/core/disposal.js";
import { DisposedError } from "@spillway/core/errors.js";
import type { Context, Stream } from "@spillway/gpu";
import type { Matrix } from "@spillway/numerics";
import {
  type EngineOptions,
  type EnginePlan,
  type EnsembleOptions,
  type EnsembleSession,
  formatBytes,
  type SequenceInput,
} from "../../../reservoir/engine.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { EngineProfile } from "../../../reservoir/profile.js";
import { freeMemory } from "../memory.js";
import { DeviceClock } from "../profile.js";
import { fastDetail } from "./kernel-choice.js";
import { type MemberPlan, planMembers } from "./member-plan.js";
import { openStreams, runMembers } from "./run.js";
import { DeviceWeights, weightBytes } from "./weights.js";

/**
 * `DeviceAbilities.openEnsemble`, or undefined if the members run better one after the other, or a
 * plan for one reservoir was asked for.
 */
export async function openTogether(
  context: Context,
  engine: string,
  models: readonly ReservoirModel[],
  options?: EngineOptions,
): Promise<EnsembleSession | undefined> {
  if ((options?.plan ?? "auto") !== "auto") return undefined;
  const members = models.map((model) => ({ model }));
  const plan = planMembers(context, members);
  if (!plan || !worthwhile(context, members, plan)) return undefined;
  const opened = new DeviceEnsemble(context, engine, models, plan, options);
  try {
    await opened.sent();
    return opened;
  } catch (error) {
    await disposeQuietlyAsync([opened]);
    throw error;
  }
}

/**
 * Bytes a second that one multiprocessor gets from the second cache, and microseconds of a step of
 * a reservoir that has the device to itself.
 */
export const bytesPerSecond = 100e9;
export const microsecondsAlone = 1.5;

/**
 * Whether a step of all members, whose weights may have to be read again, takes less time than
 * their steps one by one.
 */
export function worthwhile(context: Context, members: readonly { readonly model: ReservoirModel }[], plan: MemberPlan): boolean {
  const { multiprocessors } = context.info.attributes;
  return plan.groups.every(({ kernel, indices }) => {
    if (kernel.resident) return true;
    const { model } = members[indices[0]!]!;
    const element = model.precision === "float32" ? 4 : 8;
    const pattern = plan.patterns.get(model);
    const entryBytes = kernel.integers ? (pattern ? 4 : 2) : pattern ? element + 2 : element;
    const bytes = entryBytes * (pattern ? pattern.entries : model.size ** 2);
    const together = (Math.ceil(indices.length / multiprocessors) * bytes) / bytesPerSecond;
    return together < indices.length * microsecondsAlone * 1e-6;
  });
}

/** An ensemble that is loaded. */
export class DeviceEnsemble implements EnsembleSession {
  readonly plan: EnginePlan;
  readonly #context: Context;
  readonly #models: readonly ReservoirModel[];
  readonly #members: MemberPlan;
  readonly #clock: DeviceClock | undefined;
  readonly #compute: Stream;
  readonly #copies: Stream;
  /** Of each group; undefined if its weights come in each run. */
  readonly #weights: (DeviceWeights | undefined)[] = [];
  readonly #owned = new Making();
  readonly #ending = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  constructor(context: Context, engine: string, models: readonly ReservoirModel[], members: MemberPlan, options: EngineOptions = {}) {
    this.#context = context;
    this.#models = models;
    this.#members = members;
    using owned = this.#owned;
    const { own } = owned;
    const clock = options.profile ? own(new DeviceClock(context)) : undefined;
    this.#clock = clock;
    // Inputs, states and Gram matrices of a run take the other half.
    let left = freeMemory(context) / 2;
    let bytes = 0;
    [this.#compute, this.#copies] = openStreams(context, clock);
    own(this.#copies);
    own(this.#compute);
    clock?.on(this.#compute, "upload");
    const transfer = { compute: this.#compute, sender: this.#copies, clock };
    for (const { kernel, indices } of members.groups) {
      const ours = indices.map((r) => models[r]!);
      const needed = weightBytes(ours, members.patterns);
      const fits = needed <= left;
      this.#weights.push(fits ? own(new DeviceWeights(context, transfer, kernel, ours, members.patterns)) : undefined);
      if (!fits) continue;
      left -= needed;
      bytes += needed;
    }
    clock?.off(this.#compute);
    owned.done();
    const names = members.groups.map(({ kernel }) => kernel.name);
    const kept = this.#weights.filter((weights) => weights !== undefined).length;
    const where = kept === names.length ? "kept on the device" : kept > 0 ? "in part kept on the device" : "uploaded in each run";
    this.plan = {
      engine,
      summary: `${context.info.name}, ${models.length} reservoirs, a block each, by ${names.join(" and ")}, weights ${where}, ${formatBytes(bytes)}`,
      bytes,
      details: {
        ...{ plan: "ensemble", reservoirs: models.length, kernels: names.join(" "), groups: names.length, weights: where },
        ...fastDetail(members.groups.map(({ kernel }) => kernel)),
      },
    };
  }

  async run(sequences: SequenceInput | readonly SequenceInput[], options: EnsembleOptions): Promise<Matrix[]> {
    this.#alive();
    const members = this.#models.map((model, r) => {
      const sequence = "inputs" in sequences ? sequences : sequences[r]!;
      return { model, sequence, number: 0 };
    });
    const ending = this.#ending.signal;
    const signal = options.signal ? AbortSignal.any([ending, options.signal]) : ending;
    const kept = { compute: this.#compute, copies: this.#copies, weights: this.#weights };
    const work = runMembers(this.#context, members, this.#members, { ...options, signal, clock: this.#clock }, kept);
    this.#work = work;
    try {
      return await work;
    } finally {
      this.#alive();
    }
  }

  /** Resolves when the weights that stay on the device are there. */
  async sent(): Promise<void> {
    for (const weights of this.#weights) await weights?.sent();
  }

  profile(): EngineProfile | undefined {
    return this.#clock?.read();
  }

  async dispose(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    await this.#work.catch(() => undefined);
    this.#owned.dispose();
  }

  #alive(): void {
    if (this.#ending.signal.aborted) throw new DisposedError("this ensemble");
  }
}
