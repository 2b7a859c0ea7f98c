// Matrix products of a warp as kernels, with what they must give by the definition of the product:
// the fragment layouts of mma.sync as the PTX ISA 9.0 describes them (9.7.14.5), and wmma by what
// it loads and stores. Values are so small that sums are exact in any order, so a GPU gives the
// same.
import { halfBits } from "../../packages/core/src/half.js";
import { words } from "./device.js";
import { meaning } from "./float8-reference.js";

export type FactorType = "e4m3" | "e5m2" | "f16" | "s8" | "u8" | "s4" | "u4" | "b1";
export type SumType = "f32" | "f16" | "s32";

export interface MatrixCase {
  name: string;
  /** The body of a kernel of pointers %a, %b, %c, %d and lane %l. */
  code: string;
  a: Uint32Array;
  b: Uint32Array;
  c: Uint32Array;
  /** What is at %d before, and after. */
  d: Uint32Array;
  expected: Uint32Array;
}

const bitsOf: Readonly<Record<FactorType, number>> = { e4m3: 8, e5m2: 8, f16: 16, s8: 8, u8: 8, s4: 4, u4: 4, b1: 1 };
const range = (count: number): number[] => Array.from({ length: count }, (_, k) => k);
const list = (name: string, count: number): string => `{${range(count).map((k) => `%${name}${k}`)}}`;

function halfNumber(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
}

/** The bits of -4, -3.5, ..., 4, whose products sum up without rounding. */
const small = (["e4m3", "e5m2", "f16"] as const).map((type) => {
  const value = (bits: number): number => (type === "f16" ? halfNumber(bits) : meaning(type, bits));
  const found = range(2 ** bitsOf[type]).filter((bits) => Math.abs(value(bits)) <= 4 && Number.isInteger(2 * value(bits)));
  return [type as FactorType, found] as const;
});
const smallOf = new Map(small);

/** Random elements of a type; floats are small. */
function factor(type: FactorType, count: number, next: () => number): Uint32Array {
  const data = Uint32Array.from({ length: Math.ceil((count * bitsOf[type]) / 32) }, next);
  const among = smallOf.get(type);
  if (among === undefined) return data;
  const pick = (): number => among[(next() >>> 0) % among.length]!;
  return data.map(() => range(32 / bitsOf[type]).reduce((word, k) => word | (pick() << (bitsOf[type] * k)), 0));
}

/** Element k of packed data. */
function element(type: FactorType, data: Uint32Array, k: number): number {
  const bits = bitsOf[type];
  const field = Math.floor(data[Math.floor((k * bits) / 32)]! / 2 ** ((k * bits) % 32)) % 2 ** bits;
  if (type === "f16") return halfNumber(field);
  if (type === "e4m3" || type === "e5m2") return meaning(type, field);
  return type.startsWith("s") && field >= 2 ** (bits - 1) ? field - 2 ** bits : field;
}

/** How a sum is made: saturated or not, and of bits by what. */
export interface How {
  saturates?: boolean;
  bits?: "and" | "xor";
}

type Reader = (row: number, column: number) => number;

/** An element of a product as bits of its type. */
function sumBits(
  type: SumType,
  { saturates, bits }: How,
  depth: number,
  a: Reader,
  b: Reader,
  row: number,
  column: number,
  start: number,
): number {
  let sum = start;
  for (let j = 0; j < depth; j++) {
    const [x, y] = [a(row, j), b(j, column)];
    sum += bits === "xor" ? (x + y) % 2 : x * y;
  }
  if (type === "f16") return halfBits(sum);
  if (type === "f32") return new Uint32Array(Float32Array.of(sum).buffer)[0]!;
  return Number(BigInt.asUintN(32, BigInt(saturates ? Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, sum)) : sum)));
}

/** Sums to begin with, as bits: numbers near the ends of s32 if they may wrap or saturate. */
function sums(type: SumType, count: number, next: () => number): { bits: Uint32Array; value: (k: number) => number } {
  const whole = range(count).map((k) =>
    type !== "s32" ? ((next() >>> 0) % 33) - 16 : k % 3 === 0 ? next() : k % 3 === 1 ? 2 ** 31 - 1 : -(2 ** 31),
  );
  const bits = whole.map((value) =>
    type === "s32" ? value : type === "f32" ? new Int32Array(Float32Array.of(value).buffer)[0]! : halfBits(value),
  );
  return { bits: Uint32Array.from(bits), value: (k) => whole[k]! };
}

/** Pairs of binary16 in words, or the words as they are. */
const packed = (type: SumType, bits: Uint32Array): Uint32Array =>
  type === "f16" ? Uint32Array.from({ length: bits.length / 2 }, (_, k) => bits[2 * k]! | (bits[2 * k + 1]! << 16)) : bits;

const registers = (name: string, type: string, count: number): string => `.reg .${type === "f32" ? "f32" : "b32"} %${name}<${count}>;`;
const howText = ({ saturates, bits }: How): [satfinite: string, operation: string] => [
  saturates ? ".satfinite" : "",
  bits ? `.${bits}.popc` : "",
];

/** mma.sync.m[m]n8k[depth]: a lane's elements follow one another in its registers. */
export function mmaCase(m: 8 | 16, depth: number, types: readonly [FactorType, FactorType], sumType: SumType, how: How = {}): MatrixCase {
  const [satfinite, operation] = howText(how);
  const each = 32 / bitsOf[types[0]];
  const [ra, rb] = [(m * depth) / 32 / each, (8 * depth) / 32 / each];
  const rc = m / 4 / (sumType === "f16" ? 2 : 1);
  const next = words(m + depth + types[0].length * 3 + sumType.length);
  const [a, b] = [factor(types[0], m * depth, next), factor(types[1], 8 * depth, next)];
  const c = sums(sumType, 8 * m, next);
  const [A, B] = [new Map<string, number>(), new Map<string, number>()];
  const at = (row: number, column: number): string => `${row},${column}`;
  for (const lane of range(32)) {
    const [group, member] = [lane >> 2, lane & 3];
    for (const i of range(ra * each)) {
      const register = Math.floor(i / each);
      // Of 16 rows, registers alternate between the upper and the lower eight; the second pair is
      // the second half of the depth, as the second of 8 rows.
      const row = m === 16 && register % 2 === 1 ? group + 8 : group;
      const half = m === 16 ? register >> 1 : register;
      A.set(at(row, member * each + (i % each) + half * 4 * each), element(types[0], a, lane * ra * each + i));
    }
    for (const i of range(rb * each))
      B.set(at(member * each + (i % each) + Math.floor(i / each) * 4 * each, group), element(types[1], b, lane * rb * each + i));
  }
  const share = m / 4;
  const product = Uint32Array.from({ length: 8 * m }, (_, index) => {
    const [lane, i] = [Math.floor(index / share), index % share];
    const [row, column] = [(lane >> 2) + (i >= 2 ? 8 : 0), (lane % 4) * 2 + (i % 2)];
    return sumBits(
      sumType,
      how,
      depth,
      (r, j) => A.get(at(r, j))!,
      (j, n) => B.get(at(j, n))!,
      row,
      column,
      c.value(index),
    );
  });
  const load = (name: string, count: number, type: string): string =>
    range(count)
      .map((r) => `ld.global.${type === "f32" ? "f32" : "b32"} %${name}${r}, [%${name}+${4 * r}];`)
      .join(" ");
  const name = `mma.sync.aligned.m${m}n8k${depth}.row.col${satfinite}.${sumType}.${types[0]}.${types[1]}.${sumType}${operation}`;
  const code = `${registers("a", "b32", ra)} ${registers("b", "b32", rb)} ${registers("c", sumType, rc)} ${registers("d", sumType, rc)}
  mad.wide.u32 %a, %l, ${4 * ra}, %a; mad.wide.u32 %b, %l, ${4 * rb}, %b; mad.wide.u32 %c, %l, ${4 * rc}, %c; mad.wide.u32 %d, %l, ${4 * rc}, %d;
  ${load("a", ra, "b32")} ${load("b", rb, "b32")} ${load("c", rc, sumType)}
  ${name} ${list("d", rc)}, ${list("a", ra)}, ${list("b", rb)}, ${list("c", rc)};
  ${range(rc)
    .map((r) => `st.global.${sumType === "f32" ? "f32" : "b32"} [%d+${4 * r}], %d${r};`)
    .join(" ")}`;
  const expected = packed(sumType, product);
  return { name, code, a, b, c: packed(sumType, c.bits), d: new Uint32Array(expected.length), expected };
}

export type Side = "row" | "col";

/**
 * wmma: load, multiply, store, each matrix by rows or columns that lie further apart than they are
 * long.
 */
export function wmmaCase(
  [m, n, depth]: readonly [number, number, number],
  type: FactorType,
  sumType: SumType,
  [sideA, sideB, sideC, sideD]: readonly [Side, Side, Side, Side],
  how: How = {},
): MatrixCase {
  const [satfinite, operation] = howText(how);
  const next = words(m + 3 * n + depth + sideA.length);
  const gap = Math.max(16, 32 / bitsOf[type]) * (type === "b1" ? 4 : 1);
  /** Distance of rows or columns, and the place of an element. */
  const plan = (side: Side, rows: number, columns: number, more: number) => {
    const stride = (side === "row" ? columns : rows) + more;
    const lines = side === "row" ? rows : columns;
    return {
      stride,
      count: stride * lines,
      at: (row: number, column: number) => (side === "row" ? row * stride + column : column * stride + row),
    };
  };
  const [pa, pb] = [plan(sideA, m, depth, gap), plan(sideB, depth, n, gap)];
  const sumGap = sumType === "f16" ? 16 : 8;
  const [pc, pd] = [plan(sideC, m, n, sumGap), plan(sideD, m, n, sumGap)];
  const [a, b] = [factor(type, pa.count, next), factor(type, pb.count, next)];
  const c = sums(sumType, pc.count, next);
  // The gaps of the result stay as they were.
  const before = new Uint32Array(pd.count).fill(0x2bad);
  const product = before.slice();
  for (const row of range(m))
    for (const column of range(n))
      product[pd.at(row, column)] = sumBits(
        sumType,
        how,
        depth,
        (r, j) => element(type, a, pa.at(r, j)),
        (j, k) => element(type, b, pb.at(j, k)),
        row,
        column,
        c.value(pc.at(row, column)),
      );
  const shape = `m${m}n${n}k${depth}`;
  const [ra, rb, rc] = [m * depth, depth * n, m * n].map((size, k) =>
    k < 2 && type === "f16" ? 8 : size / 32 / (k < 2 ? 32 / bitsOf[type] : sumType === "f16" ? 2 : 1),
  ) as [number, number, number];
  const types = type === "f16" ? `${sumType}.${sumType}` : `${sumType}.${type}.${type}.${sumType}`;
  const name = `wmma.mma${operation}.sync.aligned.${sideA}.${sideB}.${shape}.${types}${satfinite}`;
  const code = `${registers("a", "b32", ra)} ${registers("b", "b32", rb)} ${registers("c", sumType, rc)} ${registers("d", sumType, rc)}
  wmma.load.a.sync.aligned.${sideA}.${shape}.global.${type} ${list("a", ra)}, [%a], ${pa.stride};
  wmma.load.b.sync.aligned.${sideB}.${shape}.${type} ${list("b", rb)}, [%b], ${pb.stride};
  wmma.load.c.sync.aligned.${sideC}.${shape}.global.${sumType} ${list("c", rc)}, [%c], ${pc.stride};
  ${name} ${list("d", rc)}, ${list("a", ra)}, ${list("b", rb)}, ${list("c", rc)};
  wmma.store.d.sync.aligned.${sideD}.${shape}.global.${sumType} [%d], ${list("d", rc)}, ${pd.stride};`;
  return {
    name: `${name} (c ${sideC}, d ${sideD})`,
    code,
    a,
    b,
    c: packed(sumType, c.bits),
    d: packed(sumType, before),
    expected: packed(sumType, product),
  };
}

const nibbles = [
  ["s4", "s4"],
  ["u4", "s4"],
  ["u4", "u4"],
] as const;
const bytes = [
  ["s8", "s8"],
  ["u8", "s8"],
  ["s8", "u8"],
  ["u8", "u8"],
] as const;
const byteFloats = [
  ["e4m3", "e4m3"],
  ["e4m3", "e5m2"],
  ["e5m2", "e4m3"],
  ["e5m2", "e5m2"],
] as const;
const either = [false, true];
const wide = [
  [16, 16, 16],
  [32, 8, 16],
  [8, 32, 16],
] as const;
const sides = ["row", "col"] as const;
const shapesOf = (m8: number, most: number) => [[8, m8] as const, [16, most / 2] as const, [16, most] as const];

export const matrixCases: readonly MatrixCase[] = [
  ...shapesOf(16, 32).flatMap(([m, k]) => bytes.flatMap((types) => either.map((saturates) => mmaCase(m, k, types, "s32", { saturates })))),
  ...shapesOf(32, 64).flatMap(([m, k]) =>
    nibbles.flatMap((types) => either.map((saturates) => mmaCase(m, k, types, "s32", { saturates }))),
  ),
  ...shapesOf(128, 256).flatMap(([m, k]) => (["xor", "and"] as const).map((bits) => mmaCase(m, k, ["b1", "b1"], "s32", { bits }))),
  ...[16, 32].flatMap((k) => byteFloats.flatMap((types) => (["f32", "f16"] as const).map((sum) => mmaCase(16, k, types, sum)))),
  ...wide.flatMap((shape) =>
    sides.flatMap((a) =>
      sides.flatMap((b) => [
        wmmaCase(shape, "s8", "s32", [a, b, a, b]),
        wmmaCase(shape, "u8", "s32", [a, b, b, a], { saturates: true }),
        wmmaCase(shape, "f16", "f32", [a, b, a, a]),
        wmmaCase(shape, "f16", "f16", [a, b, b, a]),
      ]),
    ),
  ),
  ...sides.flatMap((side) =>
    either.flatMap((saturates) =>
      (["s4", "u4"] as const).map((type) => wmmaCase([8, 8, 32], type, "s32", ["row", "col", side, "row"], { saturates })),
    ),
  ),
  ...sides.flatMap((side) =>
    (["xor", "and"] as const).map((bits) => wmmaCase([8, 8, 128], "b1", "s32", ["row", "col", "row", side], { bits })),
  ),
];

/** PTX with one kernel a case, `k0`, `k1`, ... */
export function matrixModule(cases: readonly MatrixCase[]): string {
  const kernels = cases.map(
    ({ code }, k) => `.visible .entry k${k}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{ .reg .b64 %a, %b, %c, %d; .reg .b32 %l;
  ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %d, [d]; mov.u32 %l, %tid.x;
  ${code}
  ret; }`,
  );
  return `.version 8.7\n.target sm_90\n.address_size 64\n${kernels.join("\n")}\n`;
}
