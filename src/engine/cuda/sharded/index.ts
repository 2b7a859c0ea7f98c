// The plan "sharded": rows of W in slices over several devices, each with a persistent kernel. It is
// offered if an engine has several devices, all of them alike and within each other's reach.
import type { Context, DeviceInfo } from "../../../gpu/index.js";
import type { SparseMatrix } from "../../../numerics/index.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { likelyLongest } from "../persistent/index.js";
import { madeDenseFits, madeSparseFits } from "../persistent/made-shapes.js";
import { longestRow } from "../persistent/pack.js";
import { unitEntries } from "../persistent/shapes.js";
import type { ModelShape } from "../shape.js";
import type { TimeLoop, TimeLoopFamily, TimeLoopOptions, TimeLoopPlan } from "../time-loop.js";
import { type AnyFit, isDense, shardedDetails, shardedEntry, shardedKernel } from "./kernel.js";
import { ShardedLoop } from "./loop.js";
import type { Seat } from "./slice.js";

/** The most devices that a kernel knows: mostDevices of kernels/include/across.cuh. */
const mostDevices = 8;

/**
 * What a step takes longer as its states cross to other devices, in microseconds: measured on H200s
 * with NVLink between all of them, by 1024 values.
 */
const crossing = (devices: number): number => 0.09 + 0.2 * (32 - Math.clz32(devices - 1));

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
  const nameOf = ({ info }: Context) => `device ${info.ordinal}`;
  const [first] = contexts;
  if (!first || contexts.length < 2) return 'it takes several devices, such as engine "cuda:0-3" or "cuda:all"';
  if (contexts.length > mostDevices) return `it takes up to ${mostDevices} devices; there are ${contexts.length}`;
  const other = contexts.find(({ info }) => !alike(first.info, info));
  if (other) return `it takes devices that are alike; ${nameOf(first)} is a ${first.info.name}, ${nameOf(other)} a ${other.info.name}`;
  for (const a of contexts)
    for (const b of contexts) if (a !== b && !a.canAccess(b)) return `${nameOf(a)} cannot reach the memory of ${nameOf(b)}`;
  return undefined;
}

function fits(shape: ModelShape, longest: number, contexts: readonly Context[]): AnyFit[] {
  const devices = contexts.length;
  const seats = Math.max(...contexts.map((context) => contexts.filter((each) => each === context).length));
  const info = share(contexts[0]!.info, seats);
  return shape.storage === "sparse" ? madeSparseFits(shape, longest, info, "nvrtc", devices) : madeDenseFits(shape, info, "nvrtc", devices);
}

function plans(shape: ModelShape, device: DeviceInfo, options: TimeLoopOptions): readonly TimeLoopPlan[] {
  const { peers = [], kernelSource = "auto", whyNoCompiler } = options;
  if (peers.length === 0 || (kernelSource !== "auto" && kernelSource !== "nvrtc")) return [];
  const contexts = peers;
  if (whyNotSharded(contexts) !== undefined || contexts[0]!.info.ordinal !== device.ordinal) return [];
  const found = fits(shape, likelyLongest(shape), contexts).slice(0, offered);
  if (found.length === 0 || whyNoCompiler?.() !== undefined) return [];
  return found.map((fit) => shardedPlan(fit, shape, contexts));
}

/** The plan that runs a reservoir as it fits devices, the first of which has its states. */
export function shardedPlan(fit: AnyFit, shape: ModelShape, contexts: readonly Context[]): TimeLoopPlan {
  const { arithmetic } = shape;
  const made = { kernelSource: "nvrtc", arithmetic } as const;
  return {
    ...{ name: "sharded", ...made },
    details: { kernel: shardedEntry(fit, arithmetic), ...made, ...shardedDetails(fit) },
    bytes: Math.ceil(fit.weightBytes / fit.devices) + fit.placeBytes,
    microsecondsPerStep: fit.microsecondsPerStep + crossing(fit.devices),
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
    const longest = longestRow(model.weights as SparseMatrix);
    const units = planned.held + planned.shared + planned.streamed;
    if (Math.ceil(longest / unitEntries) !== units) [fit] = fits(shape, longest, contexts);
  }
  if (!fit) return undefined;
  const { blocks, devices } = fit;
  const seats = contexts.map((context, d): Seat => {
    const repeated = contexts.filter((each) => each === context).length > 1;
    const { ordinal } = context.info;
    const family = context.core.driver.takesPtxOnly === true ? "sim" : "cuda";
    const [from, to] = [Math.floor((blocks * d) / devices), Math.floor((blocks * (d + 1)) / devices)];
    return { context, name: `${family}:${ordinal}`, from, to, repeated };
  });
  return ShardedLoop.open(model, shardedKernel(fit, model, shape.arithmetic), seats, spinLimit, shape.arithmetic);
}

export const shardedLoops: TimeLoopFamily = { names: ["sharded"], plans };
