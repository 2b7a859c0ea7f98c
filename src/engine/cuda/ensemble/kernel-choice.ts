// Which kernel runs a group of members that have one shape, and the shape of its launch. Sizes are
// those of kernels/reservoir_ensemble*.cu.
import type { DeviceInfo } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import { elementBytes } from "../shape.js";

/** A kernel for members of one shape, a block each. */
export interface EnsembleKernel {
  readonly file: string;
  readonly name: string;
  readonly arithmetic: "portable" | "fast";
  /** How the weights are stored for it. */
  readonly storage: "dense" | "sliced";
  /** Whether it computes in integers: its parameters are then words (integer-words.ts). */
  readonly integers?: boolean;
  /** Whether the weights stay on the multiprocessor for all steps. */
  readonly resident: boolean;
  readonly threads: number;
  /** Dynamic shared memory in bytes. */
  readonly shared: number;
}

/** What the choice depends on. */
export interface MemberShape {
  readonly size: number;
  readonly precision: Precision;
  /** "fast" takes kernels whose products and sums are fused. */
  readonly arithmetic: "portable" | "fast";
  /** Whether members compute in integers; `arithmetic` is then of no meaning. */
  readonly integers?: boolean | undefined;
  /** Of sparse weights: slots and entries of the largest pattern. */
  readonly sliced?: { readonly slots: number; readonly entries: number } | undefined;
}

/** Lanes that share a row, and rows of a group of them. */
const lanes = 4;

/**
 * Columns that a kernel is made for, and how many quads of weights a lane has in registers; the
 * rest is in shared memory. In fast arithmetic nothing else takes as many registers.
 */
const registerKernels = [
  { columns: 32, registerQuads: { portable: 2, fast: 2 } },
  { columns: 64, registerQuads: { portable: 4, fast: 4 } },
  { columns: 96, registerQuads: { portable: 6, fast: 6 } },
  { columns: 128, registerQuads: { portable: 8, fast: 8 } },
  { columns: 160, registerQuads: { portable: 8, fast: 8 } },
  { columns: 200, registerQuads: { portable: 12, fast: 13 } },
  { columns: 256, registerQuads: { portable: 10, fast: 12 } },
] as const;

/** Every fast kernel is in one file. */
const fileOf = (arithmetic: MemberShape["arithmetic"], portable: string): string =>
  arithmetic === "fast" ? "reservoir_ensemble_fast" : portable;
const suffixOf = (arithmetic: MemberShape["arithmetic"]): string => (arithmetic === "fast" ? "_fast" : "");

/**
 * The fastest kernel that takes the shape; undefined if the states do not fit the device's
 * shared memory.
 */
export function chooseEnsembleKernel(device: DeviceInfo, shape: MemberShape): EnsembleKernel | undefined {
  const limit = device.attributes.sharedBytesPerBlockOptIn;
  if (shape.integers) return integerKernels(shape).find(({ shared }) => shared <= limit);
  return [registerKernel(shape), residentSparse(shape), general(shape)].find((kernel) => kernel && kernel.shared <= limit);
}

/** Lanes and columns of a dense row in integers are in fours of pairs. */
const pairsOfTurn = 4;

/** Words of a dense W in integers. */
export const integerWords = (size: number): number => Math.ceil(size / (2 * pairsOfTurn)) * pairsOfTurn * size;

/** The kernel that keeps W in shared memory, and the one that reads it in each step. */
function integerKernels({ size, sliced }: MemberShape): readonly EnsembleKernel[] {
  const storage = sliced ? "sliced" : "dense";
  const name = `ensemble_integer_${sliced ? "sparse" : "dense"}`;
  const threads = Math.min(1024, sliced ? sliced.slots : Math.ceil((lanes * size) / 32) * 32);
  const states = 4 * (sliced ? Math.ceil(size / 2) * 2 : Math.ceil(size / (2 * pairsOfTurn)) * 2 * pairsOfTurn);
  const weights = 4 * (sliced ? sliced.entries : integerWords(size));
  const kernel = { file: "reservoir_ensemble_integer", arithmetic: "portable", integers: true, storage, threads } as const;
  return [
    { ...kernel, name: `${name}_shared`, resident: true, shared: states + weights },
    { ...kernel, name, resident: false, shared: states },
  ];
}

function registerKernel({ size, precision, arithmetic, sliced }: MemberShape): EnsembleKernel | undefined {
  const found = sliced || precision !== "float32" ? undefined : registerKernels.find(({ columns }) => size <= columns);
  if (!found) return undefined;
  const { columns, registerQuads } = found;
  const file = fileOf(arithmetic, "reservoir_ensemble");
  const name = `ensemble_dense_${columns}${suffixOf(arithmetic)}`;
  const threads = Math.ceil(columns / 32) * 32;
  const quads = Math.ceil(columns / lanes / 4);
  const shared = 16 * lanes * (quads - registerQuads[arithmetic]) * threads + 2 * 16 * lanes * quads;
  return { file, name, arithmetic, storage: "dense", resident: true, threads, shared };
}

function residentSparse({ precision, arithmetic, sliced }: MemberShape): EnsembleKernel | undefined {
  if (!sliced || sliced.slots > 1024) return undefined;
  const shared = elementBytes(precision) * (sliced.entries + 2 * sliced.slots) + 2 * sliced.entries;
  return { ...named("ensemble_sparse_shared", precision, arithmetic), storage: "sliced", resident: true, threads: sliced.slots, shared };
}

function general({ size, precision, arithmetic, sliced }: MemberShape): EnsembleKernel {
  const padded = Math.ceil(size / 32) * 32;
  const shared = 2 * padded * elementBytes(precision);
  if (sliced) {
    const threads = Math.min(1024, sliced.slots);
    return { ...named("ensemble_sparse", precision, arithmetic), storage: "sliced", resident: false, threads, shared };
  }
  return { ...named("ensemble_dense", precision, arithmetic), storage: "dense", resident: false, threads: 512, shared };
}

const named = (name: string, precision: Precision, arithmetic: MemberShape["arithmetic"]) =>
  ({
    file: fileOf(arithmetic, "reservoir_ensemble_general"),
    name: `${name}_${precision === "float32" ? "f32" : "f64"}${suffixOf(arithmetic)}`,
    arithmetic,
  }) as const;

/**
 * What a plan says of arithmetic that is not portable: states, Gram matrices, readouts and scores
 * made of such states have its bits.
 */
export function fastDetail(kernels: readonly EnsembleKernel[]): Readonly<Record<string, string>> {
  const fast = kernels.filter(({ arithmetic }) => arithmetic === "fast").length;
  return fast === 0 ? {} : { arithmetic: fast === kernels.length ? "fast" : "fast and portable" };
}
