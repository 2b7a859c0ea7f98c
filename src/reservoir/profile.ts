// What the work of a reservoir cost, phase by phase, as it was measured: plain data. Nothing here measures, and nothing in it is modelled.
import type { EnginePlan } from "./engine.js";

/**
 * - "upload": inputs, fed back outputs and targets on their way to the device;
 * - "drive": b + W_in u, and W_fb y, of all steps of a chunk;
 * - "run": the time loop; on the CPU engines the drive is in it;
 * - "batch": the time loop of many sequences in step; where each has a multiprocessor of its own the drive is in it;
 * - "closedLoop": the time loop with readout, feedback and drive in it;
 * - "check": the look for states that are not finite;
 * - "train": sums over training rows;
 * - "readout": outputs of a closed loop on the host;
 * - "sums": the sums of training brought to the host, waiting included;
 * - "download": states and outputs on their way to the host;
 * - "keep": states copied into the caller's matrix.
 */
export type PhaseName = "upload" | "drive" | "run" | "batch" | "closedLoop" | "check" | "train" | "readout" | "sums" | "download" | "keep";

/** The measurements of one phase, summed. */
export interface PhaseProfile {
  readonly phase: PhaseName;
  /** "device": by pairs of events on the stream that does the work; "host": by the host's clock. */
  readonly clock: "device" | "host";
  readonly milliseconds: number;
  /** Pieces of work that were timed. */
  readonly pieces: number;
  /** Steps that were made in it, of all sequences. */
  readonly steps?: number;
  /** Bytes between host and device; of "run" by a plan whose weights lie in device memory, the weights, which each step reads. */
  readonly bytes?: number;
  /** `bytes` by `milliseconds`, in 10^9 bytes a second. */
  readonly gigabytesPerSecond?: number;
}

/** What was given to a device, counted as it was given. */
export interface DeviceWork {
  /** Kernels that the host launched one by one. */
  readonly launches: number;
  readonly graphLaunches: number;
  /** How often each kernel ran, those in graphs included. */
  readonly kernels: Readonly<Record<string, number>>;
  readonly bytesToDevice: number;
  readonly bytesToHost: number;
}

/** What an engine measured. */
export interface EngineProfile {
  /** In the order in which they first came; what was not measured is not there. */
  readonly phases: readonly PhaseProfile[];
  /** Of engines on a device. What was loaded when the reservoir was opened is not in it. */
  readonly device?: DeviceWork;
}

/** What a `ReservoirComputer` measured since it was made. */
export interface Profile extends EngineProfile {
  readonly engine: string;
  readonly plan: EnginePlan;
  /** Calls that are over, and what they took by the host's clock. Phases on a device lie beside one another, so they may sum up to more. */
  readonly calls: number;
  readonly milliseconds: number;
}

/** The time of the loop over time steps in a profile, in milliseconds, and its steps: of "run" and "batch". Undefined where neither was measured. */
export function loopTime({ phases }: EngineProfile): { readonly milliseconds: number; readonly steps: number } | undefined {
  const loops = phases.filter(({ phase }) => phase === "run" || phase === "batch");
  if (loops.length === 0) return undefined;
  return {
    milliseconds: loops.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
    steps: loops.reduce((sum, { steps = 0 }) => sum + steps, 0),
  };
}
