// mma.sync on bytes: the fragment layouts of the PTX ISA (9.7.14.5.8, .9 and .10), written down here once more, and sums modulo 2^32 or saturated.
import { describe, expect, it } from "vitest";
import { Bench, input, output, words } from "./device.js";

interface Shape {
  readonly m: number;
  readonly k: number;
}

/** Row and column of byte i of a lane's part of A: byte b of register r is i = 4 r + b. */
function placeInA({ m, k }: Shape, lane: number, i: number): [number, number] {
  const group = lane >> 2;
  const row = m === 8 ? group : group + (Math.floor(i / 4) % 2 === 1 ? 8 : 0);
  return [row, (lane % 4) * 4 + (i % 4) + (k === 32 && i >= 8 ? 16 : 0)];
}

function placeInB(lane: number, i: number): [number, number] {
  return [(lane % 4) * 4 + (i % 4) + (i >= 4 ? 16 : 0), lane >> 2];
}

function run(shape: Shape, types: [string, string], saturates: boolean, a: Uint32Array, b: Uint32Array, c: Int32Array): Int32Array {
  const [ra, rb, rc] = [(shape.m * shape.k) / 128, (8 * shape.k) / 128, (shape.m * 8) / 32];
  const list = (name: string, count: number) => `{${Array.from({ length: count }, (_, r) => `%${name}${r}`).join(",")}}`;
  const each = (count: number, line: (r: number) => string) => Array.from({ length: count }, (_, r) => line(r)).join("\n");
  const bench = new Bench(`.version 7.8\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{ .reg .b64 %p<4>, %t; .reg .b32 %l, %a<4>, %b<2>, %c<4>, %d<4>;
  ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; ld.param.u64 %p3, [d]; mov.u32 %l, %tid.x;
  mul.wide.u32 %t, %l, ${4 * ra}; add.u64 %p0, %p0, %t; mul.wide.u32 %t, %l, ${4 * rb}; add.u64 %p1, %p1, %t;
  mul.wide.u32 %t, %l, ${4 * rc}; add.u64 %p2, %p2, %t; add.u64 %p3, %p3, %t;
  ${each(ra, (r) => `ld.global.u32 %a${r}, [%p0+${4 * r}];`)}
  ${each(rb, (r) => `ld.global.u32 %b${r}, [%p1+${4 * r}];`)}
  ${each(rc, (r) => `ld.global.u32 %c${r}, [%p2+${4 * r}];`)}
  mma.sync.aligned.m${shape.m}n8k${shape.k}.row.col${saturates ? ".satfinite" : ""}.s32.${types[0]}.${types[1]}.s32 ${list("d", rc)}, ${list("a", ra)}, ${list("b", rb)}, ${list("c", rc)};
  ${each(rc, (r) => `st.global.u32 [%p3+${4 * r}], %d${r};`)}
  ret; }`);
  const d = new Int32Array(32 * rc);
  bench.run("k", { grid: 1, block: 32 }, [input(a), input(b), input(c), output(d)]);
  return d;
}

/** The product by its definition, over the places above; sums are exact in bigints. */
function expected(shape: Shape, types: [string, string], saturates: boolean, a: Uint32Array, b: Uint32Array, c: Int32Array): Int32Array {
  const bytes = (array: Uint32Array, type: string) => (type === "s8" ? new Int8Array(array.buffer) : new Uint8Array(array.buffer));
  const [left, right] = [bytes(a, types[0]), bytes(b, types[1])];
  const [shareA, shareB, shareC] = [(shape.m * shape.k) / 32, (8 * shape.k) / 32, (shape.m * 8) / 32];
  const A = new Map<string, number>();
  const B = new Map<string, number>();
  for (let lane = 0; lane < 32; lane++) {
    for (let i = 0; i < shareA; i++) A.set(placeInA(shape, lane, i).join(), left[lane * shareA + i]!);
    for (let i = 0; i < shareB; i++) B.set(placeInB(lane, i).join(), right[lane * shareB + i]!);
  }
  return Int32Array.from({ length: 32 * shareC }, (_, index) => {
    const [lane, r] = [Math.floor(index / shareC), index % shareC];
    const [row, column] = [(lane >> 2) + (r >= 2 ? 8 : 0), (lane % 4) * 2 + (r % 2)];
    let sum = BigInt(c[index]!);
    for (let j = 0; j < shape.k; j++) sum += BigInt(A.get(`${row},${j}`)! * B.get(`${j},${column}`)!);
    if (!saturates) return Number(BigInt.asIntN(32, sum));
    return Number(sum > 2n ** 31n - 1n ? 2n ** 31n - 1n : sum < -(2n ** 31n) ? -(2n ** 31n) : sum);
  });
}

describe("mma on bytes", () => {
  for (const shape of [
    { m: 8, k: 16 },
    { m: 16, k: 16 },
    { m: 16, k: 32 },
  ])
    for (const types of [
      ["s8", "s8"],
      ["u8", "s8"],
      ["u8", "u8"],
    ] as [string, string][])
      it.each([false, true])(`m${shape.m}n8k${shape.k} of ${types.join(" and ")}, saturated: %s`, (saturates) => {
        const next = words(shape.m * shape.k + types[0]!.length);
        const a = Uint32Array.from({ length: (shape.m * shape.k) / 4 }, next);
        const b = Uint32Array.from({ length: (8 * shape.k) / 4 }, next);
        // Some sums leave the range of 32 bits on either side.
        const c = Int32Array.from({ length: 8 * shape.m }, (_, i) => (i % 3 === 0 ? next() : i % 3 === 1 ? 2 ** 31 - 1 : -(2 ** 31)));
        expect([...run(shape, types, saturates, a, b, c)]).toEqual([...expected(shape, types, saturates, a, b, c)]);
      });
});
