// Reservoirs of registered kinds on a device: the kind's own kernel, a chunk of steps in a launch.
// Steps that it does not take, and those up to a state that is not finite, are the host's.
import { Making } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, DeviceBuffer, Parameter, Stream } from "@spillway/gpu";
import { type FloatArray, firstNonFinite } from "@spillway/numerics";
import {
  EngineCapacityError,
  type EngineOptions,
  type EnginePlan,
  type EngineSession,
  EngineUnavailableError,
  formatBytes,
} from "../../reservoir/engine.js";
import type { KindArgument, KindKernel } from "../../reservoir/registered/kernel.js";
import { reservoirKinds } from "../../reservoir/registered/kind.js";
import type { RegisteredModel } from "../../reservoir/registered/model.js";
import { stepperSession } from "../host-steps.js";
import { clockFor } from "../phase-clock.js";
import { openRunner, planOf as planOfRunner, RegisteredStepper } from "../registered.js";
import { type AnyArgument, type AnyKernel, allocAny, loadEntries, realType } from "./kernels.js";
import { freeMemory } from "./memory.js";
import { spinLimitOf } from "./spin-limit.js";
import { type RealSlice, StallError } from "./time-loop.js";

/** States of a chunk take at most so many bytes, and a chunk so many steps. */
const chunkBytes = 16 * 2 ** 20;
const mostSteps = 256;

/** Shared memory that a kernel may have besides. */
const staticShared = 64;

/** Which engine asks, and how many steps a simulated device takes at a time. */
export interface KindTarget {
  readonly engine: string;
  readonly stepsPerChunk?: number | undefined;
}

/** The kind's kernel for a model. @throws ArgumentError if it has none */
function kernelOf(model: RegisteredModel, engine: string): KindKernel {
  const { kind } = model.config;
  const kernel = reservoirKinds.get(kind, "kind").kernel?.(model);
  if (kernel) return kernel;
  throw new ArgumentError(
    "kind",
    kind,
    `nothing on the engine "${engine}", which the kind has no kernel for; "cpu" and "reference" run it`,
  );
}

const isNumber = (argument: KindArgument): argument is Extract<KindArgument, readonly [string, number]> => Array.isArray(argument);

const typeOf = (array: Exclude<KindArgument, readonly [string, number]>): "f32" | "f64" | "u32" | "u64" =>
  array instanceof Float32Array ? "f32" : array instanceof Float64Array ? "f64" : array instanceof Uint32Array ? "u32" : "u64";

/**
 * How a device would run a model of a registered kind. @throws ArgumentError, EngineCapacityError
 */
export function planKind(context: Context, model: RegisteredModel, target: KindTarget): EnginePlan {
  if (reservoirKinds.get(model.config.kind, "kind").runner) return planOfRunner(target.engine, model);
  return planOf(context, model, target, kernelOf(model, target.engine));
}

function planOf(context: Context, model: RegisteredModel, { engine, stepsPerChunk }: KindTarget, kernel: KindKernel): EnginePlan {
  const { config, precision, size, below, inputSize } = model;
  const element = precision === "float32" ? 4 : 8;
  const steps = Math.max(1, Math.min(stepsPerChunk ?? mostSteps, Math.floor(chunkBytes / (element * size))));
  const own = kernel.arguments.reduce((sum, argument) => sum + (isNumber(argument) ? 0 : argument.byteLength), 0);
  const bytes = own + element * (size + below + steps * (inputSize + size));
  const limit = freeMemory(context);
  if (bytes > limit) {
    const what = `a reservoir of the kind "${config.kind}" with ${size.toLocaleString("en")} states on ${context.info.name}`;
    throw new EngineCapacityError(what, bytes, limit, 'take fewer units, or the engine "cpu"');
  }
  const blocks = kernel.blocks(context.info.attributes.multiprocessors);
  return {
    engine,
    summary: `the kind "${config.kind}" by its own kernel, ${blocks === 1 ? "one block" : `${blocks} blocks`}${kernel.why ? `: ${kernel.why}` : ""}, ${formatBytes(bytes)}`,
    bytes,
    details: {
      kind: config.kind,
      precision,
      states: size,
      ...(below > 0 && { hidden: below }),
      kernel: kernel.entry,
      blocks,
      ...(kernel.why !== undefined && { why: kernel.why }),
      stepsPerChunk: steps,
    },
  };
}

/** Opens a model of a registered kind. @throws as `planKind`; EngineUnavailableError */
export async function openKind(
  context: Context,
  model: RegisteredModel,
  target: KindTarget,
  options: EngineOptions = {},
): Promise<EngineSession> {
  const session = await openRunner(target.engine, model, options, context);
  if (session) return session;
  const kernel = kernelOf(model, target.engine);
  const plan = planOf(context, model, target, kernel);
  if (context.info.attributes.cooperativeLaunch === 0)
    throw new EngineUnavailableError(target.engine, `${context.info.name} has no cooperative launches, which registered kinds take`);
  return stepperSession(model, plan, new KernelStepper(context, model, kernel, plan, spinLimitOf(options.spinLimit)), clockFor(options));
}

class KernelStepper extends RegisteredStepper {
  readonly #context: Context;
  readonly #kernel: AnyKernel;
  readonly #takes: NonNullable<KindKernel["takes"]>;
  readonly #launch: { readonly grid: number; readonly block: number; readonly shared: number; readonly cooperative: true };
  readonly #stream: Stream;
  readonly #x: RealSlice;
  readonly #inputsThere: RealSlice;
  readonly #statesThere: RealSlice;
  readonly #arguments: readonly AnyArgument[];
  readonly #spinLimit: number;
  readonly #entry: string;
  /** What blocks report to, and what it holds at first. */
  readonly #report: { readonly there: DeviceBuffer<"u64">; readonly start: BigUint64Array<ArrayBuffer> } | undefined;
  readonly #owned = new Making();
  #work: Promise<unknown> = Promise.resolve();

  constructor(context: Context, model: RegisteredModel, kernel: KindKernel, { details }: EnginePlan, spinLimit: number) {
    const { size, below, inputSize, precision } = model;
    const capacity = details["stepsPerChunk"] as number;
    super(model, capacity);
    this.#context = context;
    this.#spinLimit = spinLimit;
    this.#entry = kernel.entry;
    this.#takes = kernel.takes?.bind(kernel) ?? (() => true);
    const blocks = details["blocks"] as number;
    const shared = kernel.shared?.(context.info.attributes.sharedBytesPerBlockOptIn - staticShared, blocks) ?? 0;
    this.#launch = { grid: blocks, block: kernel.threads, shared, cooperative: true };
    using owned = this.#owned;
    const { own } = owned;
    const real = realType(precision);
    const { source, entry } = kernel;
    const module = "ptx" in source ? own(context.load(source.ptx, { label: entry })) : loadEntries(context, source.shipped, [entry]);
    const types = kernel.arguments.map((argument) => (isNumber(argument) ? argument[0] : `${typeOf(argument)}*`));
    const common = [`${real}*`, `const ${real}*`, `${real}*`, "u32", "u32", "u32", "i64"];
    this.#kernel = module.kernel(entry, [...common, ...types] as Parameter[]);
    this.#stream = own(context.stream({ label: `steps of the kind ${model.config.kind}` }));
    this.#x = own(allocAny(context, real, size + below, "state"));
    this.#inputsThere = own(allocAny(context, real, Math.max(1, capacity * inputSize), "inputs"));
    this.#statesThere = own(allocAny(context, real, capacity * size, "states"));
    this.#arguments = kernel.arguments.map((argument) =>
      isNumber(argument) ? argument[1] : own(context.upload(argument, { label: `of ${entry}` })),
    );
    const { report } = kernel;
    this.#report = report && {
      there: this.#arguments[kernel.arguments.indexOf(report)] as DeviceBuffer<"u64">,
      start: report.slice(),
    };
    owned.done();
  }

  get lost(): boolean {
    return this.#context.loss !== undefined;
  }

  override advance(steps: number, step: number, sequence: number): number {
    const there = this.#enqueue(steps, step, sequence);
    if (!there) return super.advance(steps, step, sequence);
    this.#stream.sync();
    const [states, x] = [this.#context.read(there.states), this.#context.read(this.#x)];
    const kept = this.#take(states, x, this.#report && this.#context.read(this.#report.there));
    return kept ? steps : super.advance(steps, step, sequence);
  }

  advanceLater(steps: number, step: number, sequence: number): Promise<number> {
    const work = this.#advanceLater(steps, step, sequence);
    this.#work = work.catch(() => undefined);
    return work;
  }

  override async dispose(): Promise<void> {
    await this.#work;
    this.#owned.dispose();
  }

  async #advanceLater(steps: number, step: number, sequence: number): Promise<number> {
    const there = this.#enqueue(steps, step, sequence);
    if (!there) return super.advance(steps, step, sequence);
    const [states, x, report] = await Promise.all([
      this.#stream.download(there.states),
      this.#stream.download(this.#x),
      this.#report && this.#stream.download(this.#report.there),
    ]);
    return this.#take(states, x, report) ? steps : super.advance(steps, step, sequence);
  }

  /** Gives a chunk to the stream; undefined if the kernel does not take its inputs. */
  #enqueue(steps: number, step: number, sequence: number) {
    const inputs = this.inputs.subarray(0, steps * this.model.inputSize);
    if (!this.#takes(inputs)) return undefined;
    const states = this.#statesThere.slice(0, steps * this.model.size);
    this.#stream.upload(this.#x, this.x);
    if (inputs.length > 0) this.#stream.upload(this.#inputsThere.slice(0, inputs.length), inputs);
    if (this.#report) this.#stream.upload(this.#report.there, this.#report.start);
    const common = [this.#x, this.#inputsThere, states, steps, step >>> 0, sequence >>> 0, this.#spinLimit];
    this.#stream.launch(this.#kernel, this.#launch, ...common, ...this.#arguments);
    return { states };
  }

  /** Takes what a chunk left, if all of it is finite. @throws StallError */
  #take(states: FloatArray, x: FloatArray, report?: BigUint64Array): boolean {
    const stalled = report?.[0];
    if (stalled) {
      const [block, step] = [Number(stalled >> 32n) - 1, Number(stalled & 0xffffffffn)];
      throw new StallError(this.#entry, block, step, this.#spinLimit, { instead: 'take the engine "cpu"' });
    }
    if (firstNonFinite(states) >= 0 || firstNonFinite(x) >= 0) return false;
    this.states.set(states);
    this.x.set(x);
    return true;
  }
}
