// How a network of populations is laid over a device. Nothing is allocated here.
import type { DeviceInfo } from "@spillway/gpu";

/** The kernels, quickest first. */
export type NetworkPlanName = "slots" | "table" | "general" | "plastic";

/** The kernel, and its grid. */
export interface NetworkLaunch {
  /**
   * "slots": the ring of pending input in the blocks' shared memory, messages in place of a barrier
   * (kernels/network_slots.cu). "table": any number of such neurons (kernels/network_step.cu).
   * "general": any network whose weights stay (the same file). "plastic": those with plastic
   * projections (kernels/network_plastic.cu).
   */
  readonly plan: NetworkPlanName;
  readonly blocks: number;
  readonly threads: number;
  /** Slots: the neurons of a block, and the threads that advance them; the others deliver. */
  readonly perBlock: number;
  readonly neuronThreads: number;
  readonly sharedBytes: number;
  /** Rows of the ring: a power of two above the longest delay. */
  readonly rows: number;
  /** Table: warps that share the synapses of a spike. */
  readonly slices: number;
}

/** What the layout depends on. */
export interface NetworkShape {
  readonly size: number;
  readonly synapses: number;
  /** Steps. */
  readonly longestDelay: number;
  /** Sources in a row with one slot length and sign. */
  readonly classes: number;
  /** Thresholds of all distributions of background spikes, and distributions. */
  readonly thresholds: number;
  readonly distributions: number;
}

/** What an entry of a slot and a message can hold. */
const mostPerBlock = 1024;
const longestInSlots = 63;
const mostClasses = 32;
const mostDistributions = 32;
const warp = 32;
/** Warps that deliver the even steps, and as many that deliver the odd ones. */
const leastDelivering = 2;
const mostDelivering = 8;
/** Shared memory of the kernel besides the ring and the thresholds. */
const fixedBytes = 13 * 1024;
/** Neurons of a block below which more blocks only wait for each other longer. */
const leastNeurons = 128;
/** Of the neurons that fire in a step: plastic synapses get a thread each for as many as that. */
const usualShare = 1e-3;

const powerAbove = (delay: number): number => {
  let rows = 1;
  while (rows <= delay) rows *= 2;
  return rows;
};

/** @param plan asks for one of them; left out, slots if they fit, else the table */
export function planLaunch(shape: NetworkShape, device: DeviceInfo, plan?: NetworkPlanName): NetworkLaunch | undefined {
  const slots = plan === undefined || plan === "slots" ? planSlots(shape, device) : undefined;
  if (slots || plan === "slots") return slots;
  const { size, synapses } = shape;
  const threads = plan === "general" || plan === "plastic" ? 512 : 1024;
  const wanted = Math.max(Math.ceil(size / leastNeurons), plan === "plastic" ? Math.ceil((usualShare * synapses) / threads) : 1);
  const blocks = Math.max(1, Math.min(device.attributes.multiprocessors, wanted));
  const slices = Math.max(1, Math.min((blocks * threads) / warp, Math.ceil(synapses / Math.max(1, size) / warp / 4)));
  return {
    plan: plan ?? "table",
    blocks,
    threads,
    perBlock: 0,
    neuronThreads: 0,
    sharedBytes: 0,
    rows: powerAbove(shape.longestDelay),
    slices,
  };
}

function planSlots(shape: NetworkShape, device: DeviceInfo): NetworkLaunch | undefined {
  const { multiprocessors, sharedBytesPerBlockOptIn } = device.attributes;
  const { size, longestDelay, classes, thresholds, distributions } = shape;
  if (longestDelay > longestInSlots || classes > mostClasses || distributions > mostDistributions) return undefined;
  const fours = Math.ceil(size / 4);
  const blocks = Math.max(1, Math.min(multiprocessors, Math.ceil(size / leastNeurons)));
  const perBlock = 4 * Math.ceil(fours / blocks);
  const rows = powerAbove(longestDelay);
  const sharedBytes = 4 * (rows * perBlock + thresholds);
  const neuronThreads = warp * Math.ceil(perBlock / warp);
  const freeWarps = Math.floor((1024 - neuronThreads) / (2 * warp));
  if (perBlock > mostPerBlock || freeWarps < leastDelivering || sharedBytes + fixedBytes > sharedBytesPerBlockOptIn) return undefined;
  const delivering = Math.min(mostDelivering, freeWarps, Math.max(leastDelivering, Math.ceil(perBlock / warp)));
  const threads = neuronThreads + 2 * warp * delivering;
  return { plan: "slots", blocks, threads, perBlock, neuronThreads, sharedBytes, rows, slices: 0 };
}
