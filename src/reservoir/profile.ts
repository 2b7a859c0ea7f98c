// What the work of a reservoir cost, phase by phase, as it was measured: plain data. Nothing here
// measures, and nothing in it is modelled.
import type { EnginePlan } from "./engine/calls.js";

/**
 * - "compile": the making of a kernel for this reservoir, if its plan has one; before the first
 *   call;
 * - "draw", "radius": what the seeds of a sweep draw, and the measuring of W's radius, which
 *   threads beside the host's may do;
 * - "upload": inputs, fed back outputs and targets on their way to the device, and the weights of
 *   ensembles and sweeps;
 * - "scale": weights of a sweep made from what was drawn;
 * - "drive": b + W_in u, and W_fb y, of all steps of a chunk;
 * - "run": the time loop; on the CPU engines the drive is in it;
 * - "batch": the time loop of many sequences or reservoirs side by side; if each has a
 *   multiprocessor of its own, the drive is in it;
 * - "closedLoop": the time loop with readout, feedback and drive in it;
 * - "check": the look for states that are not finite;
 * - "summarise": statistics of states where they lie, and the shares of classes made of them;
 * - "train": sums over training rows;
 * - "solve": readouts of a sweep made from those sums;
 * - "score": readouts of a sweep compared with targets;
 * - "readout": outputs of a closed loop on the host;
 * - "sums": the sums of training brought to the host, waiting included;
 * - "download": states and outputs on their way to the host;
 * - "keep": states copied into the caller's matrix.
 */
export type PhaseName =
  | "compile"
  | "draw"
  | "radius"
  | "upload"
  | "scale"
  | "drive"
  | "run"
  | "batch"
  | "closedLoop"
  | "check"
  | "summarise"
  | "train"
  | "solve"
  | "score"
  | "readout"
  | "sums"
  | "download"
  | "keep";

/** The measurements of one phase, summed. */
export interface PhaseProfile {
  readonly phase: PhaseName;
  /**
   * "device": by pairs of events on the stream that does the work; "host": by the host's clock;
   * "simulated": by events of a simulated device, whose time says nothing about a GPU.
   */
  readonly clock: "device" | "host" | "simulated";
  readonly milliseconds: number;
  /** Pieces of work that were timed. */
  readonly pieces: number;
  /** Steps that were made in it, of all sequences. */
  readonly steps?: number;
  /**
   * Bytes between host and device; of "run" by a plan whose weights lie in device memory, the
   * weights, which each step reads.
   */
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
  /**
   * Calls that are over, and what they took by the host's clock. Phases on a device overlap, so
   * they may sum up to more.
   */
  readonly calls: number;
  readonly milliseconds: number;
}

/**
 * Several profiles of reservoirs by one plan as one: phases and counts summed. Undefined if
 * there are none.
 */
export function addProfiles(profiles: readonly Profile[]): Profile | undefined {
  const [first] = profiles;
  if (!first) return undefined;
  const sum = (of: (profile: Profile) => number) => profiles.reduce((total, profile) => total + of(profile), 0);
  return {
    ...{ engine: first.engine, plan: first.plan, calls: sum(({ calls }) => calls), milliseconds: sum(({ milliseconds }) => milliseconds) },
    ...addMeasurements(profiles),
  };
}

/** What sessions measured as one; undefined if none measured anything. */
export function profileOf(sessions: Iterable<{ profile?(): EngineProfile | undefined }>): EngineProfile | undefined {
  const measured = [...sessions].flatMap((session) => session.profile?.() ?? []);
  return measured.length > 0 ? addMeasurements(measured) : undefined;
}

/** What several sessions measured as one: phases and counts summed. */
export function addMeasurements(profiles: readonly EngineProfile[]): EngineProfile {
  const phases = new Map<string, PhaseProfile>();
  for (const each of profiles.flatMap((profile) => profile.phases)) addPhase(phases, each);
  const works = profiles.flatMap(({ device }) => (device ? [device] : []));
  return { phases: [...phases.values()], ...(works.length > 0 ? { device: works.reduce(addWork) } : {}) };
}

/** Adds a measurement to that of its phase and clock. */
export function addPhase(phases: Map<string, PhaseProfile>, measured: PhaseProfile): void {
  const { phase, clock } = measured;
  const key = `${clock} ${phase}`;
  phases.set(key, addPhases(phases.get(key) ?? { phase, clock, milliseconds: 0, pieces: 0 }, measured));
}

function addPhases(a: PhaseProfile, b: PhaseProfile): PhaseProfile {
  const { phase, clock } = a;
  const milliseconds = a.milliseconds + b.milliseconds;
  const bytes = (a.bytes ?? 0) + (b.bytes ?? 0);
  const steps = a.steps === undefined && b.steps === undefined ? {} : { steps: (a.steps ?? 0) + (b.steps ?? 0) };
  const moved = bytes > 0 ? { bytes, ...(milliseconds > 0 ? { gigabytesPerSecond: bytes / milliseconds / 1e6 } : {}) } : {};
  return { phase, clock, milliseconds, pieces: a.pieces + b.pieces, ...steps, ...moved };
}

function addWork(a: DeviceWork, b: DeviceWork): DeviceWork {
  const kernels: Record<string, number> = { ...a.kernels };
  for (const [kernel, times] of Object.entries(b.kernels)) kernels[kernel] = (kernels[kernel] ?? 0) + times;
  return {
    launches: a.launches + b.launches,
    graphLaunches: a.graphLaunches + b.graphLaunches,
    kernels,
    bytesToDevice: a.bytesToDevice + b.bytesToDevice,
    bytesToHost: a.bytesToHost + b.bytesToHost,
  };
}

/** What the loop over time steps took. */
export interface LoopTime {
  readonly clock: PhaseProfile["clock"];
  readonly milliseconds: number;
  readonly steps: number;
}

/** "run" and "batch" of a profile together; undefined if neither was measured. */
export function loopTime({ phases }: EngineProfile): LoopTime | undefined {
  const loops = phases.filter(({ phase }) => phase === "run" || phase === "batch");
  if (loops.length === 0) return undefined;
  return {
    clock: loops[0]!.clock,
    milliseconds: loops.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
    steps: loops.reduce((sum, { steps = 0 }) => sum + steps, 0),
  };
}
