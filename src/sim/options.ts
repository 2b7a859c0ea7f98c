// What a simulated device is like: its options, their defaults, and the environment variables that
// stand in for options left out.
import { ArgumentError, checkFields } from "../core/errors.js";
import { type Checks, type LaunchCounters, type Limits, PtxMachine, rejectUnknownChecks } from "../ptx/interpreter/index.js";

/** A launch that has run, as `onLaunch` gets it. */
export interface LaunchReport {
  readonly kernel: string;
  /** What was counted: instructions, bytes, barriers, steps. */
  readonly counters: LaunchCounters;
}

/**
 * How a simulated device is made. An option that is left out is taken from its environment
 * variable, and then from its default.
 */
export interface SimulatedDriverOptions {
  /**
   * Compute capability, such as "9.0" (SPILLWAY_SIM_CAPABILITY): 7.5, 8.0, 8.6, 8.9, 9.0, 10.0 or
   * 12.0; default 9.0.
   */
  readonly capability?: string;
  /**
   * Devices; default 1 (SPILLWAY_SIM_DEVICES). They share one memory: each can reach that of the
   * others.
   */
  readonly devices?: number;
  /**
   * Multiprocessors of a device, which say how many blocks run at once; default 8
   * (SPILLWAY_SIM_MULTIPROCESSORS).
   */
  readonly multiprocessors?: number;
  /**
   * Bytes of device memory; default 256 MiB (SPILLWAY_SIM_MEMORY). All devices together have less
   * than 2 GiB.
   */
  readonly memoryBytes?: number;
  /** Bytes for the shared and local memory of running kernels; default 128 MiB. */
  readonly launchBytes?: number;
  /**
   * Checks that are to be on or off; all but `globalRaces` (SPILLWAY_SIM_GLOBAL_RACES=1) are on by
   * default.
   */
  readonly checks?: Partial<Checks>;
  /**
   * What ends a launch that does not: SPILLWAY_SIM_IDLE_POLLS, SPILLWAY_SIM_IDLE_STEPS and
   * SPILLWAY_SIM_STEPS.
   */
  readonly limits?: Partial<Limits>;
  /**
   * The CUDA release that the driver says it is of, 13000 for 13.0; it decides which PTX versions
   * are taken. Default 13000.
   */
  readonly driverVersion?: number;
  /** Is given what kernels print; default: written to standard output. */
  readonly print?: (text: string) => void;
  /** Called with each launch that has run. */
  readonly onLaunch?: (report: LaunchReport) => void;
}

/**
 * What a multiprocessor of a compute capability has. CUDA C++ Programming Guide, table "Technical
 * Specifications per Compute Capability".
 */
export interface Capability {
  readonly major: number;
  readonly minor: number;
  readonly threads: number;
  readonly blocks: number;
  readonly sharedBytes: number;
  readonly sharedBytesPerBlock: number;
}

const kibibyte = 1024;

const capability = (major: number, minor: number, threads: number, blocks: number, sharedKibibytes: number): Capability => ({
  ...{ major, minor, threads, blocks },
  sharedBytes: sharedKibibytes * kibibyte,
  sharedBytesPerBlock: (sharedKibibytes - (major >= 8 ? 1 : 0)) * kibibyte,
});

const capabilities: readonly Capability[] = [
  capability(7, 5, 1024, 16, 64),
  capability(8, 0, 2048, 32, 164),
  capability(8, 6, 1536, 16, 100),
  capability(8, 9, 1536, 24, 100),
  capability(9, 0, 2048, 32, 228),
  capability(10, 0, 2048, 32, 228),
  capability(12, 0, 1536, 24, 100),
];

/** Options with nothing left out. */
export interface Simulation {
  readonly capability: Capability;
  readonly devices: number;
  readonly multiprocessors: number;
  readonly memoryBytes: number;
  readonly launchBytes: number;
  readonly checks: Partial<Checks>;
  readonly limits: Partial<Limits>;
  readonly driverVersion: number;
  readonly print: (text: string) => void;
  readonly onLaunch: (report: LaunchReport) => void;
}

function wholeNumber(name: string, value: number | undefined, variable: string, least: number, most: number): number | undefined {
  const text = process.env[variable];
  const [given, source] = value === undefined ? [text ? Number(text) : undefined, variable] : [value, name];
  if (given === undefined) return undefined;
  const whole = Number.isInteger(given) || (given === Number.POSITIVE_INFINITY && most === given);
  if (!whole || given < least || given > most)
    throw new ArgumentError(`${source} of the simulated device`, undefined, `a whole number from ${least} to ${most}`, {
      shown: String(text && value === undefined ? JSON.stringify(text) : given),
    });
  return given;
}

function capabilityOf(given: string): Capability {
  const found = capabilities.find(({ major, minor }) => `${major}.${minor}` === given);
  if (found) return found;
  const known = capabilities.map(({ major, minor }) => `${major}.${minor}`).join(", ");
  throw new ArgumentError("capability of the simulated device", given, `one of ${known}`);
}

const optionFields: readonly (keyof SimulatedDriverOptions)[] = [
  ...(["capability", "devices", "multiprocessors", "memoryBytes", "launchBytes", "checks", "limits"] as const),
  ...(["driverVersion", "print", "onLaunch"] as const),
];

/** @throws ArgumentError naming the option or variable that cannot be. */
export function resolveOptions(options: SimulatedDriverOptions): Simulation {
  checkFields(options, optionFields, "the simulated device");
  rejectUnknownChecks(options);
  const { limits = {} } = options;
  const limit = (name: "idlePolls" | "idleSteps" | "steps" | "stackBytes", variable: string) => {
    const value = wholeNumber(`limits.${name}`, limits[name], variable, 1, Number.POSITIVE_INFINITY);
    return value === undefined ? {} : { [name]: value };
  };
  const devices = wholeNumber("devices", options.devices, "SPILLWAY_SIM_DEVICES", 1, 16) ?? 1;
  const launchBytes = wholeNumber("launchBytes", options.launchBytes, "SPILLWAY_SIM_LAUNCH_MEMORY", 1 << 20, 2 ** 30) ?? 2 ** 27;
  const most = Math.floor((2 ** 31 - 2 ** 17 - launchBytes) / devices);
  return {
    capability: capabilityOf(options.capability ?? (process.env["SPILLWAY_SIM_CAPABILITY"] || "9.0")),
    devices,
    multiprocessors: wholeNumber("multiprocessors", options.multiprocessors, "SPILLWAY_SIM_MULTIPROCESSORS", 1, 1024) ?? 8,
    memoryBytes: wholeNumber("memoryBytes", options.memoryBytes, "SPILLWAY_SIM_MEMORY", 4096, most) ?? Math.min(2 ** 28, most),
    launchBytes,
    checks: { globalRaces: /^(1|true|on)$/.test(process.env["SPILLWAY_SIM_GLOBAL_RACES"] ?? ""), ...options.checks },
    limits: {
      ...limit("idlePolls", "SPILLWAY_SIM_IDLE_POLLS"),
      ...limit("idleSteps", "SPILLWAY_SIM_IDLE_STEPS"),
      ...limit("steps", "SPILLWAY_SIM_STEPS"),
      ...limit("stackBytes", "SPILLWAY_SIM_STACK"),
    },
    driverVersion: options.driverVersion ?? 13_000,
    print: options.print ?? ((text) => process.stdout.write(text)),
    onLaunch: options.onLaunch ?? (() => undefined),
  };
}

/** The memory of all devices. */
export function makeMachine(simulation: Simulation): PtxMachine {
  return new PtxMachine({
    memoryBytes: simulation.memoryBytes * simulation.devices,
    launchBytes: simulation.launchBytes,
    sharedBytesPerBlock: simulation.capability.sharedBytesPerBlock,
    checks: simulation.checks,
    limits: simulation.limits,
  });
}
