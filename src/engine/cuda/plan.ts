// Which way of running the time loop a model gets: of the plans that fit its shape and the device,
// the one that its model of cost says is fastest.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, DeviceInfo } from "@spillway/gpu";
import { EngineCapacityError, type EngineOptions, type EnginePlan, EngineUnavailableError, formatBytes } from "../../reservoir/engine.js";
import { isQuantized } from "../../reservoir/weight-rounding.js";
import { type MemoryPlan, planMemory, tooLarge } from "./memory.js";
import { persistentLoops } from "./persistent/index.js";
import type { ModelShape } from "./shape.js";
import { shardedLoops, whyNotSharded } from "./sharded/index.js";
import { streamedLoops } from "./streamed/index.js";
import type { TimeLoopFamily, TimeLoopPlan } from "./time-loop.js";

/** Every family of loops there is. */
const families: readonly TimeLoopFamily[] = [persistentLoops, streamedLoops, shardedLoops];

/** What the option `plan` takes. */
const planNames: readonly string[] = ["auto", ...families.flatMap(({ names }) => names)];

/** A plan and the memory of a session by it. */
export interface Choice {
  readonly loop: TimeLoopPlan;
  readonly memory: MemoryPlan;
}

/**
 * A W of steps that only the device has is drawn on the host for a plan that packs it there, which
 * takes seconds: such a plan is chosen for steps that are this much faster.
 */
const worthDrawing = 1.5;
const packedOnHost = persistentLoops.names;

/** Where a choice is made. */
export interface PlanTarget {
  /** The engine's name. */
  readonly engine: string;
  readonly device: DeviceInfo;
  /** Bytes of device memory that may be used. */
  readonly memory: number;
  /** The most steps of a chunk, if the device is slow. */
  readonly stepsPerChunk?: number | undefined;
  /** Asked if NVRTC would be used: why it cannot be, or undefined. */
  readonly whyNoCompiler?: () => string | undefined;
  /** As `TimeLoopOptions.peers`. */
  readonly peers?: readonly Context[] | undefined;
  /** Bytes that may be used of a device among the peers; left out, `memory` of each. */
  readonly memoryOf?: ((peer: Context) => number) | undefined;
}

/** What the option `kernelSource` takes. */
const kernelSources: readonly string[] = ["auto", "shipped", "nvrtc"];

/** A kind of reservoir with one way to run takes no plan's name. @throws ArgumentError */
export function checkOneWay(kind: string, { plan = "auto", kernelSource = "auto" }: EngineOptions = {}): void {
  const refuse = (field: string, value: string, takes: string) => {
    throw ArgumentError.because(
      `${field} is ${JSON.stringify(value)}; a reservoir of the kind "${kind}" has one way to run on a device: leave ${field} out, or take ${takes}`,
      { field, value, expected: takes },
    );
  };
  if (plan !== "auto") refuse("plan", plan, '"auto"');
  if (kernelSource !== "auto" && kernelSource !== "shipped") refuse("kernelSource", kernelSource, '"auto" or "shipped"');
}

/**
 * The plans that a model may run by, the fastest first.
 *
 * @throws ArgumentError for a plan of no such name; EngineUnavailableError if the plan asked for
 * does not take this model or device; EngineCapacityError if none fits the memory
 */
export function choices(shape: ModelShape, target: PlanTarget, options: EngineOptions = {}): readonly Choice[] {
  const wanted = options.plan ?? "auto";
  if (!planNames.includes(wanted)) throw new ArgumentError("plan", wanted, planNames.map((name) => JSON.stringify(name)).join(", "));
  const source = options.kernelSource ?? "auto";
  if (!kernelSources.includes(source)) {
    const names = kernelSources.map((name) => JSON.stringify(name)).join(", ");
    throw new ArgumentError("kernelSource", source, names);
  }
  const { spinLimit } = options;
  const { whyNoCompiler, peers } = target;
  const all = families
    .filter(({ names, integers }) => (wanted === "auto" || names.includes(wanted)) && (integers || !shape.integers))
    .flatMap((family) => family.plans(shape, target.device, { spinLimit, kernelSource: source, whyNoCompiler, peers }))
    .filter(
      ({ name, kernelSource = "shipped" }) => (wanted === "auto" || name === wanted) && (source === "auto" || kernelSource === source),
    )
    .sort((a, b) => costOf(a, shape) - costOf(b, shape));
  if (all.length === 0) throw new EngineUnavailableError(target.engine, whyNone(shape, target, wanted, source));
  // Fast arithmetic is allowed, not promised; who names a plan or a source beside it means that
  // one.
  const named = wanted !== "auto" || source !== "auto";
  const plans = shape.arithmetic === "fast" && named ? all.filter(({ arithmetic }) => arithmetic === "fast") : all;
  if (plans.length === 0) {
    const which = [...(wanted === "auto" ? [] : [`the plan "${wanted}"`]), ...(source === "auto" ? [] : [`kernelSource "${source}"`])];
    const reason = `${which.join(" with ")} has portable arithmetic alone for ${shape.size} neurons (${shape.storage}, ${shape.precision}), and arithmetic is "fast"; take arithmetic "portable", or "auto" for what is named`;
    throw new EngineUnavailableError(target.engine, reason);
  }
  let refusal: EngineCapacityError | undefined;
  const fitting = plans.flatMap((loop) => {
    try {
      checkPeers(shape, loop, target);
      const { repeated, bytes } = onFirst(loop, target);
      return [{ loop, memory: planMemory(shape, loop, target.memory - repeated * bytes, target.device.name, target.stepsPerChunk) }];
    } catch (error) {
      if (!(error instanceof EngineCapacityError)) throw error;
      if (!refusal || error.needed < refusal.needed) refusal = error;
      return [];
    }
  });
  if (fitting.length === 0) throw refusal!;
  return fitting;
}

/** The seats that the first device has beside its own, and the bytes of each. */
const onFirst = ({ peerBytes = 0 }: TimeLoopPlan, { peers = [] }: PlanTarget) => ({
  repeated: peers.slice(1).filter((peer) => peer === peers[0]).length,
  bytes: peerBytes,
});

/** @throws EngineCapacityError if a slice does not fit a device that is not the first */
function checkPeers(shape: ModelShape, { peerBytes }: TimeLoopPlan, { peers = [], memory, memoryOf = () => memory }: PlanTarget): void {
  if (peerBytes === undefined) return;
  for (const peer of new Set(peers)) {
    if (peer === peers[0]) continue;
    const needed = peers.filter((each) => each === peer).length * peerBytes;
    const limit = memoryOf(peer);
    if (needed > limit) throw tooLarge(shape, `device ${peer.info.ordinal}, its part on ${peer.info.name}`, needed, limit);
  }
}

function costOf({ name, microsecondsPerStep }: TimeLoopPlan, { drawn, weightPrecision }: ModelShape): number {
  return microsecondsPerStep * (drawn === true && isQuantized(weightPrecision) && packedOnHost.includes(name) ? worthDrawing : 1);
}

function whyNone(shape: ModelShape, { device, whyNoCompiler, peers = [] }: PlanTarget, plan: string, source: string): string {
  if (shardedLoops.names.includes(plan)) {
    const reason = whyNotSharded(peers) ?? whyNoCompiler?.();
    if (reason !== undefined) return `the plan "${plan}" is not to be had: ${reason}`;
  }
  const reservoir = `${shape.size} neurons (${shape.storage}, ${numbersOf(shape)}) on ${device.name}`;
  const missing = source === "nvrtc" ? whyNoCompiler?.() : undefined;
  if (missing !== undefined) return `kernelSource is "nvrtc", and ${missing}; take "auto"`;
  if (source === "auto") return `the plan "${plan}" does not take ${reservoir}; take "auto"`;
  return `the plan "${plan}" has no kernels from ${JSON.stringify(source)} for ${reservoir}; take kernelSource "auto"`;
}

/** The choice in words and numbers, for people and result files. */
export function describeChoice(
  { loop, memory }: Choice,
  shape: ModelShape,
  target: PlanTarget,
  others: readonly Choice[],
  details: EnginePlan["details"] = loop.details,
): EnginePlan {
  const { name, microsecondsPerStep } = loop;
  const alternatives = others
    .filter((other) => other.loop !== loop)
    .map((other) => `${other.loop.name} ${microseconds(other.loop.microsecondsPerStep)}`);
  return {
    engine: target.engine,
    summary: `${target.device.name}, plan "${name}", ${shape.storage}, ${numbersOf(shape)}, about ${microseconds(microsecondsPerStep)} a step, ${formatBytes(memory.totalBytes)}`,
    bytes: memory.totalBytes,
    details: {
      device: target.device.name,
      ...notSharded(target, others),
      plan: name,
      precision: shape.precision,
      storage: shape.storage,
      ...details,
      modelledMicrosecondsPerStep: Number(microsecondsPerStep.toPrecision(3)),
      stepsPerChunk: memory.capacity,
      bytesBesideChunks: memory.fixedBytes,
      ...(alternatives.length > 0 ? { alternatives: alternatives.join(", ") } : {}),
    },
  };
}

const numbersOf = ({ integers, precision }: ModelShape): string => (integers ? "integers" : precision);

/** Why several devices do not share the reservoir, if they cannot. */
function notSharded({ peers = [], whyNoCompiler }: PlanTarget, all: readonly Choice[]): EnginePlan["details"] {
  if (peers.length === 0 || all.some(({ loop }) => shardedLoops.names.includes(loop.name))) return {};
  return { notSharded: whyNotSharded(peers) ?? whyNoCompiler?.() ?? "the plan takes no reservoir of this size and kind" };
}

function microseconds(value: number): string {
  return value < 1000 ? `${value.toPrecision(value < 100 ? 2 : 3)} us` : `${(value / 1000).toPrecision(3)} ms`;
}
