// Matrix instructions of a warp: mma.sync, wmma, ldmatrix, stmatrix, movmatrix.
import type { Warp } from "../run/warp.js";
import type { Collective } from "./collective.js";
import {
  type ElementType,
  elementBits,
  everyLane,
  Fragment,
  type Heap,
  isWholeFactor,
  type Layout,
  multiply,
  parts,
  productOfBits,
  readMatrix,
  saturated,
  shapeOf,
  spaceCode,
  together,
  typesOf,
  writeMatrix,
} from "./fragment.js";
import type { LaneAccess } from "./lane-access.js";
import type { Support } from "./support.js";
import { wmma } from "./wmma.js";

const byteFloatShapes = { m16n8k16: 89, m16n8k32: 89 };
const byteShapes = { m8n8k16: 75, m16n8k16: 80, m16n8k32: 80 };
const nibbleShapes = { m8n8k32: 75, m16n8k32: 80, m16n8k64: 80 };

/**
 * The shapes of a product by the type of its first factor, each with the first target that has it.
 */
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
  const saturates = isWholeFactor(aType) && access.has("satfinite");
  const times = aType === "b1" ? productOfBits(access) : multiply;
  const a: Layout = (lane, r, p) => [
    (lane >> 2) + 8 * (m === 16 ? r & 1 : 0),
    width * (lane & 3) + p + 4 * width * (m === 16 ? r >> 1 : r),
  ];
  const b: Layout = (lane, r, p) => [width * (lane & 3) + p + 4 * width * r, lane >> 2];
  const accumulator = (type: ElementType): Layout =>
    parts(type) === 2
      ? (lane, r, p) => [(lane >> 2) + 8 * r, 2 * (lane & 3) + p]
      : (lane, r) => [(lane >> 2) + 8 * (r >> 1), 2 * (lane & 3) + (r & 1)];
  const fragment = (index: number, type: ElementType, elements: number): Fragment =>
    new Fragment(access, access.operand(index), type, elements / 32 / parts(type), index === 0);
  const [left, right, sums] = [fragment(1, aType, m * depth), fragment(2, bType, depth * n), fragment(3, cType, m * n)];
  const result = fragment(0, dType, m * n);
  const run = (warp: Warp, mask: number): void => {
    everyLane(warp, access, mask);
    const product = times(
      readMatrix(warp, left, aType, a, m, depth),
      readMatrix(warp, right, bType, b, depth, n),
      readMatrix(warp, sums, cType, accumulator(cType), m, n),
      shape,
    );
    writeMatrix(warp, result, dType, accumulator(dType), saturates ? saturated(product) : product, n);
  };
  return { kind: "lanes", members: "all", run };
}

/**
 * ldmatrix and stmatrix: 8 x 8 matrices of 16 bits; lane 8 i + r gives the address of row r of
 * matrix i.
 */
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
  if (opcode === "wmma") return wmma(access, heap);
  if (opcode === "ldmatrix" || opcode === "stmatrix") return rowMatrices(access, heap, opcode === "stmatrix");
  if (opcode === "movmatrix") return transposeMatrix(access);
  throw access.unsupported("this instruction is not modelled");
}
