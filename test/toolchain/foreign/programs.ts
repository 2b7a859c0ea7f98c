// What the programs of this folder are launched with, and what they must give, computed here.
import { expect } from "vitest";
import type { MachineLaunchOptions } from "../../../packages/ptx/src/interpreter/index.js";
import { type Argument, type Array as Data, input, output, words } from "../../ptx/device.js";

/** One launch: the arguments, and the look at what it left. */
export interface Run {
  args: Argument[];
  check(printed: string): void;
}

export interface Program {
  kernel: string;
  shape: Omit<MachineLaunchOptions, "entry" | "args">;
  /** Bugs that are planted in it; 1 by default. */
  bugs?: number;
  /** The first architecture that has it. */
  from?: number;
  run(bug: number): Run;
}

const range = <T>(count: number, of: (k: number) => T): T[] => Array.from({ length: count }, (_, k) => of(k));
const integers = (count: number, of: (k: number) => number): Int32Array => Int32Array.from({ length: count }, (_, k) => of(k));
const floats = (count: number, of: (k: number) => number): Float32Array => Float32Array.from({ length: count }, (_, k) => of(k));
const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
/** Whole numbers from 0 to `most`, without order. */
const scattered = (count: number, most: number, seed = 7): Int32Array => {
  const next = words(seed);
  return integers(count, () => (next() >>> 8) % (most + 1));
};
/** An output that holds zeros, or what is given, before the launch. */
const seeded = <T extends Data>(array: T) => ({ ...output(array), seeded: true });

const groups: Program[] = [
  {
    kernel: "tiles",
    shape: { grid: 2, block: 96 },
    run(bug) {
      const [x, y] = [scattered(192, 100), new Int32Array(5 * 192)];
      const tile = (t: number, size: number) => sum(x.slice(t & -size, (t & -size) + size));
      const check = () => expect([...y]).toEqual(range(192, (t) => [2, 4, 8, 16, 32].map((size) => tile(t, size))).flat());
      return { args: [input(x), output(y), bug], check };
    },
  },
  {
    kernel: "labels",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const [x, y] = [scattered(32, 3), new Int32Array(128)];
      const check = () =>
        range(32, (t) => {
          const same = range(32, (k) => k).filter((k) => x[k] === x[t]);
          expect([...y.slice(4 * t, 4 * t + 4)]).toEqual([same.length, sum(same), sum(x.slice(0, t + 1)), t & 1 ? 31 : 30]);
        });
      return { args: [input(x), output(y), bug], check };
    },
  },
  {
    kernel: "coalesced",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const x = integers(64, (k) => (k % 3 === 0 ? 1 : 0));
      const found = new Int32Array(65);
      const check = () => {
        const positive = range(64, (k) => k).filter((k) => x[k]! > 0);
        expect(found[0]).toBe(positive.length);
        expect([...found.slice(1, 1 + positive.length)].sort((a, b) => a - b)).toEqual(positive);
      };
      return { args: [input(x), seeded(found), bug], check };
    },
  },
  {
    kernel: "grid_sum",
    shape: { grid: 4, block: 64, cooperative: true },
    bugs: 2,
    run(bug) {
      const [x, y] = [scattered(256, 9), new Int32Array(1)];
      return { args: [input(x), seeded(new Int32Array(4)), output(y), bug], check: () => expect(y[0]).toBe(sum(x)) };
    },
  },
  {
    kernel: "wide_tiles",
    shape: { grid: 1, block: 256 },
    bugs: 2,
    run(bug) {
      const [x, y] = [scattered(256, 100), new Int32Array(5 * 256)];
      const check = () =>
        range(256, (t) => {
          const [two, four] = [x.slice(t & -64, (t & -64) + 64), t & -128];
          const some = Number(two.includes(100)) + 2 * Number(two.every((value) => value > 1));
          const all = [x[t ^ 63], sum(two), sum(x.slice(four, t + 1)), some, 1000 * (t >> 6) + t - four];
          expect([...y.slice(5 * t, 5 * t + 5)]).toEqual(all);
        });
      return { args: [input(x), output(y), bug], check };
    },
  },
  {
    kernel: "exchange",
    shape: { grid: 4, block: 32 },
    from: 90,
    run(bug) {
      const y = new Int32Array(128);
      const check = () => expect([...y]).toEqual(range(128, (k) => 100 * ((k >> 5) & 1 ? 0 : 1) + 31 - (k & 31)));
      return { args: [output(y), bug], check };
    },
  },
];

const cub: Program[] = [
  {
    kernel: "warp_reduce",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const [x, y] = [floats(64, (k) => k / 4), new Float32Array(8)];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual(range(8, (k) => sum(x.slice(8 * k, 8 * k + 8)))) };
    },
  },
  {
    kernel: "block_reduce",
    shape: { grid: 1, block: 128 },
    run(bug) {
      const [x, y] = [scattered(128, 1000), new Int32Array(2)];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual([sum(x), Math.max(...x)]) };
    },
  },
  {
    kernel: "block_scan",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const [x, y] = [scattered(256, 9), new Int32Array(257)];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual(range(257, (k) => sum(x.slice(0, k)))) };
    },
  },
  {
    kernel: "block_sort",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const next = words(3);
      const keys = Uint32Array.from({ length: 192 }, () => next());
      const [values, sorted, moved] = [integers(192, (k) => k), new Uint32Array(192), new Int32Array(192)];
      const order = [...values].sort((a, b) => keys[a]! - keys[b]!);
      const check = () => {
        expect([...sorted]).toEqual(order.map((k) => keys[k]));
        expect([...moved]).toEqual(order);
      };
      return { args: [input(keys), input(values), output(sorted), output(moved), bug], check };
    },
  },
  {
    kernel: "merge_sort",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const [x, y] = [scattered(128, 50), new Int32Array(128)];
      const check = () => expect([...y]).toEqual(range(4, (part) => [...x.slice(32 * part, 32 * part + 32)].sort((a, b) => a - b)).flat());
      return { args: [input(x), output(y), bug], check };
    },
  },
];

const asynchronous: Program[] = [
  {
    kernel: "handover",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const [x, y] = [scattered(128, 99), new Int32Array(32)];
      const check = () => expect([...y]).toEqual(range(32, (t) => 2 * sum(range(4, (k) => x[32 * k + 31 - t]!))));
      return { args: [input(x), output(y), bug], check };
    },
  },
  {
    kernel: "pipeline",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const [x, y] = [scattered(320, 99), new Int32Array(64)];
      const check = () => expect([...y]).toEqual(range(64, (t) => sum(range(5, (k) => x[64 * k + 63 - t]!))));
      return { args: [input(x), output(y), 5, bug], check };
    },
  },
  {
    kernel: "group_copy",
    shape: { grid: 1, block: 128 },
    run(bug) {
      const [x, y] = [scattered(128, 99), new Int32Array(128)];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual([...x].reverse()) };
    },
  },
  {
    kernel: "atomics",
    shape: { grid: 3, block: 64 },
    run(bug) {
      const [x, bins, most] = [scattered(192, 1000), new Int32Array(8), new Float32Array(1)];
      const check = () => {
        expect([...bins]).toEqual(range(8, (bin) => x.filter((value) => (value & 7) === bin).length));
        expect(most[0]).toBe(Math.max(...range(192, (k) => (x[k]! & 7) * Math.floor(k / 64))));
      };
      return { args: [input(x), seeded(bins), seeded(most), bug], check };
    },
  },
  {
    kernel: "message",
    shape: { grid: 2, block: 1 },
    run(bug) {
      const y = new Int32Array(1);
      return { args: [seeded(new Int32Array(1)), seeded(new Int32Array(1)), output(y), bug], check: () => expect(y[0]).toBe(43) };
    },
  },
];

const half = (value: number): number => {
  const [word] = new Uint32Array(new Float32Array([value]).buffer);
  // Small whole numbers and quarters, which are exact.
  return value === 0 ? 0 : ((word! >>> 16) & 0x8000) | ((((word! >>> 23) & 255) - 112) << 10) | ((word! >>> 13) & 1023);
};
const halvesOf = (values: ArrayLike<number>): Uint16Array => Uint16Array.from(values, half);
const bfloatsOf = (values: Float32Array): Uint16Array => Uint16Array.from(new Uint32Array(values.buffer), (word) => word >>> 16);

/** Matrix product of m x k and k x n, by element readers. */
function multiplied(
  m: number,
  n: number,
  k: number,
  a: (i: number, j: number) => number,
  b: (i: number, j: number) => number,
  start = 0,
): number[] {
  return range(m * n, (at) => start + sum(range(k, (j) => a(Math.floor(at / n), j) * b(j, at % n))));
}

const tensor: Program[] = [
  {
    kernel: "halves",
    shape: { grid: 1, block: 32 },
    bugs: 2,
    run(bug) {
      const [a, b, d] = [floats(256, (k) => (k % 7) - 3), floats(256, (k) => ((k % 5) - 2) / 4), new Float32Array(256)];
      const product = multiplied(
        16,
        16,
        16,
        (i, j) => a[16 * i + j]!,
        (i, j) => b[16 * j + i]!,
        0.5,
      );
      return {
        args: [input(halvesOf(a)), input(halvesOf(b)), output(d), bug],
        check: () => expect([...d]).toEqual(product.map((x) => 2 * x)),
      };
    },
  },
  {
    kernel: "bytes",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const next = words(5);
      const bytes = (count: number) => Uint8Array.from({ length: count }, () => next() >>> 16);
      const [a, b, u, v] = [bytes(128), bytes(512), bytes(256), bytes(256)];
      const signed = (x: number) => (x << 24) >> 24;
      const [d, e] = [new Int32Array(256), new Int32Array(256)];
      const check = () => {
        expect([...d]).toEqual(
          multiplied(
            8,
            32,
            16,
            (i, j) => signed(a[16 * i + j]!),
            (i, j) => signed(b[16 * j + i]!),
            1,
          ),
        );
        const total = multiplied(
          16,
          16,
          16,
          (i, j) => u[16 * j + i]!,
          (i, j) => v[16 * i + j]!,
        );
        expect([...e]).toEqual(range(256, (k) => total[16 * (k % 16) + Math.floor(k / 16)]));
      };
      return { args: [input(a), input(b), input(u), input(v), output(d), output(e), bug], check };
    },
  },
  {
    kernel: "bits",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const next = words(9);
      const [a, b] = [Uint32Array.from({ length: 32 }, () => next()), Uint32Array.from({ length: 32 }, () => next())];
      const d = new Int32Array(64);
      const bit = (x: Uint32Array, row: number, j: number) => (x[4 * row + (j >> 5)]! >>> (j & 31)) & 1;
      const check = () => expect([...d]).toEqual(range(64, (k) => sum(range(128, (j) => bit(a, k >> 3, j) ^ bit(b, k & 7, j)))));
      return { args: [input(a), input(b), output(d), bug], check };
    },
  },
  {
    kernel: "nibbles",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const next = words(11);
      const bytes = (count: number) => Uint8Array.from({ length: count }, () => next() >>> 16);
      const [a, b, u, v] = [bytes(128), bytes(128), bytes(512), bytes(128)];
      const nibble = (x: Uint8Array, k: number) => (x[k >> 1]! << (k % 2 === 0 ? 28 : 24)) >> 28;
      const c = integers(64, (k) => (k % 2 ? 2 ** 31 - 1 - k : k - 2 ** 31));
      const [d, e] = [new Int32Array(64), new Int32Array(256)];
      const within = (x: number) => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, x));
      const check = () => {
        const product = multiplied(
          8,
          8,
          32,
          (i, j) => nibble(a, 32 * i + j),
          (i, j) => nibble(b, 32 * j + i),
        );
        expect([...d]).toEqual(product.map((x, k) => within(x + c[8 * (k % 8) + (k >> 3)]!)));
        const total = multiplied(
          32,
          8,
          16,
          (i, j) => u[32 * j + i]!,
          (i, j) => v[8 * i + j]!,
        );
        expect([...e]).toEqual(total.map((x) => within(x + 0x7fff0000)));
      };
      return { args: [input(a), input(b), input(c), output(d), input(u), input(v), output(e), bug], check };
    },
  },
  {
    kernel: "common_bits",
    shape: { grid: 1, block: 64 },
    from: 80,
    run(bug) {
      const next = words(9);
      const [a, b] = [Uint32Array.from({ length: 32 }, () => next()), Uint32Array.from({ length: 32 }, () => next())];
      const d = new Int32Array(128);
      const bit = (x: Uint32Array, row: number, j: number) => (x[4 * row + (j >> 5)]! >>> (j & 31)) & 1;
      const common = range(64, (k) => sum(range(128, (j) => bit(a, k >> 3, j) & bit(b, k & 7, j))));
      return { args: [input(a), input(b), output(d), bug], check: () => expect([...d]).toEqual([...common, ...common.map((x) => x + 1)]) };
    },
  },
  {
    kernel: "float_bytes",
    shape: { grid: 1, block: 32 },
    from: 90,
    run(bug) {
      const [a, b] = [floats(512, (k) => ((k % 23) - 11) / 2), floats(256, (k) => ((k % 13) - 6) / 2)];
      const [d, e] = [new Float32Array(128), new Uint16Array(128)];
      const product = multiplied(
        16,
        8,
        32,
        (i, j) => a[32 * i + j]!,
        (i, j) => b[8 * i + j]!,
      );
      const check = () => {
        expect([...d]).toEqual(product.map((x, k) => x + 1 + (k % 2) + 2 * Math.floor(k / 64)));
        expect([...e]).toEqual(product.map(half));
      };
      return { args: [input(a), input(b), output(d), output(e), bug], check };
    },
  },
  {
    kernel: "wide",
    shape: { grid: 1, block: 64 },
    from: 80,
    run(bug) {
      const [a, b] = [floats(256, (k) => (k % 9) - 4), floats(256, (k) => (k % 11) / 2)];
      const [p, q] = [floats(128, (k) => (k % 13) / 8), floats(128, (k) => (k % 6) - 3)];
      const [d, e] = [new Float32Array(512), new Float32Array(256)];
      const product = multiplied(
        16,
        16,
        16,
        (i, j) => a[16 * i + j]!,
        (i, j) => b[16 * j + i]!,
      );
      const check = () => {
        expect([...d]).toEqual([...product, ...product.map((x) => x + 1)]);
        expect([...e]).toEqual(
          multiplied(
            16,
            16,
            8,
            (i, j) => p[8 * i + j]!,
            (i, j) => q[8 * j + i]!,
          ),
        );
      };
      return { args: [input(bfloatsOf(a)), input(bfloatsOf(b)), input(p), input(q), output(d), output(e), bug], check };
    },
  },
  {
    kernel: "doubles",
    shape: { grid: 1, block: 32 },
    from: 80,
    run(bug) {
      const of = (count: number, value: (k: number) => number) => Float64Array.from({ length: count }, (_, k) => value(k));
      const [a, b, d] = [of(32, (k) => k / 8), of(32, (k) => 3 - k), of(64, (k) => k)];
      const product = multiplied(
        8,
        8,
        4,
        (i, j) => a[4 * i + j]!,
        (i, j) => b[4 * j + i]!,
      );
      return { args: [input(a), input(b), seeded(d), bug], check: () => expect([...d]).toEqual(product.map((x, k) => x + k)) };
    },
  },
];

/**
 * A number rounded to a float of `exponent` and `mantissa` bits whose largest is `most`, ties to
 * even, as bits; NaN and overflow as given.
 */
function narrow(value: number, mantissa: number, bias: number, most: number, mostBits: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 128 : 0;
  const size = Math.abs(value);
  if (size > most) return sign | mostBits;
  const power = Math.max(Math.floor(Math.log2(size || 1e-30)), 1 - bias);
  const unit = 2 ** (power - mantissa);
  const scaled = size / unit;
  const whole = Math.floor(scaled);
  const rest = scaled - whole;
  const rounded = rest > 0.5 || (rest === 0.5 && whole % 2 === 1) ? whole + 1 : whole;
  // The leading one of a normal number carries into the exponent.
  return sign | (rounded + (power + bias - 1) * 2 ** mantissa);
}
const narrowed = (bits: number, mantissa: number, bias: number): number => {
  const exponent = (bits & 127) >> mantissa;
  const fraction = bits & (2 ** mantissa - 1);
  const size = exponent === 0 ? fraction * 2 ** (1 - bias - mantissa) : (1 + fraction / 2 ** mantissa) * 2 ** (exponent - bias);
  return bits & 128 ? -size : size;
};

const numbers: Program[] = [
  {
    kernel: "halves",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const values = floats(64, (k) => (k - 20) / 4);
      const [y, z] = [new Uint16Array(64), new Float32Array(96)];
      const check = () => {
        expect([...y]).toEqual([...values].map((x) => half(Math.max(x * values[0]! + 0.25, -x))));
        range(32, (t) => {
          expect(z[3 * t]).toBeCloseTo(Math.sqrt(Math.abs(values[2 * t]!)), 2);
          expect(z[3 * t + 1]! <= 1 / (t + 3) && z[3 * t + 1]! > 0.999 / (t + 3)).toBe(true);
          expect(z[3 * t + 2]).toBe(8 * values[2 * t + 1]!);
        });
      };
      return { args: [input(halvesOf(values)), output(y), output(z), bug], check };
    },
  },
  {
    kernel: "bfloats",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const [x, y, z] = [floats(32, (k) => 1 + k / 512), new Uint16Array(32), new Float32Array(64)];
      const check = () =>
        range(32, (t) => {
          // Eight bits of a number between 1 and 2 count by 1/128.
          const [quarter, rest] = [Math.floor(t / 4), t % 4];
          const value = 1 + (rest > 2 || (rest === 2 && quarter % 2 === 1) ? quarter + 1 : quarter) / 128;
          expect([y[t], z[2 * t + 1]]).toEqual([bfloatsOf(Float32Array.of(value))[0], expect.closeTo(3 * value, 1)]);
          expect(z[2 * t]).toBeCloseTo(value + 1.5, 1);
        });
      return { args: [input(x), output(y), output(z), bug], check };
    },
  },
  {
    kernel: "bytes",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const x = floats(64, (k) => (k % 2 ? -1 : 1) * 2 ** (k / 3 - 11) * (1 + (k % 5) / 7));
      const [y, z] = [new Uint8Array(256), new Float32Array(192)];
      const check = () =>
        range(64, (t) => {
          const value = x[t]!;
          const [e4m3, e5m2] = [narrow(value, 3, 7, 464, 0x7e), narrow(value, 2, 15, 61440, 0x7b)];
          const one = [e4m3, e5m2, e4m3, narrow(-value, 3, 7, 464, 0x7e)];
          expect([...y.slice(4 * t, 4 * t + 4)], `of ${value}`).toEqual(one);
          expect([...z.slice(3 * t, 3 * t + 3)]).toEqual([narrowed(e4m3, 3, 7), narrowed(e5m2, 2, 15), narrowed(e5m2, 2, 15)]);
        });
      return { args: [input(x), output(y), output(z), bug], check };
    },
  },
  {
    kernel: "packed",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const next = words(21);
      const x = Uint32Array.from({ length: 32 }, () => next());
      const y = new Uint32Array(12 * 32);
      const bytes = (word: number) => range(4, (k) => (word >>> (8 * k)) & 255);
      const signed = (byte: number) => (byte << 24) >> 24;
      const word = (parts: number[]) => parts.reduce((all, part, k) => all | ((part & 255) << (8 * k)), 0) >>> 0;
      const shorts = (value: number) => [(value << 16) >> 16, value >> 16];
      const pair = ([low, high]: number[]) => ((low! & 65535) | (high! << 16)) >>> 0;
      const clamp = (value: number) => Math.min(Math.max(value, -32768), 32767);
      const check = () =>
        range(32, (t) => {
          const a = x[t]!;
          // Bytes 6, 3, 4 and 0 of b below a, from the lowest: nibbles of the selector 0x0436 name
          // them.
          const b = word([6, 3, 4, 0].map((k) => [...bytes(a), ...bytes(a)][k]!));
          const [p, q] = [bytes(a), bytes(b)];
          const each = (of: (x: number, y: number) => number) => word(p.map((left, k) => of(left, q[k]!)));
          const differences = p.map((left, k) => Math.abs(left - q[k]!));
          const [s, u] = [shorts(a | 0), shorts(b | 0)];
          expect([...y.slice(12 * t, 12 * t + 12)]).toEqual([
            word(differences),
            sum(differences),
            each((left, right) => (left + right + 1) >> 1),
            each((left, right) => left + right),
            each((left, right) => Math.max(signed(left), signed(right))),
            each((left, right) => (left > right ? 255 : 0)),
            (7 + sum(p.map((left, k) => signed(left) * signed(q[k]!)))) >>> 0,
            pair(s.map((left, k) => Math.abs(left - u[k]!))),
            pair(s.map((left, k) => clamp(left + u[k]!))),
            each((left, right) => (left === right ? 1 : 0)),
            ((b << 7) | (a >>> 25)) >>> 0,
            each((left) => Math.min(Math.abs(signed(left)), 127)),
          ]);
        });
      return { args: [input(x), output(y), bug], check };
    },
  },
  {
    kernel: "literals",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const [x, y, z] = [floats(128, (k) => k), new Float32Array(97), new Float64Array(32)];
      const check = () => {
        const expected = range(32, (t) => [1.5 + sum(x.slice(4 * t, 4 * t + 4)), t === 0 ? 2.5 : -0.25, t === 0 ? 11 : -7]).flat();
        expect([...y]).toEqual([...expected, 3.25]);
        expect([...z]).toEqual(range(32, () => 0.1));
      };
      return { args: [output(y), output(z), input(x), bug], check };
    },
  },
];

/** The struct `Settings` of language.cu, by its fields' offsets. */
function settings(): Uint8Array {
  const view = new DataView(new ArrayBuffer(112));
  for (const [k, value] of [1, 2, 3, 4].entries()) view.setFloat32(4 * k, value, true);
  for (const [k, value] of [5, 6, 7].entries()) view.setUint32(16 + 4 * k, value, true);
  range(2, (k) => {
    const at = 32 + 32 * k;
    view.setInt8(at, 10 + k);
    view.setFloat64(at + 8, 0.5 + k, true);
    range(3, (j) => view.setInt32(at + 16 + 4 * j, 100 * k + j, true));
  });
  view.setInt32(96, 1000, true);
  return new Uint8Array(view.buffer);
}

const ackermann = (m: number, n: number): number =>
  m === 0 ? n + 1 : n === 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));

const language: Program[] = [
  {
    kernel: "virtuals",
    shape: { grid: 1, block: 32 },
    bugs: 2,
    run(bug) {
      const y = new Float32Array(32);
      return { args: [output(y), bug], check: () => expect([...y]).toEqual(range(32, (t) => (t % 2 ? 1 : 3) * t * t)) };
    },
  },
  {
    kernel: "recursion",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const y = new Int32Array(32);
      return { args: [output(y), bug], check: () => expect([...y]).toEqual(range(32, (t) => ackermann(2, t % 4))) };
    },
  },
  {
    kernel: "pointers",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const [x, y] = [scattered(32, 99), new Int32Array(32)];
      const of = [(a: number, b: number) => a + b, (a: number, b: number) => a - b, (a: number, b: number) => a * b];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual(range(32, (t) => of[t % 3]!(x[t]!, t))) };
    },
  },
  {
    kernel: "stacked",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const x = integers(32, (k) => 1 + ((7 * k) % 40));
      const y = new Int32Array(32);
      const check = () => expect([...y]).toEqual(range(32, (t) => sum(range(x[t]!, (k) => (t + x[t]! - 1 - k) * (k + 1)))));
      return { args: [input(x), output(y), bug], check };
    },
  },
  {
    kernel: "messages",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const x = integers(32, (k) => k);
      const check = (printed: string) =>
        expect(printed).toBe("thread 0 of the block has  0.00 and 123456789a!\nthread 1 of the block has  0.50 and 123456789b!\n");
      return { args: [input(x), bug], check };
    },
  },
  {
    kernel: "structs",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const y = new Int32Array(32);
      const check = () =>
        expect([...y]).toEqual(range(32, (t) => Math.trunc(2 * (0.5 + (t & 1)) + 30) + 100 * (t & 1) + (t % 3) + 7 + 10 + (t & 1) + 1000));
      return { args: [settings(), new Uint8Array(Float32Array.of(10, 20, 30).buffer), output(y), bug], check };
    },
  },
  {
    kernel: "dynamic",
    shape: { grid: 1, block: 64, dynamicSharedBytes: 768 },
    bugs: 2,
    run(bug) {
      const [x, y] = [floats(64, (k) => k / 2), new Float64Array(64)];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual(range(64, (t) => (63 - t) * 1.5)) };
    },
  },
  {
    kernel: "lists",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const y = new Int32Array(32);
      return { args: [output(y), bug], check: () => expect([...y]).toEqual(range(32, (t) => 111 * t + 210)) };
    },
  },
  {
    kernel: "lambdas",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const [x, y] = [scattered(100, 100_000), new BigInt64Array(102)];
      const squares = [...x].map((value) => BigInt(value) ** 2n);
      const check = () => expect([...y]).toEqual([...squares, squares.reduce((a, b) => a + b), squares.reduce((a, b) => (a > b ? a : b))]);
      return { args: [input(x), seeded(y), 100, bug], check };
    },
  },
];

const memory: Program[] = [
  {
    kernel: "stencil",
    shape: { grid: 3, block: 64 },
    run(bug) {
      const [x, y] = [floats(150, (k) => (k * k) % 31), new Float32Array(150)];
      const at = (k: number) => x[k] ?? 0;
      const check = () => expect([...y]).toEqual(range(150, (k) => at(k - 1) - 2 * at(k) + at(k + 1)));
      return { args: [input(x), output(y), 150, bug], check };
    },
  },
  {
    kernel: "product",
    shape: { grid: [2, 2], block: [8, 8] },
    bugs: 2,
    run(bug) {
      const [a, b, c] = [floats(256, (k) => k % 7), floats(256, (k) => (k % 5) - 2), new Float32Array(256)];
      const product = multiplied(
        16,
        16,
        16,
        (i, j) => a[16 * i + j]!,
        (i, j) => b[16 * i + j]!,
      );
      return { args: [input(a), input(b), output(c), 16, bug], check: () => expect([...c]).toEqual(product) };
    },
  },
  {
    kernel: "branches",
    shape: { grid: 1, block: 64 },
    bugs: 3,
    run(bug) {
      const y = new Int32Array(64);
      return { args: [output(y), bug], check: () => expect([...y]).toEqual(range(64, (t) => 2 * t + 3)) };
    },
  },
  {
    kernel: "warp_sum",
    shape: { grid: 1, block: 32 },
    bugs: 2,
    run(bug) {
      const [x, y] = [scattered(20, 99), new Int32Array(32)];
      return { args: [input(x), output(y), 20, bug], check: () => expect(y[0]).toBe(sum(x)) };
    },
  },
  {
    kernel: "reversed",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const [x, y] = [scattered(64, 99), new Int32Array(64)];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual([...x].reverse().map((value) => 3 * value)) };
    },
  },
  {
    kernel: "vectors",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const [x, y] = [floats(132, (k) => k), new Float32Array(128)];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual([...x.slice(0, 128)]) };
    },
  },
  {
    kernel: "flags",
    shape: { grid: 1, block: 96 },
    bugs: 2,
    run(bug) {
      const [x, y] = [integers(96, (k) => (k % 32 < 3 ? 5 : 1)), new Int32Array(96)];
      return { args: [input(x), output(y), bug], check: () => expect([...y]).toEqual(range(96, () => 4)) };
    },
  },
  {
    kernel: "last_block",
    shape: { grid: 4, block: 32 },
    bugs: 2,
    run(bug) {
      const [x, y] = [scattered(128, 99), new Int32Array(32)];
      const check = () => expect([...y]).toEqual(range(32, (t) => sum(range(4, (k) => x[32 * k + t]!))));
      return { args: [input(x), seeded(new Int32Array(128)), output(y), bug], check };
    },
  },
  {
    kernel: "neighbours",
    shape: { grid: 1, block: 64 },
    run(bug) {
      const [x, y] = [scattered(64, 99), new Int32Array(64)];
      const check = () => expect([...y]).toEqual(range(64, (t) => x[(t + 32) % 64]));
      return { args: [input(x), output(new Int32Array(64)), output(y), bug], check };
    },
  },
  {
    kernel: "padded",
    shape: { grid: 1, block: 32 },
    run(bug) {
      const [x, y] = [Float64Array.from({ length: 32 }, (_, k) => k / 4), new Float64Array(64)];
      const check = () => expect([...y].filter((_, k) => k % 2 === 1)).toEqual(range(32, (t) => (31 - t) / 4 + 2 * ((33 - t) & 3)));
      return { args: [input(x), seeded(y), 2, bug], check };
    },
  },
  {
    kernel: "partial",
    shape: { grid: 1, block: 64 },
    bugs: 0,
    run() {
      const [x, y] = [scattered(64, 99), new Int32Array(64)];
      const check = () => expect([...y]).toEqual(range(64, (t) => (63 - t < 40 ? 3 * x[63 - t]! : 0)));
      return { args: [input(x), seeded(y), 40], check };
    },
  },
];

/** The programs by the name of their file. */
export const programs: Readonly<Record<string, readonly Program[]>> = { groups, cub, asynchronous, tensor, numbers, language, memory };
