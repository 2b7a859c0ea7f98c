// cvt from and to e4m3x2 and e5m2x2 on every byte, every binary16 and hard binary32 values, against
// the definition in float8-reference.ts.
import { describe, expect, it } from "vitest";
import { halfBits, halfValue } from "../../packages/core/src/half.js";
import { Bench, input, output, words } from "./device.js";
import { type ByteFloat, finiteValues, meaning, nearestByte } from "./float8-reference.js";

const types: readonly ByteFloat[] = ["e4m3", "e5m2"];
const forms = types.flatMap((type) => [false, true].map((relu) => ({ type, relu, name: `${relu ? "relu." : ""}${type}` })));

/**
 * A kernel whose thread i converts the `from` bytes at x + i from to the `to` bytes at y + i to.
 */
const kernel = (
  name: string,
  loads: string,
  code: string,
  from: number,
  to: number,
): string => `.visible .entry ${name}(.param .u64 x, .param .u64 y)
{ .reg .b64 %x, %y; .reg .b32 %i, %a, %b, %r; .reg .f32 %f, %g; .reg .b16 %h;
  ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
  mov.u32 %i, %ctaid.x; mad.lo.u32 %i, %i, 256, 0; mov.u32 %a, %tid.x; add.u32 %i, %i, %a;
  mad.wide.u32 %x, %i, ${from}, %x; mad.wide.u32 %y, %i, ${to}, %y;
  ${loads}
  ${code}
  st.global.b${8 * to} [%y], ${to === 4 ? "%r" : "%h"};
  ret; }`;
const bench = new Bench(`.version 8.1\n.target sm_89\n.address_size 64
${forms
  .map(({ type, relu }) => {
    const how = relu ? ".relu" : "";
    return [
      kernel(`up_${type}${relu}`, "ld.global.b16 %h, [%x];", `cvt.rn${how}.f16x2.${type}x2 %r, %h;`, 2, 4),
      kernel(`halves_${type}${relu}`, "ld.global.b32 %a, [%x];", `cvt.rn.satfinite${how}.${type}x2.f16x2 %h, %a;`, 4, 2),
      kernel(`singles_${type}${relu}`, "ld.global.v2.f32 {%f, %g}, [%x];", `cvt.rn.satfinite${how}.${type}x2.f32 %h, %f, %g;`, 8, 2),
    ].join("\n");
  })
  .join("\n")}`);
const run = (name: string, x: Uint16Array | Uint32Array, y: Uint16Array | Uint32Array): void => {
  bench.run(name, { grid: y.length / 256, block: 256 }, [input(x), output(y)]);
};

describe.each(forms)("$name", ({ type, relu }) => {
  it("gives the binary16 of every byte, in both places", () => {
    const y = new Uint32Array(256);
    run(
      `up_${type}${relu}`,
      Uint16Array.from({ length: 256 }, (_, k) => k | ((255 - k) << 8)),
      y,
    );
    const half = (byte: number): number => {
      const value = meaning(type, byte);
      if (Number.isNaN(value)) return 0x7fff;
      return relu && byte & 128 ? 0 : halfBits(value);
    };
    expect([...y]).toEqual(Array.from(y, (_, k) => half(k) + 65536 * half(255 - k)));
  });

  it("rounds every binary16, in both places", () => {
    const y = new Uint16Array(65536);
    run(
      `halves_${type}${relu}`,
      Uint32Array.from({ length: 65536 }, (_, k) => k | ((65535 - k) << 16)),
      y,
    );
    const byte = Array.from({ length: 65536 }, (_, bits) => nearestByte(type, halfValue(bits), relu));
    expect(y).toEqual(Uint16Array.from(byte, (low, k) => low | (byte[65535 - k]! << 8)));
  });

  it("rounds binary32 values: ties, their neighbours, subnormals, infinities and NaN", () => {
    const next = words(3);
    const bits = new Uint32Array(8192);
    const singles = new Float32Array(bits.buffer);
    for (let k = 0; k < bits.length; k++) bits[k] = next();
    const values = finiteValues[type];
    // Each value, each point half-way to the next, and what lies beyond the largest.
    const marks = values.flatMap((value, k) => [value, (value + (values[k + 1] ?? 2 * value)) / 2]);
    for (const [k, mark] of marks.entries())
      for (const step of [-1, 0, 1]) {
        singles[6 * k + 2 * (step + 1)] = mark;
        bits[6 * k + 2 * (step + 1)]! += mark === 0 ? Math.abs(step) : step;
        bits[6 * k + 2 * (step + 1) + 1] = bits[6 * k + 2 * (step + 1)]! | 0x80000000;
      }
    bits.set([0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff812345, 0x7f7fffff, 0x007fffff, 0x80000001], 8000);
    const y = new Uint16Array(4096);
    run(`singles_${type}${relu}`, bits, y);
    const byte = (k: number): number => nearestByte(type, singles[k]!, relu);
    expect(y).toEqual(Uint16Array.from(y, (_, k) => (byte(2 * k) << 8) | byte(2 * k + 1)));
  });
});
