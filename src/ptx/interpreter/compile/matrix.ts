// Matrix instructions of a warp: mma.sync, wmma, ldmatrix, stmatrix, movmatrix. Products and sums are done in double and rounded once to the
// accumulator's type; a tensor core adds in another order and keeps fewer bits, so a GPU may differ in the last bits of a sum.
import { doubleFromBits, doubleHigh, doubleLow, singleBits, singleFromBits } from "../arithmetic/bits.js";
import { fromNumber, type HalfKind, toNumber } from "../arithmetic/half.js";
import type { Resolve } from "../run/access.js";
import type { Warp } from "../run/warp.js";
import type { PtxOperand } from "../types.js";
import { type Collective, firstLane } from "./collective.js";
import type { LaneAccess } from "./lane-access.js";
import type { Support } from "./support.js";

export type ElementType = "f16" | "bf16" | "tf32" | "f32" | "f64" | "s8" | "u8" | "s32";

export interface Shape {
  m: number;
  n: number;
  k: number;
}

/** Where register r, part p of lane l lies in a matrix: row and column. */
export type Layout = (lane: number, register: number, part: number) => [row: number, column: number];

const isByte = (type: ElementType): type is "s8" | "u8" => type === "s8" || type === "u8";

/** Elements of a register. */
const parts = (type: ElementType): number => (type === "f16" || type === "bf16" ? 2 : isByte(type) ? 4 : 1);

/** Reads and writes the elements of a fragment. */
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

  get(warp: Warp, lane: number, register: number, part: number): number {
    const read = this.reads[register]!;
    const word = read[0]!(warp, lane);
    if (this.type === "f64") return doubleFromBits(word, read[1]!(warp, lane));
    if (this.type === "s32") return word;
    if (this.type === "s8") return (word << (24 - 8 * part)) >> 24;
    if (this.type === "u8") return (word >>> (8 * part)) & 0xff;
    if (this.type === "f32") return singleFromBits(word);
    // The tensor core looks at the upper 19 bits of a tf32 operand only.
    if (this.type === "tf32") return singleFromBits(word & 0xffffe000);
    return toNumber(this.type as HalfKind, (word >>> (16 * part)) & 0xffff);
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

export function readMatrix(warp: Warp, fragment: Fragment, type: ElementType, layout: Layout, rows: number, columns: number): Float64Array {
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

export function writeMatrix(
  warp: Warp,
  fragment: Fragment,
  type: ElementType,
  layout: Layout,
  matrix: Float64Array,
  columns: number,
): void {
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

export function everyLane(warp: Warp, access: LaneAccess, mask: number): void {
  if (mask !== -1)
    throw warp.launch.error("warpDivergence", "a matrix instruction takes all 32 lanes", warp, firstLane(mask), access.instruction);
}

const byteShapes = ["m8n8k16", "m16n8k16", "m16n8k32"] as const;

/** What an instruction of a whole warp says in any case. */
export function together(access: LaneAccess): void {
  if (!access.has("sync") || !access.has("aligned")) throw access.unsupported("it takes .sync.aligned");
}

type Quadruple = [d: ElementType, a: ElementType, b: ElementType, c: ElementType];

/** Whether mma multiplies matrices of these types in a shape that has such factors. */
function multiplies([d, a, b, c]: Quadruple, { k }: Shape): boolean {
  if (isByte(a)) return isByte(b) && d === "s32" && c === "s32";
  if (a !== b) return false;
  if (a === "f16") return k >= 8 && (d === "f16" || d === "f32") && (c === "f16" || c === "f32");
  if (a === "f64") return d === "f64" && c === "f64";
  return d === "f32" && c === "f32" && (a === "bf16" ? k >= 8 : a === "tf32" && k <= 8);
}

/** mma.sync: the fragment layouts of the PTX ISA, 9.7.14.5. */
function mma(access: LaneAccess): Collective {
  together(access);
  const shape = shapeOf(access);
  const types = access.types() as ElementType[];
  const [dType, aType, bType, cType] = types;
  const shapes: readonly string[] =
    aType === undefined ? [] : isByte(aType) ? byteShapes : aType === "f64" ? ["m8n8k4"] : ["m16n8k4", "m16n8k8", "m16n8k16"];
  if (types.length !== 4 || !shapes.includes(`m${shape.m}n${shape.n}k${shape.k}`) || !multiplies(types as Quadruple, shape))
    throw access.unsupported(
      `mma is modelled for m16n8k4 and m16n8k8 tf32, m16n8k8 and m16n8k16 f16 and bf16, m8n8k4 f64, and ${byteShapes.join(", ")} s8 and u8`,
    );
  if (access.every(["row", "col"]).join(".") !== "row.col") throw access.unsupported("it takes .row.col");
  const width = parts(aType!);
  const saturates = isByte(aType!) && access.has("satfinite");
  const a: Layout = (lane, r, p) => [
    (lane >> 2) + 8 * (shape.m === 16 ? r & 1 : 0),
    width * (lane & 3) + p + 4 * width * (shape.m === 16 ? r >> 1 : r),
  ];
  const b: Layout = (lane, r, p) => [width * (lane & 3) + p + 4 * width * r, lane >> 2];
  const accumulator = (type: ElementType): Layout =>
    parts(type) === 2
      ? (lane, r, p) => [(lane >> 2) + 8 * r, 2 * (lane & 3) + p]
      : (lane, r) => [(lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)];
  const { m, n, k: depth } = shape;
  const registers = (elements: number, type: ElementType): number => elements / 32 / parts(type);
  const fragments = [
    new Fragment(access, access.operand(1), aType!, registers(m * depth, aType!), false),
    new Fragment(access, access.operand(2), bType!, registers(depth * n, bType!), false),
    new Fragment(access, access.operand(3), cType!, registers(m * n, cType!), false),
  ];
  const result = new Fragment(access, access.operand(0), dType!, registers(m * n, dType!), true);
  const run = (warp: Warp, mask: number): void => {
    everyLane(warp, access, mask);
    const left = readMatrix(warp, fragments[0]!, aType!, a, shape.m, shape.k);
    const right = readMatrix(warp, fragments[1]!, bType!, b, shape.k, shape.n);
    const sum = readMatrix(warp, fragments[2]!, cType!, accumulator(cType!), shape.m, shape.n);
    const product = multiply(left, right, sum, shape);
    if (saturates) for (const [k, value] of product.entries()) product[k] = Math.min(Math.max(value, -(2 ** 31)), 2 ** 31 - 1);
    writeMatrix(warp, result, dType!, accumulator(dType!), product, shape.n);
  };
  return { kind: "lanes", members: "all", run };
}

export interface Heap {
  G16: Uint16Array;
  G32: Int32Array;
  GD: Float64Array;
  resolve: Resolve;
}

function spaceCode(access: LaneAccess): number {
  const word = access.find(/^(shared(::(cta|cluster))?|global)$/);
  return word === undefined ? 0 : word.startsWith("shared") ? 2 : 1;
}

/**
 * wmma fragments have no layout that a program may know; here element e of a matrix, counted row by row, is element e mod q of lane e / q,
 * where q is a lane's share.
 */
function opaqueLayout(elements: number, columns: number, perRegister: number): Layout {
  const share = elements / 32;
  return (lane, register, part) => {
    const within = register * perRegister + part;
    if (within >= share) return [Infinity, Infinity];
    const element = lane * share + within;
    return [Math.floor(element / columns), element % columns];
  };
}

function wmmaSize(which: string, { m, n, k }: Shape): [rows: number, columns: number] {
  return which === "a" ? [m, k] : which === "b" ? [k, n] : [m, n];
}

/** Registers of a fragment. Factors of binary16 lie in twice as many as they would fill. */
function wmmaRegisters(which: string, shape: Shape, type: ElementType): number {
  const [rows, columns] = wmmaSize(which, shape);
  return type === "f16" && (which === "a" || which === "b") ? 8 : (rows * columns) / 32 / parts(type);
}

function wmmaMove(access: LaneAccess, heap: Heap, stores: boolean): Collective {
  const which = access.find(stores ? ["d"] : ["a", "b", "c"]);
  if (which === undefined) throw access.unsupported("which matrix?");
  const shape = shapeOf(access);
  const type = access.type(["f16", "bf16", "tf32", "f32", "f64", "s32"]) as ElementType;
  const [rows, columns] = wmmaSize(which, shape);
  const layoutName = access.find(["row", "col"]);
  if (layoutName === undefined) throw access.unsupported("it takes .row or .col");
  const byRow = layoutName === "row";
  const { low, high, offset } = access.address(access.operand(stores ? 0 : 1));
  const fragment = new Fragment(access, access.operand(stores ? 1 : 0), type, wmmaRegisters(which, shape, type), !stores);
  const distance = access.optional(2);
  const stride = distance === undefined ? () => (byRow ? columns : rows) : access.read(distance, 0, "u32");
  const bytes = type === "f64" ? 8 : parts(type) === 2 ? 2 : 4;
  const layout = opaqueLayout(rows * columns, columns, parts(type));
  const space = spaceCode(access);
  const site = (warp: Warp): number => warp.launch.kernel.sites.indexOf(access.instruction);
  const place = (warp: Warp, row: number, column: number, at: number): number => {
    const element = byRow ? row * stride(warp, 0) + column : column * stride(warp, 0) + row;
    return heap.resolve(warp, 0, at, space, high(warp, 0), low(warp, 0), offset + element * bytes, bytes, stores ? 1 : 0);
  };
  const run = (warp: Warp, mask: number): void => {
    everyLane(warp, access, mask);
    const at = site(warp);
    const matrix = stores ? readMatrix(warp, fragment, type, layout, rows, columns) : new Float64Array(rows * columns);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const index = place(warp, row, column, at);
        const element = row * columns + column;
        if (stores) store(heap, index, matrix[element]!, type);
        else matrix[element] = load(heap, index, type);
      }
    }
    if (!stores) writeMatrix(warp, fragment, type, layout, matrix, columns);
    else warp.launch.progress++;
  };
  return { kind: "lanes", members: "all", run };
}

function load(heap: Heap, index: number, type: ElementType): number {
  if (type === "f64") return heap.GD[index >> 3]!;
  if (type === "f16" || type === "bf16") return toNumber(type, heap.G16[index >> 1]!);
  const word = heap.G32[index >> 2]!;
  return type === "s32" ? word : singleFromBits(word);
}

function store(heap: Heap, index: number, value: number, type: ElementType): void {
  if (type === "f64") heap.GD[index >> 3] = value;
  else if (type === "f16" || type === "bf16") heap.G16[index >> 1] = fromNumber(type as HalfKind, value);
  else heap.G32[index >> 2] = type === "s32" ? value | 0 : singleBits(Math.fround(value));
}

function wmmaMultiply(access: LaneAccess): Collective {
  const shape = shapeOf(access);
  // Where an element lies in a fragment does not depend on how its matrix was stored.
  if (access.every(["row", "col"]).length !== 2) throw access.unsupported("it takes two layouts, .row or .col");
  const types = access.types() as ElementType[];
  if (types.some((type) => !["f16", "bf16", "tf32", "f32", "f64"].includes(type)))
    throw access.unsupported("these element types are not modelled");
  if (types.includes("f64")) access.skip(["rn"]);
  const [dType, aType, bType, cType] = types.length === 2 ? [types[0]!, "f16" as const, "f16" as const, types[1]!] : types;
  if (dType === undefined || aType === undefined || bType === undefined || cType === undefined)
    throw access.unsupported("these element types are not modelled");
  const layout = (which: string, type: ElementType): Layout => {
    const [rows, columns] = wmmaSize(which, shape);
    return opaqueLayout(rows * columns, columns, parts(type));
  };
  const fragment = (index: number, which: string, type: ElementType): Fragment =>
    new Fragment(access, access.operand(index), type, wmmaRegisters(which, shape, type), index === 0);
  const [d, a, b, c] = [fragment(0, "d", dType), fragment(1, "a", aType), fragment(2, "b", bType), fragment(3, "c", cType)];
  const run = (warp: Warp, mask: number): void => {
    everyLane(warp, access, mask);
    const left = readMatrix(warp, a, aType, layout("a", aType), shape.m, shape.k);
    const right = readMatrix(warp, b, bType, layout("b", bType), shape.k, shape.n);
    const sum = readMatrix(warp, c, cType, layout("c", cType), shape.m, shape.n);
    writeMatrix(warp, d, dType, layout("d", dType), multiply(left, right, sum, shape), shape.n);
  };
  return { kind: "lanes", members: "all", run };
}

/** ldmatrix and stmatrix: 8 x 8 matrices of 16 bits; lane 8 i + r gives the address of row r of matrix i. */
function rowMatrices(access: LaneAccess, heap: Heap, stores: boolean): Collective {
  together(access);
  if (!access.has("m8n8") || !access.has("b16")) throw access.unsupported("only 8 x 8 matrices of b16 are modelled");
  const number = access.find(["x1", "x2", "x4"]);
  if (number === undefined) throw access.unsupported("it takes .x1, .x2 or .x4");
  const count = Number(number.slice(1));
  const transposed = access.has("trans");
  const { low, high, offset } = access.address(access.operand(stores ? 0 : 1));
  const registers = access.list(access.operand(stores ? 1 : 0));
  if (registers.length !== count) throw access.unsupported(`${registers.length} registers; .x${count} takes ${count}`);
  const reads = stores ? registers.map((each) => access.read(each)) : [];
  const writes = stores ? [] : registers.map((each) => access.write(each));
  const space = spaceCode(access);
  const run = (warp: Warp, mask: number): void => {
    everyLane(warp, access, mask);
    const site = warp.launch.kernel.sites.indexOf(access.instruction);
    for (let i = 0; i < count; i++) {
      const rows: number[] = [];
      for (let r = 0; r < 8; r++) {
        const lane = 8 * i + r;
        rows.push(heap.resolve(warp, lane, site, space, high(warp, lane), low(warp, lane), offset, 16, stores ? 1 : 0));
      }
      for (let lane = 0; lane < 32; lane++) {
        const [row, column] = [lane >> 2, 2 * (lane & 3)];
        const at = (k: number): number => (transposed ? (rows[column + k]! >> 1) + row : (rows[row]! >> 1) + column + k);
        if (stores) {
          const word = reads[i]!(warp, lane);
          heap.G16[at(0)] = word;
          heap.G16[at(1)] = word >>> 16;
        } else writes[i]!(warp, lane, heap.G16[at(0)]! | (heap.G16[at(1)]! << 16));
      }
    }
    if (stores) warp.launch.progress++;
  };
  return { kind: "lanes", members: "all", run };
}

/** movmatrix.trans: an 8 x 8 matrix of 16 bits held by the warp, transposed. */
function transposeMatrix(access: LaneAccess): Collective {
  together(access);
  if (!access.has("m8n8") || !access.has("trans") || !access.has("b16")) throw access.unsupported("it takes .m8n8.trans.b16");
  const read = access.read(access.operand(1));
  const write = access.write(access.operand(0));
  const run = (warp: Warp, mask: number): void => {
    everyLane(warp, access, mask);
    const element = (row: number, column: number): number => (read(warp, 4 * row + (column >> 1)) >>> (16 * (column & 1))) & 0xffff;
    const words = Array.from(
      { length: 32 },
      (_, lane) => element(2 * (lane & 3), lane >> 2) | (element(2 * (lane & 3) + 1, lane >> 2) << 16),
    );
    for (let lane = 0; lane < 32; lane++) write(warp, lane, words[lane]!);
  };
  return { kind: "lanes", members: "all", run };
}

export function compileMatrix(access: LaneAccess, support: Support): Collective {
  const heap = support as unknown as Heap;
  const { opcode } = access.instruction;
  if (opcode === "mma") return mma(access);
  if (opcode === "ldmatrix" || opcode === "stmatrix") return rowMatrices(access, heap, opcode === "stmatrix");
  if (opcode === "movmatrix") return transposeMatrix(access);
  if (opcode === "wmma") {
    together(access);
    const what = access.find(["load", "store", "mma"]);
    if (what === "load" || what === "store") return wmmaMove(access, heap, what === "store");
    if (what === "mma") return wmmaMultiply(access);
  }
  throw access.unsupported("this instruction is not modelled");
}
