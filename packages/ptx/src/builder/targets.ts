// What each compute capability offers, as far as a generated kernel needs to know. Sources: CUDA
// C++ Programming Guide 13.0, table "Technical Specifications per Compute Capability"; PTX ISA 9.0,
// "Release Notes" for the first PTX version of a target.
import { choice, option } from "@spillway/core/options.js";

/** A PTX ISA version: [7, 8] is 7.8. */
export type PtxVersion = readonly [major: number, minor: number];

/** What a target has. */
export interface TargetFacts {
  /** 75 for sm_75. */
  readonly sm: number;
  /** True for `sm_90a` and the like, whose code runs only on that chip. */
  readonly accelerated: boolean;
  /** The first PTX version that knows the target. */
  readonly version: PtxVersion;
  /** Shared memory that a block may have, in bytes, dynamic included. */
  readonly sharedBytesPerBlock: number;
  readonly registersPerBlock: number;
  readonly registersPerThread: number;
}

const common = { registersPerBlock: 65_536, registersPerThread: 255 };
const make = (sm: number, version: PtxVersion, sharedKiB: number, accelerated = false): TargetFacts => ({
  sm,
  accelerated,
  version,
  sharedBytesPerBlock: sharedKiB * 1024,
  ...common,
});

/** The targets by name, from sm_75 on. */
export const targets = {
  sm_75: make(75, [6, 3], 64),
  sm_80: make(80, [7, 0], 163),
  sm_86: make(86, [7, 1], 99),
  sm_87: make(87, [7, 4], 163),
  sm_88: make(88, [9, 0], 99),
  sm_89: make(89, [7, 8], 99),
  sm_90: make(90, [7, 8], 227),
  sm_90a: make(90, [8, 0], 227, true),
  sm_100: make(100, [8, 6], 227),
  sm_103: make(103, [8, 8], 227),
  sm_110: make(110, [9, 0], 227),
  sm_120: make(120, [8, 7], 99),
  sm_121: make(121, [8, 8], 99),
} as const satisfies Record<string, TargetFacts>;

/** A target that modules are made for. */
export type Target = keyof typeof targets;

const targetKind = choice(...(Object.keys(targets) as Target[]));

/** The option of what is made for a target. */
export const targetOption = option(targetKind, "sm_75", "What it is made for.");

/** @throws ArgumentError for a target that is not known. */
export function targetFacts(target: string): TargetFacts {
  return targets[targetKind.read(target, "target")];
}

/** What an instruction asks for. */
export interface Needs {
  readonly sm?: number;
  readonly version?: PtxVersion;
  /** The only accelerated target that has it, as "sm_90a". */
  readonly only?: Target;
}

export function laterVersion(a: PtxVersion, b: PtxVersion): PtxVersion {
  return a[0] > b[0] || (a[0] === b[0] && a[1] >= b[1]) ? a : b;
}
