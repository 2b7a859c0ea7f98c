// The plan "sharded": rows of W in slices over several devices, each with a persistent kernel, or a
// launch for each step if W does not fit in those. It is offered if an engine has several devices,
// all of them alike and within each other's reach.
import type { Context, DeviceInfo } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { deviceName } from "../device.js";
import { callMicroseconds } from "../host-calls.js";
import { compiledDenseFits, compiledSparseFits } from "../persistent/compiled-shapes.js";
import { canPack, longestOf } from "../persistent/device-weights.js";
import { type AnyFit, isDense } from "../persistent/fit-kernels.js";
import { likelyLongest } from "../persistent/index.js";
import { unitEntries } from "../persistent/shapes.js";
import { elementBytes, type ModelShape } from "../shape.js";
import { launchMicroseconds, layOut, streamingRate } from "../streamed/index.js";
import { StreamedLoop } from "../streamed/loop.js";
import { chunkBytes } from "../streamed/step-state.js";
import { fastDetail } from "../streamed/weights.js";
import type { TimeLoop, TimeLoopFamily, TimeLoopOptions, TimeLoopPlan } from "../time-loop.js";
import { shardedDetails, shardedEntry, shardedKernel } from "./kernel.js";
import { ShardedLoop } from "./loop.js";
import type { Seat } from "./slice.js";
import { SpreadWeights, spreadRows } from "./spread.js";

/** The most devices that a kernel knows: mostDevices of kernels/across.cuh. */
const mostDevices = 8;

/**
 * Microseconds that a step by launches takes beside reading W: two waits of one device for another
 * and each state's way to all of them, and no less than the host takes for its calls. Measured on
 * four H200 (bench/results/gpu-sharded-2026-11-27.md).
 */
const handover = { wait: 5, state: 5e-4 };

/** Fits that are offered: the first may turn out not to be possible. */
const offered = 3;

/** A device that has several seats is shared out among them. */
function share(info: DeviceInfo, seats: number): DeviceInfo {
  const { multiprocessors } = info.attributes;
  return { ...info, attributes: { ...info.attributes, multiprocessors: Math.floor(multiprocessors / seats) } };
}

const alike = (a: DeviceInfo, b: DeviceInfo): boolean =>
  a.computeCapability.join() === b.computeCapability.join() &&
  a.attributes.multiprocessors === b.attributes.multiprocessors &&
  a.attributes.sharedBytesPerBlockOptIn === b.attributes.sharedBytesPerBlockOptIn;

/** Why devices share no reservoir, or undefined if they can. */
export function whyNotSharded(contexts: readonly Context[]): string | undefined {
  const deviceOf = ({ info }: Context) => `device ${info.ordinal}`;
  const [first] = contexts;
  if (!first || contexts.length < 2) return 'it takes several devices, such as engine "cuda:0-3" or "cuda:all"';
  if (contexts.length > mostDevices) return `it takes up to ${mostDevices} devices; there are ${contexts.length}`;
  const other = contexts.find(({ info }) => !alike(first.info, info));
  if (other) return `it takes devices that are alike; ${deviceOf(first)} is a ${first.info.name}, ${deviceOf(other)} a ${other.info.name}`;
  for (const a of contexts)
    for (const b of contexts) if (a !== b && !a.canAccess(b)) return `${deviceOf(a)} cannot reach the memory of ${deviceOf(b)}`;
  return undefined;
}

function fits(shape: ModelShape, longest: number, contexts: readonly Context[]): AnyFit[] {
  const devices = contexts.length;
  const seats = Math.max(...contexts.map((context) => contexts.filter((each) => each === context).length));
  const info = share(contexts[0]!.info, seats);
  return shape.storage === "sparse" ? compiledSparseFits(shape, longest, info, devices) : compiledDenseFits(shape, info, devices);
}

function plans(shape: ModelShape, device: DeviceInfo, options: TimeLoopOptions): readonly TimeLoopPlan[] {
  const { peers: contexts = [], kernelSource = "auto", whyNoCompiler } = options;
  if (contexts.length === 0 || whyNotSharded(contexts) !== undefined || contexts[0]!.info.ordinal !== device.ordinal) return [];
  const spread = kernelSource === "auto" || kernelSource === "shipped" ? spreadPlan(shape, contexts) : undefined;
  const byLaunches = spread ? [spread] : [];
  if ((kernelSource !== "auto" && kernelSource !== "nvrtc") || !canPack(shape)) return byLaunches;
  const found = fits(shape, likelyLongest(shape), contexts).slice(0, offered);
  if (found.length === 0 || whyNoCompiler?.() !== undefined) return byLaunches;
  return [...found.map((fit) => shardedPlan(fit, shape, contexts)), ...byLaunches];
}

/** The plan that launches each step on all devices; undefined if W has no slices. */
export function spreadPlan(shape: ModelShape, contexts: readonly Context[]): TimeLoopPlan | undefined {
  const [{ info }] = contexts as readonly [Context];
  const layout = layOut(shape, info);
  const devices = contexts.length;
  const rows = spreadRows(shape.size, layout.rowsOfPiece, devices);
  if (!rows) return undefined;
  const { kernel, fast, stateLength } = layout;
  const share = Math.max(...rows.map(({ from, to }) => to - from)) / shape.size;
  const bytesPerStep = Math.ceil(layout.bytes * share);
  const bytes = bytesPerStep + Math.ceil(layout.more * share) + 4 * stateLength * elementBytes(shape.precision) + chunkBytes;
  const crossing = 2 * handover.wait + handover.state * shape.size;
  const onDevice = launchMicroseconds.streamed + crossing + bytesPerStep / streamingRate(layout, info);
  return {
    name: "sharded",
    arithmetic: fast ? "fast" : "portable",
    details: { kernel, devices, bytesPerStep, ...fastDetail(fast) },
    ...{ bytes, peerBytes: bytes },
    microsecondsPerStep: Math.max(onDevice, (4 * devices + 1) * callMicroseconds),
    open: (context, model) => {
      const seats = contexts.map((each, d) => ({ context: each, name: deviceName(each), rows: rows[d]! }));
      return new StreamedLoop("sharded", context, model, (stream, neuron) => new SpreadWeights(seats, stream, model, layout, neuron));
    },
  };
}

/** The plan that runs a reservoir as it fits devices, the first of which has its states. */
export function shardedPlan(fit: AnyFit, shape: ModelShape, contexts: readonly Context[]): TimeLoopPlan {
  const { arithmetic } = shape;
  const made = { kernelSource: "nvrtc", arithmetic } as const;
  const bytes = Math.ceil(fit.weightBytes / fit.devices) + fit.slotBytes;
  return {
    ...{ name: "sharded", ...made },
    details: { kernel: shardedEntry(fit, arithmetic), ...made, ...shardedDetails(fit) },
    ...{ bytes, peerBytes: bytes },
    microsecondsPerStep: fit.microsecondsPerStep,
    open: (_, model, { spinLimit }) => open(model, shape, fit, contexts, spinLimit),
  };
}

async function open(
  model: ReservoirModel,
  shape: ModelShape,
  planned: AnyFit,
  contexts: readonly Context[],
  spinLimit: number | undefined,
): Promise<TimeLoop | undefined> {
  let fit: AnyFit | undefined = planned;
  if (!isDense(planned)) {
    // The plan went by the longest row that such a matrix is likely to have.
    const longest = longestOf(contexts[0]!, model);
    const units = planned.held + planned.shared + planned.streamed;
    if (Math.ceil(longest / unitEntries) !== units) [fit] = fits(shape, longest, contexts);
  }
  if (!fit) return undefined;
  const { blocks, devices } = fit;
  const seats = contexts.map((context, d): Seat => {
    const repeated = contexts.filter((each) => each === context).length > 1;
    const [from, to] = [Math.floor((blocks * d) / devices), Math.floor((blocks * (d + 1)) / devices)];
    return { context, name: deviceName(context), from, to, repeated };
  });
  return ShardedLoop.open(model, shardedKernel(fit, model, shape.arithmetic), seats, spinLimit, shape.arithmetic);
}

export const shardedLoops: TimeLoopFamily = { names: ["sharded"], plans };
