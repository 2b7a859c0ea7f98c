// What a simulated device is like: its options, their defaults, and the environment variables that
// stand in for options left out.
import { ArgumentError } from "@spillway/core/errors.js";
import {
  callback,
  choice,
  filled,
  type InputOf,
  type OptionTable,
  object,
  option,
  optional,
  resolve,
  whole,
} from "@spillway/core/options.js";
import { type Checks, type LaunchCounters, type Limits, PtxMachine } from "@spillway/ptx/interpreter/index.js";
import { checksTable, limitsTable } from "@spillway/ptx/interpreter/run/options.js";

/** A launch that has run, as `onLaunch` gets it. */
export interface LaunchReport {
  readonly kernel: string;
  /** What was counted: instructions, bytes, barriers, steps. */
  readonly counters: LaunchCounters;
}

/** A multiprocessor. CUDA C++ Programming Guide, "Technical Specifications". */
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

export interface Simulation {
  readonly capability: Capability;
  readonly devices: number;
  readonly multiprocessors: number;
  readonly memoryBytes: number;
  readonly launchBytes: number;
  readonly checks: Checks;
  readonly limits: Limits;
  readonly driverVersion: number;
  readonly print: (text: string) => void;
  readonly onLaunch: (report: LaunchReport) => void;
}

const capabilityNames = capabilities.map(({ major, minor }) => `${major}.${minor}`);
const memory = whole({ atLeast: 4096, atMost: Number.MAX_SAFE_INTEGER, takes: "a whole number of bytes of at least 4096" });

export const simulationTable = {
  /** Capability (SPILLWAY_SIM_CAPABILITY): 7.5, 8.0, 8.6, 8.9, 9.0, 10.0, 12.0; default 9.0. */
  capability: option(choice(...capabilityNames), "9.0", "Compute capability (SPILLWAY_SIM_CAPABILITY)."),
  /** Devices; default 1 (SPILLWAY_SIM_DEVICES). They share one memory and reach all of it. */
  devices: option(whole({ atLeast: 1, atMost: 16 }), 1, "Devices, which share one memory (SPILLWAY_SIM_DEVICES)."),
  /** Multiprocessors, which limit blocks that run; default 8 (SPILLWAY_SIM_MULTIPROCESSORS). */
  multiprocessors: option(
    whole({ atLeast: 1, atMost: 1024 }),
    8,
    "Multiprocessors of a device, which say how many blocks run at once (SPILLWAY_SIM_MULTIPROCESSORS).",
  ),
  /** Bytes of memory; default 256 MiB (SPILLWAY_SIM_MEMORY). All devices have less than 2 GiB. */
  memoryBytes: optional(memory, "Device memory; left out, 256 MiB (SPILLWAY_SIM_MEMORY). All devices together have less than 2 GiB."),
  /** Bytes for the shared and local memory of running kernels; default 128 MiB. */
  launchBytes: option(
    whole({ atLeast: 2 ** 20, atMost: 2 ** 30, unit: "bytes" }),
    2 ** 27,
    "Memory for the shared and local memory of running kernels (SPILLWAY_SIM_LAUNCH_MEMORY).",
  ),
  /** Checks to switch; all but `globalRaces` (SPILLWAY_SIM_GLOBAL_RACES=1) are on by default. */
  checks: filled(object(checksTable), "Checks that are to be on or off; all but globalRaces (SPILLWAY_SIM_GLOBAL_RACES) are on."),
  /** What ends a launch: SPILLWAY_SIM_IDLE_POLLS, SPILLWAY_SIM_IDLE_STEPS, SPILLWAY_SIM_STEPS. */
  limits: filled(
    object(limitsTable),
    "What ends a launch that does not (SPILLWAY_SIM_IDLE_POLLS, SPILLWAY_SIM_IDLE_STEPS, SPILLWAY_SIM_STEPS, SPILLWAY_SIM_STACK).",
  ),
  /** The CUDA release, 13000 for 13.0, which decides which PTX is taken. Default 13000. */
  driverVersion: option(whole({ atLeast: 1000 }), 13_000, "The CUDA release that the driver says it is of; it decides which PTX is taken."),
  /** Is given what kernels print; default: written to standard output. */
  print: optional(callback<(text: string) => void>(), "Is given what kernels print; left out, it is written to standard output."),
  /** Called with each launch that has run. */
  onLaunch: optional(callback<(report: LaunchReport) => void>(), "Called after each launch."),
};

/** How a device is made. What is left out comes from environment variables, then defaults. */
export interface SimulatedDriverOptions extends InputOf<typeof simulationTable> {}

const of = "the simulated device";

const variables: Readonly<Record<string, string>> = {
  capability: "SPILLWAY_SIM_CAPABILITY",
  devices: "SPILLWAY_SIM_DEVICES",
  multiprocessors: "SPILLWAY_SIM_MULTIPROCESSORS",
  memoryBytes: "SPILLWAY_SIM_MEMORY",
  launchBytes: "SPILLWAY_SIM_LAUNCH_MEMORY",
};
const checkVariables = { globalRaces: "SPILLWAY_SIM_GLOBAL_RACES" };
const limitVariables = {
  idlePolls: "SPILLWAY_SIM_IDLE_POLLS",
  idleSteps: "SPILLWAY_SIM_IDLE_STEPS",
  steps: "SPILLWAY_SIM_STEPS",
  stackBytes: "SPILLWAY_SIM_STACK",
};

/** Options, and from environment variables those that are left out. @throws ArgumentError */
function withEnvironment(table: OptionTable, options: object, from: Readonly<Record<string, string>>): object {
  const out: Record<string, unknown> = { ...options };
  for (const [name, variable] of Object.entries(from)) {
    const text = process.env[variable];
    if (out[name] !== undefined || !text) continue;
    const { schema, takes, read } = table[name]!;
    const value = schema["type"] === "boolean" ? /^(1|true|on)$/.test(text) : schema["type"] === "string" ? text : Number(text);
    try {
      out[name] = read(value, variable);
    } catch {
      throw new ArgumentError(variable, text, takes, { of });
    }
  }
  return out;
}

/** @throws ArgumentError naming the option or variable that cannot be. */
export function resolveOptions(options: SimulatedDriverOptions): Simulation {
  // First what is given, so that what is refused is named before anything is filled in.
  resolve(simulationTable, options, of);
  const { checks = {}, limits = {} } = options;
  const all = {
    ...withEnvironment(simulationTable, options, variables),
    checks: withEnvironment(checksTable, checks, checkVariables),
    limits: withEnvironment(limitsTable, limits, limitVariables),
  };
  const { capability: name, memoryBytes, print, onLaunch, ...rest } = resolve(simulationTable, all, of);
  const most = Math.floor((2 ** 31 - 2 ** 17 - rest.launchBytes) / rest.devices);
  if (memoryBytes !== undefined && memoryBytes > most)
    throw new ArgumentError("memoryBytes", memoryBytes, `a whole number of bytes from 4096 to ${most}`, { of });
  return {
    ...rest,
    capability: capabilities[capabilityNames.indexOf(name)]!,
    memoryBytes: memoryBytes ?? Math.min(2 ** 28, most),
    print: print ?? ((text) => process.stdout.write(text)),
    onLaunch: onLaunch ?? (() => undefined),
  };
}

export function makeMachine(simulation: Simulation): PtxMachine {
  return new PtxMachine({
    memoryBytes: simulation.memoryBytes * simulation.devices,
    launchBytes: simulation.launchBytes,
    sharedBytesPerBlock: simulation.capability.sharedBytesPerBlock,
    checks: simulation.checks,
    limits: simulation.limits,
  });
}
