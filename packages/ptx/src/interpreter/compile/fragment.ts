// Matrices that the lanes of a warp hold in registers: the types of their elements, where each
// lies, and their product. Products and sums are done in double and rounded once to the
// accumulator's type; a tensor core adds in another order and keeps fewer bits, so a GPU may differ
// in the last bits of a sum.
import { doubleFromBits, doubleHigh, doubleLow, singleBits, singleFromBits } from "../arithmetic/bits.js";
import { byteFloatValue } from "../arithmetic/float8.js";
import { fromNumber, toNumber } from "../arithmetic/half.js";
import type { Resolve } from "../run/access.js";
import { firstLane } from "../run/lanes.js";
import type { Warp } from "../run/warp.js";
import type { PtxOperand } from "../types.js";
import type { Collective } from "./collective.js";
import type { LaneAccess } from "./lane-access.js";

export const elementBits = {
  b1: 1,
  s4: 4,
  u4: 4,
  s8: 8,
  u8: 8,
  e4m3: 8,
  e5m2: 8,
  f16: 16,
  bf16: 16,
  tf32: 32,
  f32: 32,
  s32: 32,
  f64: 64,
} as const;

export type ElementType = keyof typeof elementBits;

const elementTypes = Object.keys(elementBits);

export const typesOf = (access: LaneAccess): ElementType[] => access.every(elementTypes) as ElementType[];

export const isWholeFactor = (type: ElementType): boolean => /^[su][48]$/.test(type);

/** Elements of a register. */
export const parts = (type: ElementType): number => Math.max(1, 32 / elementBits[type]);

export interface Shape {
  m: number;
  n: number;
  k: number;
}

/** Where register r, part p of lane l lies in a matrix: row and column. */
export type Layout = (lane: number, register: number, part: number) => [row: number, column: number];

export interface Heap {
  G8: Uint8Array;
  G16: Uint16Array;
  G32: Int32Array;
  GD: Float64Array;
  resolve: Resolve;
}

function elementOf(word: number, type: Exclude<ElementType, "f64">, part: number): number {
  switch (type) {
    case "s32":
      return word;
    case "f32":
      return singleFromBits(word);
    // The tensor core looks at the upper 19 bits of a tf32 operand only.
    case "tf32":
      return singleFromBits(word & 0xffffe000);
    case "f16":
    case "bf16":
      return toNumber(type, (word >>> (16 * part)) & 0xffff);
    case "e4m3":
    case "e5m2":
      return byteFloatValue(type, (word >>> (8 * part)) & 0xff);
    case "s8":
    case "s4": {
      const bits = elementBits[type];
      return (word << (32 - bits - bits * part)) >> (32 - bits);
    }
    default: {
      const bits = elementBits[type];
      return (word >>> (bits * part)) & (2 ** bits - 1);
    }
  }
}

export class Fragment {
  readonly count: number;
  private readonly reads: ((warp: Warp, lane: number) => number)[][];
  private readonly writes: ((warp: Warp, lane: number, value: number) => void)[][];
  private readonly type: ElementType;

  /** A fragment of `count` registers. @throws UnsupportedPtxError if the operand is of others */
  constructor(access: LaneAccess, operand: PtxOperand, type: ElementType, count: number, writable: boolean) {
    const elements = access.list(operand);
    if (elements.length !== count) throw access.unsupported(`a fragment of ${elements.length} registers; it takes ${count}`);
    this.type = type;
    this.count = count;
    const words = type === "f64" ? [0, 1] : [0];
    const held = type === "f32" || type === "f64" ? type : "b32";
    this.reads = writable ? [] : elements.map((element) => words.map((part) => access.read(element, part, held)));
    this.writes = writable ? elements.map((element) => words.map((part) => access.write(element, part, held))) : [];
  }

  word(warp: Warp, lane: number, register: number, half = 0): number {
    return this.reads[register]![half]!(warp, lane);
  }

  setWord(warp: Warp, lane: number, register: number, word: number, half = 0): void {
    this.writes[register]![half]!(warp, lane, word);
  }

  get(warp: Warp, lane: number, register: number, part: number): number {
    const word = this.word(warp, lane, register);
    return this.type === "f64" ? doubleFromBits(word, this.word(warp, lane, register, 1)) : elementOf(word, this.type, part);
  }

  set(warp: Warp, lane: number, register: number, values: readonly number[]): void {
    const write = this.writes[register]!;
    if (this.type === "f64") {
      write[0]!(warp, lane, doubleLow(values[0]!));
      write[1]!(warp, lane, doubleHigh(values[0]!));
    } else if (this.type === "f16" || this.type === "bf16") {
      write[0]!(warp, lane, fromNumber(this.type, values[0]!) | (fromNumber(this.type, values[1]!) << 16));
    } else write[0]!(warp, lane, this.type === "s32" ? values[0]! | 0 : singleBits(Math.fround(values[0]!)));
  }
}

export function shapeOf(access: LaneAccess): Shape {
  const found = /^m(\d+)n(\d+)k(\d+)$/.exec(access.find(/^m\d+n\d+k\d+$/) ?? "");
  if (found === null) throw access.unsupported("it takes a shape, as .m16n8k16");
  return { m: Number(found[1]), n: Number(found[2]), k: Number(found[3]) };
}

export interface Held {
  readonly fragment: Fragment;
  readonly type: ElementType;
  readonly layout: Layout;
  readonly rows: number;
  readonly columns: number;
}

export function readMatrix(warp: Warp, { fragment, type, layout, rows, columns }: Held): Float64Array {
  const matrix = new Float64Array(rows * columns);
  for (let lane = 0; lane < 32; lane++) {
    for (let register = 0; register < fragment.count; register++) {
      for (let part = 0; part < parts(type); part++) {
        const [row, column] = layout(lane, register, part);
        if (row < rows && column < columns) matrix[row * columns + column] = fragment.get(warp, lane, register, part);
      }
    }
  }
  return matrix;
}

export function writeMatrix(warp: Warp, { fragment, type, layout, columns }: Held, matrix: Float64Array): void {
  for (let lane = 0; lane < 32; lane++) {
    for (let register = 0; register < fragment.count; register++) {
      const values: number[] = [];
      for (let part = 0; part < parts(type); part++) {
        const [row, column] = layout(lane, register, part);
        values.push(matrix[row * columns + column] ?? 0);
      }
      fragment.set(warp, lane, register, values);
    }
  }
}

export function multiply(a: Float64Array, b: Float64Array, c: Float64Array, { m, n, k }: Shape): Float64Array {
  const d = new Float64Array(m * n);
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = c[row * n + column]!;
      for (let j = 0; j < k; j++) sum += a[row * k + j]! * b[j * n + column]!;
      d[row * n + column] = sum;
    }
  }
  return d;
}

/** The product of matrices of bits: counts bits in both rows and columns, or in only one. */
function productOfBits(access: LaneAccess): typeof multiply {
  const operation = access.find(["and", "xor"]);
  if (operation === undefined || !access.has("popc")) throw access.unsupported("it takes .and.popc or .xor.popc");
  if (operation === "and") {
    access.requires(80);
    return multiply;
  }
  return (a, b, c, { m, n, k }) =>
    Float64Array.from({ length: m * n }, (_, at) => {
      const [row, column] = [Math.floor(at / n), at % n];
      let sum = c[at]!;
      for (let j = 0; j < k; j++) if (a[row * k + j] !== b[j * n + column]) sum++;
      return sum;
    });
}

/** A product of a warp: result = a b + c. */
export function productOf(access: LaneAccess, held: readonly [Held, Held, Held, Held], shape: Shape, whole: boolean): Collective {
  const [result, left, right, sums] = held;
  const saturates = whole && access.has("satfinite");
  const times = left.type === "b1" ? productOfBits(access) : multiply;
  return wholeWarp(access, (warp) => {
    const product = times(readMatrix(warp, left), readMatrix(warp, right), readMatrix(warp, sums), shape);
    writeMatrix(warp, result, saturates ? saturated(product) : product);
  });
}

/** Sums of whole numbers within the range of s32. */
const saturated = (sums: Float64Array): Float64Array => sums.map((sum) => Math.min(Math.max(sum, -(2 ** 31)), 2 ** 31 - 1));

/** The state space of an address, as `resolve` takes it. */
export function spaceCode(access: LaneAccess): number {
  const word = access.find(/^(shared(::(cta|cluster))?|global)$/);
  return word === undefined ? 0 : word.startsWith("shared") ? 2 : 1;
}

export function wholeWarp(access: LaneAccess, run: (warp: Warp) => void): Collective {
  const all = (warp: Warp, mask: number): void => {
    if (mask !== -1) throw warp.error("warpDivergence", "a matrix instruction takes all 32 lanes", firstLane(mask), access.instruction);
    run(warp);
  };
  return { kind: "lanes", members: "all", run: all };
}

/** What an instruction of a whole warp says in any case. */
export function together(access: LaneAccess): void {
  if (!access.has("sync") || !access.has("aligned")) throw access.unsupported("it takes .sync.aligned");
}
