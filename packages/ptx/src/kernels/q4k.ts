// Weights in four bits, on the CPU: two block formats, to bytes and back. The kernels that read
// them are in quantized-gemm.ts.
//
// "superblock", GGML's Q4_K: 144 bytes for 256 values in a row, eight groups of 32.
//   bytes 0-1   d, f16            bytes 2-3   dmin, f16
//   bytes 4-15  eight scales s and eight minima m of six bits, of group g:
//               g < 4:  s = byte[g] & 63,                              m = byte[g + 4] & 63
//               g >= 4: s = byte[g + 4] & 15 | byte[g - 4] >> 6 << 4,  m = byte[g + 4] >> 4 | byte[g] >> 6 << 4
//   bytes 16-143  four runs of 32 bytes; run j holds group 2j in the low nibbles and group 2j + 1 in the high ones
//   value = d s q - dmin m
// "block32": 18 bytes for 32 values.
//   bytes 0-1   d, f16            bytes 2-17  low nibbles: values 0 to 15, high nibbles: values 16 to 31
//   value = d (q - 8)
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { halfBits, halfValue } from "../builder/index.js";

/** Blocks of 256 weights with scales of 6 bits, or of 32 with one scale each. */
export type Q4Format = "superblock" | "block32";

/** Values and bytes of a block. */
export const q4Blocks = { superblock: { values: 256, bytes: 144 }, block32: { values: 32, bytes: 18 } } as const;

/** A matrix in 4-bit blocks. */
export interface Q4Matrix {
  readonly format: Q4Format;
  readonly rows: number;
  readonly columns: number;
  /** Row after row; each ends with a whole block, filled up with zeros before it was quantised. */
  readonly data: Uint8Array;
}

/** Blocks of a row. */
export const q4BlocksPerRow = (format: Q4Format, columns: number): number => Math.ceil(columns / q4Blocks[format].values);

const clamp = (value: number, most: number): number => Math.min(most, Math.max(0, Math.round(value)));
const f = Math.fround;

/** Quantises a matrix by rows, values to the nearest step. @throws ArgumentError, PtxBuildError */
export function quantizeQ4(weights: Float32Array, rows: number, columns: number, format: Q4Format = "superblock"): Q4Matrix {
  checkHas("weights", weights, "a Float32Array", "map");
  if (!Object.hasOwn(q4Blocks, format)) throw new ArgumentError("format", format, '"superblock" or "block32"');
  if (weights.length !== rows * columns)
    throw ArgumentError.shape(`weights has ${weights.length} values; ${rows} x ${columns} takes ${rows * columns}`, { field: "weights" });
  const wrong = weights.findIndex((value) => !Number.isFinite(value));
  if (wrong >= 0) throw new ArgumentError(`weights[${wrong}]`, weights[wrong], "finite numbers");
  const { values, bytes } = q4Blocks[format];
  const blocks = q4BlocksPerRow(format, columns);
  const data = new Uint8Array(rows * blocks * bytes);
  const block = new Float32Array(values);
  for (let row = 0; row < rows; row++)
    for (let b = 0; b < blocks; b++) {
      const from = row * columns + b * values;
      block.fill(0).set(weights.subarray(from, Math.min(from + values, (row + 1) * columns)));
      const to = data.subarray((row * blocks + b) * bytes, (row * blocks + b + 1) * bytes);
      if (format === "superblock") quantizeSuperblock(block, to);
      else quantizeBlock32(block, to);
    }
  return { format, rows, columns, data };
}

function quantizeBlock32(values: Float32Array, to: Uint8Array): void {
  // The value of largest magnitude gets -8, the one step that has no positive twin.
  const extreme = values.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0);
  const bits = extreme === 0 ? 0 : halfBits(extreme / -8);
  const d = halfValue(bits);
  new DataView(to.buffer, to.byteOffset).setUint16(0, bits, true);
  const step = (value: number): number => (d === 0 ? 8 : clamp(value / d + 8, 15));
  for (let i = 0; i < 16; i++) to[2 + i] = step(values[i]!) | (step(values[16 + i]!) << 4);
}

function quantizeSuperblock(values: Float32Array, to: Uint8Array): void {
  const groups = Array.from({ length: 8 }, (_, g) => values.subarray(32 * g, 32 * g + 32));
  const minima = groups.map((group) => Math.max(0, -Math.min(...group)));
  const steps = groups.map((group, g) => Math.max(0, Math.max(...group) + minima[g]!) / 15);
  const view = new DataView(to.buffer, to.byteOffset);
  const [dBits, dminBits] = [halfBits(Math.max(...steps) / 63), halfBits(Math.max(...minima) / 63)];
  view.setUint16(0, dBits, true);
  view.setUint16(2, dminBits, true);
  const [d, dmin] = [halfValue(dBits), halfValue(dminBits)];
  const s = steps.map((step) => (d === 0 ? 0 : clamp(step / d, 63)));
  const m = minima.map((minimum) => (dmin === 0 ? 0 : clamp(minimum / dmin, 63)));
  for (let g = 0; g < 4; g++) {
    to[4 + g] = s[g]! | ((s[g + 4]! >> 4) << 6);
    to[8 + g] = m[g]! | ((m[g + 4]! >> 4) << 6);
    to[12 + g] = (s[g + 4]! & 15) | ((m[g + 4]! & 15) << 4);
  }
  const quantum = (g: number, i: number): number => {
    const step = d * s[g]!;
    return step === 0 ? 0 : clamp((groups[g]![i]! + dmin * m[g]!) / step, 15);
  };
  for (let j = 0; j < 4; j++) for (let i = 0; i < 32; i++) to[16 + 32 * j + i] = quantum(2 * j, i) | (quantum(2 * j + 1, i) << 4);
}

function groupScale(block: Uint8Array, g: number): [s: number, m: number] {
  const at = (k: number): number => block[4 + k]!;
  if (g < 4) return [at(g) & 63, at(g + 4) & 63];
  return [(at(g + 4) & 15) | ((at(g - 4) >> 6) << 4), (at(g + 4) >> 4) | ((at(g) >> 6) << 4)];
}

/** The values of a quantised matrix, by rows, every operation rounded to binary32. */
export function dequantizeQ4(matrix: Q4Matrix): Float32Array {
  const { format, rows, columns, data } = checkHas("matrix", matrix, "what quantizeQ4 gives", "format", "data");
  const { values, bytes } = q4Blocks[format];
  const blocks = q4BlocksPerRow(format, columns);
  const result = new Float32Array(rows * columns);
  const view = new DataView(data.buffer, data.byteOffset);
  for (let row = 0; row < rows; row++)
    for (let b = 0; b < blocks; b++) {
      const start = (row * blocks + b) * bytes;
      const block = data.subarray(start, start + bytes);
      const d = halfValue(view.getUint16(start, true));
      const put = (i: number, value: number): void => {
        if (b * values + i < columns) result[row * columns + b * values + i] = value;
      };
      if (format === "block32") {
        for (let i = 0; i < 32; i++) put(i, f(d * (((block[2 + (i & 15)]! >> (i < 16 ? 0 : 4)) & 15) - 8)));
        continue;
      }
      const dmin = halfValue(view.getUint16(start + 2, true));
      for (let g = 0; g < 8; g++) {
        const [s, m] = groupScale(block, g);
        const [step, minimum] = [f(d * s), f(dmin * m)];
        for (let i = 0; i < 32; i++) {
          const q = (block[16 + 32 * (g >> 1) + i]! >> (4 * (g & 1))) & 15;
          put(32 * g + i, f(f(step * q) - minimum));
        }
      }
    }
  return result;
}
