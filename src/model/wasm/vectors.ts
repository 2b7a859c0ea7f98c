// What goes before the loops over a row of W in exported programs: the same sums, of as many
// elements at once as a vector of 128 bits has. The loop in C does the elements that are left.
import { i32, local, op, setLocal } from "./compiler/code.js";
import type { CFunction } from "./compiler/declarations.js";
import type { Prologue } from "./compiler/functions.js";
import { type CType, sizeOf } from "./compiler/types.js";

const simd = {
  load: [0xfd, 0x00, 0, 0],
  load8BytesSigned: [0xfd, 0x01, 0, 0],
  load4Halves: [0xfd, 0x04, 0, 0],
  load4Bytes: [0xfd, 0x5c, 0, 0],
  widenHalves: [0xfd, 0xa9, 0x01],
  toDoubles: [0xfd, 0x5f],
  store: [0xfd, 0x0b, 0, 0],
  lane: [0xfd, 0x1b],
  shiftLeft: [0xfd, 0xab, 0x01],
  addWholes: [0xfd, 0xae, 0x01],
  dot: [0xfd, 0xba, 0x01],
  single: { add: [0xfd, 0xe4, 0x01], multiply: [0xfd, 0xe6, 0x01] },
  double: { add: [0xfd, 0xf0, 0x01], multiply: [0xfd, 0xf2, 0x01] },
} as const;

const [lessOrEqual, and] = [0x4c, 0x71] as const;

/** Bytes of what a parameter points to. */
const bytesAt = (type: CType): number => (type.kind === "pointer" ? sizeOf(type.to) : 0);

/** The address of element k of an array in a local. */
const element = (array: number, k: number, bytes: number) => [...local(array), ...local(k), ...i32(bytes), op.multiply, op.add];

/** Does `body` for so many elements from k on, as long as there are that many up to `count`. */
const inLanes = (k: number, count: number, lanes: number, body: Prologue["code"]) => [
  ...[op.loop, op.empty, ...local(k), ...i32(lanes), op.add, ...local(count), lessOrEqual, op.if, op.empty],
  ...[...body, ...local(k), ...i32(lanes), op.add, ...setLocal(k), op.br, 1, op.end, op.end],
];

/** add_products(partial, w, x, k, count): rule 1, whose 32 partial sums are taken in order. */
function products({ parameters }: CFunction): Prologue {
  const [partial, w, x, k, count, there] = [0, 1, 2, 3, 4, 5];
  const [wide, bytes] = [bytesAt(parameters[w]!.type), bytesAt(parameters[x]!.type)];
  const { add, multiply } = bytes === 4 ? simd.single : simd.double;
  // Weights of 16 bits are the upper halves of binary32 numbers.
  const halves = bytes === 4 ? simd.load4Halves : [...simd.load4Bytes, ...simd.widenHalves];
  const singles = [...halves, ...i32(16), ...simd.shiftLeft];
  const weights = wide !== 2 ? simd.load : bytes === 4 ? singles : [...singles, ...simd.toDoubles];
  const place = [...local(partial), ...local(k), ...i32(31), and, ...i32(bytes), op.multiply, op.add];
  const body = [
    ...[...place, op.teeLocal, there, ...local(there), ...simd.load],
    ...[...element(w, k, wide), ...weights, ...element(x, k, bytes), ...simd.load],
    ...[...multiply, ...add, ...simd.store],
  ];
  return { locals: [0x7f], code: inLanes(k, count, 16 / bytes, body) };
}

/** dot(w, x, sum, k, count) of whole numbers, whose order is free. */
function dot({ parameters }: CFunction): Prologue {
  const [w, x, sum, k, count, sums] = [0, 1, 2, 3, 4, 5];
  const wide = bytesAt(parameters[w]!.type);
  const body = [
    ...[...local(sums), ...element(w, k, wide), ...(wide === 1 ? simd.load8BytesSigned : simd.load)],
    ...[...element(x, k, 2), ...simd.load, ...simd.dot, ...simd.addWholes, ...setLocal(sums)],
  ];
  const lanes = [0, 1, 2, 3].flatMap((lane) => [...local(sums), ...simd.lane, lane, op.add]);
  return { locals: [0x7b], code: [...inLanes(k, count, 8, body), ...local(sum), ...lanes, ...setLocal(sum)] };
}

/** By the names of the functions in C. */
export const vectors: ReadonlyMap<string, (itself: CFunction) => Prologue> = new Map([
  ["add_products", products],
  ["add_orthogonal", products],
  ["dot", dot],
]);
