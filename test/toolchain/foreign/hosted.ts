// The programs of plain.cu with the host's part: typed launches on a device, structs by value,
// memory that is freed too early.
import { expect } from "vitest";
import { type Context, type Module, type Stream, struct, vector } from "../../../packages/gpu/src/index.js";

export interface Device {
  readonly context: Context;
  readonly module: Module;
  readonly stream: Stream;
}

/** A program: `run` does what the host does, and gives the look at what that left. */
export interface Hosted {
  kernel: string;
  bugs: number;
  run(device: Device, bug: number): () => void;
}

const floats = (count: number, of: (k: number) => number) => Float32Array.from({ length: count }, (_, k) => of(k));
const integers = (count: number, of: (k: number) => number) => Int32Array.from({ length: count }, (_, k) => of(k));
const range = <T>(count: number, of: (k: number) => T): T[] => Array.from({ length: count }, (_, k) => of(k));

const item = struct({ kind: "i8", weight: "f64", counts: ["i16", 3], on: "bool" }, { name: "Item" });
const settings = struct(
  { flags: "u8", color: vector("f32", 4), items: [item, 2], key: "i64", table: "const f32*" },
  { name: "Settings", align: 16 },
);
const scaled = struct({ weights: "const f32*", factor: "f32" }, { name: "Scaled<2>" });

function power(base: bigint, exponent: number): bigint {
  return BigInt.asIntN(64, base ** BigInt(exponent));
}

export const hosted: readonly Hosted[] = [
  {
    kernel: "settings",
    bugs: 1,
    run({ context, module, stream }, bug) {
      const table = floats(32, (k) => k / 2);
      const memory = context.upload(table);
      const y = context.zeros("f64", 32);
      const items = range(2, (k) => ({ kind: k - 3, weight: k + 0.25, counts: Int16Array.of(10 * k, -20, 30), on: k === 1 }));
      const given = { flags: 200, color: { x: 1, y: 2, z: 3, w: 4 }, items, key: -5n * 2n ** 32n, table: memory };
      stream.launch(module.kernel("settings", [settings, "f64*", "i32"]), { grid: 1, block: 32 }, given, y, bug);
      return () =>
        expect([...context.read(y)]).toEqual(
          range(32, (t) => {
            const { kind, weight, counts, on } = items[t & 1]!;
            return 200 + 3 * table[t]! + kind + weight + counts[t % 3]! + (on ? 1000 : 0) - 5;
          }),
        );
    },
  },
  {
    kernel: "functor",
    bugs: 1,
    run({ context, module, stream }, bug) {
      const [x, weights] = [floats(100, (k) => k - 50), floats(4, (k) => k + 1)];
      const [from, to] = [context.upload(x), context.zeros("f32", 100)];
      const kernel = module.kernel("functor", ["const f32*", "f32*", "i32", scaled, "i32"]);
      const held = context.upload(weights);
      stream.launch(kernel, { grid: 4, block: 32 }, from, to, 100, { weights: held, factor: 0.5 }, bug);
      return () => expect(context.read(to)).toEqual(x.map((value, k) => 0.5 * weights[k % 4]! * value * value));
    },
  },
  {
    kernel: "recall",
    bugs: 1,
    run({ context, module, stream }, bug) {
      const x = integers(32, (k) => 3 * k);
      const [memory, kept, y] = [context.upload(x), context.zeros("u64", 1), context.zeros("i32", 32)];
      stream.launch(module.kernel("remember", ["u64*", "const i32*"]), { grid: 1, block: 1 }, kept, memory);
      if (bug === 1) memory.dispose();
      stream.launch(module.kernel("recall", ["const u64*", "i32*"]), { grid: 1, block: 32 }, kept, y);
      return () => expect(context.read(y)).toEqual(x.map((value) => value + 1));
    },
  },
  {
    kernel: "block_sum",
    bugs: 4,
    run({ context, module, stream }, bug) {
      const x = integers(256, (k) => (k * k) % 101);
      const y = context.zeros("i32", 2);
      stream.launch(module.kernel("block_sum", ["const i32*", "i32*", "i32"]), { grid: 2, block: 128 }, context.upload(x), y, bug);
      return () => expect([...context.read(y)]).toEqual([0, 128].map((first) => x.slice(first, first + 128).reduce((a, b) => a + b)));
    },
  },
  {
    kernel: "fours",
    bugs: 2,
    run({ context, module, stream }, bug) {
      const x = floats(4 * 64 + 1, (k) => k % 17);
      const y = context.zeros("f32", 64);
      stream.launch(module.kernel("fours", ["const f32*", "f32*", "i32"]), { grid: 2, block: 32 }, context.upload(x), y, bug);
      return () => expect([...context.read(y)]).toEqual(range(64, (k) => x[4 * k]! + x[4 * k + 1]! * x[4 * k + 2]! - x[4 * k + 3]!));
    },
  },
  {
    kernel: "ticket",
    bugs: 1,
    run({ context, module, stream }, bug) {
      const kinds = Int32Array.of(2, 0, 3, 1);
      const of = [
        (t: number) => power(3n, t % 30),
        (t: number) => power(-2n, t),
        (t: number) => 0x123456789an / BigInt(t + 1),
        (t: number) => -1000000007n % BigInt(t + 2),
      ];
      const [parts, counter, y] = [context.zeros("i64", 4 * 32), context.zeros("i32", 1), context.zeros("i64", 32)];
      const kernel = module.kernel("ticket", ["const i32*", "i32*", "i64*", "i64*", "i32"]);
      stream.launch(kernel, { grid: 4, block: 32 }, context.upload(kinds), counter, parts, y, bug);
      return () => expect([...context.read(y)]).toEqual(range(32, (t) => of.reduce((all, each) => all ^ each(t), 0n)));
    },
  },
];
