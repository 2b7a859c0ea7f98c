// Matrix instructions of a warp: mma.sync, wmma, ldmatrix, stmatrix, movmatrix.

import { windows } from "../run/memory.js";
import type { Collective } from "./collective.js";
import {
  type ElementType,
  elementBits,
  Fragment,
  type Heap,
  type Held,
  isWholeFactor,
  type Layout,
  parts,
  productOf,
  type Shape,
  shapeOf,
  spaceCode,
  together,
  typesOf,
  wholeWarp,
} from "./fragment.js";
import type { LaneAccess } from "./lane-access.js";

const byteFloatShapes = { m16n8k16: 89, m16n8k32: 89 };
const byteShapes = { m8n8k16: 75, m16n8k16: 80, m16n8k32: 80 };
const nibbleShapes = { m8n8k32: 75, m16n8k32: 80, m16n8k64: 80 };

/** Shapes of a product by its first factor's type, with the first target of each. */
const shapes: Readonly<Partial<Record<ElementType, Readonly<Record<string, number>>>>> = {
  f16: { m16n8k8: 75, m16n8k16: 80 },
  bf16: { m16n8k8: 80, m16n8k16: 80 },
  tf32: { m16n8k4: 80, m16n8k8: 80 },
  f64: { m8n8k4: 80, m16n8k4: 90, m16n8k8: 90, m16n8k16: 90 },
  e4m3: byteFloatShapes,
  e5m2: byteFloatShapes,
  s8: byteShapes,
  u8: byteShapes,
  s4: nibbleShapes,
  u4: nibbleShapes,
  b1: { m8n8k128: 75, m16n8k128: 80, m16n8k256: 80 },
};

type Quadruple = [d: ElementType, a: ElementType, b: ElementType, c: ElementType];

/** Whether there is a product of factors of types a and b with sums of types c and d. */
function multiplies([d, a, b, c]: Quadruple): boolean {
  const sums: readonly ElementType[] =
    a === "f64" ? ["f64"] : a === "b1" || isWholeFactor(a) ? ["s32"] : elementBits[a] === 8 || a === "f16" ? ["f16", "f32"] : ["f32"];
  // Whole numbers may differ in sign, and 8-bit floats in kind.
  const alike = a === b || (elementBits[a] === elementBits[b] && elementBits[a] <= 8 && isWholeFactor(a) === isWholeFactor(b));
  return alike && c === d && sums.includes(d);
}

/** mma.sync: the fragment layouts of the PTX ISA, 9.7.14.5. */
function mma(access: LaneAccess): Collective {
  together(access);
  const shape = shapeOf(access);
  const { m, n, k: depth } = shape;
  const types = typesOf(access);
  const [dType, aType, bType, cType] = types as Quadruple;
  const target = shapes[aType]?.[`m${m}n${n}k${depth}`];
  if (types.length !== 4 || target === undefined || !multiplies(types as Quadruple))
    throw access.unsupported(
      `mma is modelled for ${Object.entries(shapes)
        .map(([type, each]) => `${type} (${Object.keys(each).join(", ")})`)
        .join(", ")}`,
    );
  access.requires(target);
  if (access.every(["row", "col"]).join(".") !== "row.col") throw access.unsupported("it takes .row.col");
  const width = parts(aType);
  const a: Layout = (lane, r, p) => [
    (lane >> 2) + 8 * (m === 16 ? r & 1 : 0),
    width * (lane & 3) + p + 4 * width * (m === 16 ? r >> 1 : r),
  ];
  const b: Layout = (lane, r, p) => [width * (lane & 3) + p + 4 * width * r, lane >> 2];
  const accumulator = (type: ElementType): Layout =>
    parts(type) === 2
      ? (lane, r, p) => [(lane >> 2) + 8 * r, 2 * (lane & 3) + p]
      : (lane, r) => [(lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)];
  const held = (index: number, type: ElementType, layout: Layout, rows: number, columns: number): Held => {
    const fragment = new Fragment(access, access.operand(index), type, (rows * columns) / 32 / parts(type), index === 0);
    return { fragment, type, layout, rows, columns };
  };
  const [left, right, sums] = [held(1, aType, a, m, depth), held(2, bType, b, depth, n), held(3, cType, accumulator(cType), m, n)];
  return productOf(access, [held(0, dType, accumulator(dType), m, n), left, right, sums], shape, isWholeFactor(aType));
}

/** ldmatrix, stmatrix: 8 x 8 matrices of b16; lane 8 i + r has the address of row r of i. */
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
  return wholeWarp(access, (warp) => {
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
  });
}

/** movmatrix.trans: an 8 x 8 matrix of 16 bits held by the warp, transposed. */
function transposeMatrix(access: LaneAccess): Collective {
  together(access);
  if (!access.has("m8n8") || !access.has("trans") || !access.has("b16")) throw access.unsupported("it takes .m8n8.trans.b16");
  const read = access.read(access.operand(1));
  const write = access.write(access.operand(0));
  return wholeWarp(access, (warp) => {
    const element = (row: number, column: number): number => (read(warp, 4 * row + (column >> 1)) >>> (16 * (column & 1))) & 0xffff;
    const words = Array.from(
      { length: 32 },
      (_, lane) => element(2 * (lane & 3), lane >> 2) | (element(2 * (lane & 3) + 1, lane >> 2) << 16),
    );
    for (let lane = 0; lane < 32; lane++) write(warp, lane, words[lane]!);
  });
}

// wmma: matrices that a warp loads, multiplies and stores without knowing which lane holds which
// element (PTX ISA 9.0, section 9.7.14.4).

const wide = ["m16n16k16", "m32n8k16", "m8n32k16"];

/** By the type of the factors: the shapes, the types of the sums, and the first target. */
const products: Readonly<Partial<Record<ElementType, { shapes: readonly string[]; sums: readonly ElementType[]; target: number }>>> = {
  f16: { shapes: wide, sums: ["f16", "f32"], target: 70 },
  bf16: { shapes: wide, sums: ["f32"], target: 80 },
  tf32: { shapes: ["m16n16k8"], sums: ["f32"], target: 80 },
  f64: { shapes: ["m8n8k4"], sums: ["f64"], target: 80 },
  s8: { shapes: wide, sums: ["s32"], target: 72 },
  u8: { shapes: wide, sums: ["s32"], target: 72 },
  s4: { shapes: ["m8n8k32"], sums: ["s32"], target: 75 },
  u4: { shapes: ["m8n8k32"], sums: ["s32"], target: 75 },
  b1: { shapes: ["m8n8k128"], sums: ["s32"], target: 75 },
};

type Which = "a" | "b" | "c" | "d";

const sizeOf = (which: Which, { m, n, k }: Shape): [rows: number, columns: number] =>
  which === "a" ? [m, k] : which === "b" ? [k, n] : [m, n];

/** Registers of a fragment. Factors of binary16 lie in twice as many as they would fill. */
function registersOf(which: Which, shape: Shape, type: ElementType): number {
  const [rows, columns] = sizeOf(which, shape);
  return type === "f16" && (which === "a" || which === "b") ? 8 : (rows * columns) / 32 / parts(type);
}

/**
 * Where the elements lie, which a program may not depend on: here element e of a matrix, counted
 * along its rows, or its columns if it is b, is element e mod q of lane e / q, and q is a lane's
 * share.
 */
function layoutOf(which: Which, shape: Shape, type: ElementType): Layout {
  const [rows, columns] = sizeOf(which, shape);
  const [share, length] = [(rows * columns) / 32, which === "b" ? rows : columns];
  return (lane, register, part) => {
    const within = register * parts(type) + part;
    if (within >= share) return [Infinity, Infinity];
    const element = lane * share + within;
    const [line, along] = [Math.floor(element / length), element % length];
    return which === "b" ? [along, line] : [line, along];
  };
}

/** Factors of less than a byte lie only by rows of a and by columns of b. */
function refuseLayout(access: LaneAccess, type: ElementType, layouts: Readonly<Partial<Record<Which, string>>>): void {
  if (elementBits[type] < 8 && (layouts.a === "col" || layouts.b === "row"))
    throw access.unsupported(`a factor of .${type} takes .row for a and .col for b`);
}

const shapeName = ({ m, n, k }: Shape): string => `m${m}n${n}k${k}`;

function moveMatrix(access: LaneAccess, heap: Heap, stores: boolean): Collective {
  const which = access.find(stores ? ["d"] : ["a", "b", "c"]) as Which | undefined;
  if (which === undefined) throw access.unsupported(stores ? "it stores .d" : "it loads .a, .b or .c");
  const shape = shapeOf(access);
  const [type, ...more] = typesOf(access);
  const factor = which === "a" || which === "b";
  const fitting = Object.entries(products).filter(
    ([name, { shapes, sums }]) => shapes.includes(shapeName(shape)) && (factor ? name === type : type !== undefined && sums.includes(type)),
  );
  if (type === undefined || more.length > 0 || fitting.length === 0) throw access.unsupported("there is no such matrix of this type");
  access.requires(Math.min(...fitting.map(([, { target }]) => target)));
  const layout = access.either("row", "col");
  refuseLayout(access, type, { [which]: layout });
  const byRow = layout === "row";
  const [rows, columns] = sizeOf(which, shape);
  const { low, high, offset } = access.address(access.operand(stores ? 0 : 1));
  const fragment = new Fragment(access, access.operand(stores ? 1 : 0), type, registersOf(which, shape, type), !stores);
  const distance = access.optional(2);
  const stride = distance === undefined ? () => (byRow ? columns : rows) : access.read(distance, 0, "u32");
  const bits = elementBits[type];
  // Elements of less than a byte come by the word, which is a register.
  const bytes = bits < 8 ? 4 : bits / 8;
  const step = bits < 8 ? 32 / bits : 1;
  const elementAt = layoutOf(which, shape, type);
  const space = spaceCode(access);
  return wholeWarp(access, (warp) => {
    const { globalRaces, kernel } = warp.launch;
    const site = kernel.sites.indexOf(access.instruction);
    const [top, bottom, line] = [high(warp, 0), low(warp, 0), stride(warp, 0)];
    for (let lane = 0; lane < 32; lane++)
      for (let register = 0; register < fragment.count; register++) {
        let word = stores ? fragment.word(warp, lane, register) : 0;
        for (let part = 0; part < parts(type); part += step) {
          const [row, column] = elementAt(lane, register, part);
          if (row >= rows) continue;
          const at = offset + ((byRow ? row * line + column : column * line + row) * bits) / 8;
          const found = heap.resolve(warp, 0, site, space, top, bottom, at, bytes, stores ? 1 : 0);
          if (space !== 2 && top === windows.global) globalRaces?.touch(warp, 0, site, found, bytes, stores);
          if (stores) put(heap, found, bytes, word >>> (bits * part));
          else word |= get(heap, found, bytes) << (bits * part);
          if (bytes === 8 && stores) heap.G32[(found >> 2) + 1] = fragment.word(warp, lane, register, 1);
          else if (bytes === 8) fragment.setWord(warp, lane, register, heap.G32[(found >> 2) + 1]!, 1);
        }
        if (!stores) fragment.setWord(warp, lane, register, word);
      }
    if (stores) warp.launch.progress++;
  });
}

/** The low word of what lies at an offset. */
const get = ({ G8, G16, G32 }: Heap, offset: number, bytes: number): number =>
  bytes === 1 ? G8[offset]! : bytes === 2 ? G16[offset >> 1]! : G32[offset >> 2]!;

function put({ G8, G16, G32 }: Heap, offset: number, bytes: number, word: number): void {
  if (bytes === 1) G8[offset] = word;
  else if (bytes === 2) G16[offset >> 1] = word;
  else G32[offset >> 2] = word;
}

function product(access: LaneAccess): Collective {
  const shape = shapeOf(access);
  const types = typesOf(access);
  const [dType, aType, bType, cType] = types.length === 2 ? ([types[0]!, "f16", "f16", types[1]!] as const) : types;
  const form = aType && products[aType];
  if (dType === undefined || cType === undefined || types.length > 4 || form === undefined || aType !== bType)
    throw access.unsupported("there is no such product of these types");
  if (!form.shapes.includes(shapeName(shape)) || ![cType, dType].every((type) => form.sums.includes(type)))
    throw access.unsupported(`.${aType} takes .${form.shapes.join(", .")} and sums of .${form.sums.join(" or .")}`);
  access.requires(form.target);
  // Where an element lies in a fragment does not depend on how its matrix was stored.
  const [a, b, ...more] = access.every(["row", "col"]);
  if (b === undefined || more.length > 0) throw access.unsupported("it takes two layouts, .row or .col");
  refuseLayout(access, aType!, { a: a!, b });
  if (aType === "f64") access.skip(["rn"]);
  const held = (index: number, which: Which, type: ElementType): Held => {
    const [rows, columns] = sizeOf(which, shape);
    const fragment = new Fragment(access, access.operand(index), type, registersOf(which, shape, type), index === 0);
    return { fragment, type, layout: layoutOf(which, shape, type), rows, columns };
  };
  const result = held(0, "d", dType);
  const operands = [held(1, "a", aType!), held(2, "b", aType!), held(3, "c", cType)] as const;
  return productOf(access, [result, ...operands], shape, isWholeFactor(aType!));
}

function wmma(access: LaneAccess, heap: Heap): Collective {
  together(access);
  const what = access.find(["load", "store", "mma"]);
  if (what === undefined) throw access.unsupported("it is .load, .store or .mma");
  return what === "mma" ? product(access) : moveMatrix(access, heap, what === "store");
}

export const matrixForms = {
  mma,
  wmma,
  ldmatrix: (access: LaneAccess, heap: Heap) => rowMatrices(access, heap, false),
  stmatrix: (access: LaneAccess, heap: Heap) => rowMatrices(access, heap, true),
  movmatrix: transposeMatrix,
};
