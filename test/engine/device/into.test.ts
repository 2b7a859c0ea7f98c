// States that go into the caller's matrices, plain or page-locked: the same bits in the right rows.
import { afterAll, describe, expect, it } from "vitest";
import { Matrix } from "../../../packages/numerics/src/index.js";
import { type LockedMatrix, lockedMatrix } from "../../../src/engine/cuda/locked-matrix.js";
import { ArgumentError, ReservoirComputer, type ReservoirOptions } from "../../../src/index.js";
import { casesOf } from "../../exhaustive.js";
import { onHardware, openTestDevice } from "../../gpu/device/device.js";
import { bits, randomMatrix } from "../contract.js";
import "../../../packages/sim/src/index.js";

const context = openTestDevice();
const locked: LockedMatrix[] = [];
afterAll(() => {
  for (const matrix of locked) matrix.dispose();
  context.dispose();
});

const where = { device: onHardware ? 0 : "sim" };

function lockedOf(rows: number, cols: number, precision: "float32" | "float64" = "float32"): LockedMatrix {
  const matrix = lockedMatrix(rows, cols, { ...where, precision });
  locked.push(matrix);
  return matrix;
}

/** Memory for the states of sequences: rows of one matrix, with a row between two of them that must stay as it is. */
function targets(kind: "plain" | "locked" | "mixed", rows: readonly number[], size: number, precision: "float32" | "float64") {
  const total = rows.reduce((sum, each) => sum + each + 1, 0);
  const all = [kind === "locked" ? lockedOf(total, size, precision) : Matrix.zeros(total, size, precision)];
  if (kind === "mixed") all.push(lockedOf(total, size, precision));
  for (const { data } of all) data.fill(7);
  let at = 0;
  const into = rows.map((each, b) => {
    const matrix = all[b % all.length]!.subarray(at, at + each) as Matrix;
    at += each + 1;
    return matrix;
  });
  const sevens = () => all.flatMap(({ data }) => [...data]).filter((x) => x === 7).length;
  return { into, sevens, untouched: sevens() };
}

const shapes: readonly (readonly [string, ReservoirOptions, readonly number[]])[] = [
  [
    "in step through one dense W",
    { size: 300, storage: "dense", connectionProbability: 0, spectralRadius: null },
    [6, 9, 4, 9, 6, 6, 9, 4],
  ],
  ["each on a multiprocessor", { size: 20 }, [5, 17, 5, 9]],
  ["each on a multiprocessor, in float64", { size: 10, precision: "float64" }, [3, 3, 8]],
];

describe.each(casesOf(shapes, ([, { size }]) => size === 20))("a batch %s", (_, options, lengths) => {
  it.each(["plain", "locked", "mixed"] as const)("puts states into %s matrices", { timeout: 60_000 }, async (kind) => {
    await using there = await ReservoirComputer.create({ ...options, seed: 3 }, { context });
    await using here = await ReservoirComputer.create({ ...options, seed: 3 }, { engine: "reference" });
    const { size, precision } = there.model;
    const sequences = lengths.map((rows, b) => randomMatrix(rows, 1, precision, b));
    for (const keep of ["all", "last"] as const) {
      const rows = keep === "all" ? lengths : lengths.map(() => 1);
      const expected = await here.batch(sequences, { keep });
      for (const computer of [there, here]) {
        const { into, sevens, untouched } = targets(kind, rows, size, precision);
        const found = await computer.batch(sequences, { keep, into });
        for (const [b, { data }] of found.entries()) {
          expect(found[b]).toBe(into[b]);
          expect(bits(data)).toEqual(bits(expected[b]!.data));
        }
        expect(sevens()).toBe(untouched - rows.reduce((sum, each) => sum + each * size, 0));
      }
    }
  });
});

it("a run puts every or each k-th state into a page-locked or plain matrix, over several chunks", async () => {
  await using there = await ReservoirComputer.create({ size: 40, seed: 3 }, { context });
  await using here = await ReservoirComputer.create({ size: 40, seed: 3 }, { engine: "reference" });
  const inputs = randomMatrix(50, 1, "float32", 1);
  for (const every of [1, 3])
    for (const make of [lockedOf, (rows: number, cols: number) => Matrix.zeros(rows, cols, "float32")]) {
      const into = make(Math.floor(50 / every), 40) as Matrix;
      expect(await there.run(inputs, { every, into })).toBe(into);
      expect(bits(into.data)).toEqual(bits((await here.run(inputs, { every })).data));
      expect(there.state).toEqual(here.state);
    }
});

it("a run leaves the rows from the first state on that is not finite", async () => {
  const linear = { size: 3, activation: "identity", leakRate: 1, spectralRadius: null, connectionProbability: 0 } as const;
  const matrices = {
    weights: new Matrix(3, 3, new Float32Array(9).fill(1e12)),
    inputWeights: new Matrix(3, 1, new Float32Array(3).fill(1)),
  };
  await using computer = await ReservoirComputer.create(linear, { context, matrices });
  for (const into of [lockedOf(12, 3), Matrix.zeros(12, 3, "float32")]) {
    into.data.fill(7);
    computer.reset();
    const failing = computer.run(new Float32Array(12).fill(1), { into: into as Matrix });
    await expect(failing).rejects.toThrow(/finite/);
    const first = into.data.indexOf(7) / 3;
    expect(first).toBe(computer.state.step);
    expect(into.data.subarray(0, 3 * first).every(Number.isFinite)).toBe(true);
    expect(new Set(into.data.subarray(3 * first))).toEqual(new Set([7]));
  }
});

describe("a page-locked matrix", () => {
  it("is zeros at first and empty after its disposal", async () => {
    const matrix = lockedMatrix(3, 4, where);
    expect([matrix.rows, matrix.cols, matrix instanceof Matrix]).toEqual([3, 4, true]);
    expect(matrix.data).toEqual(new Float32Array(12));
    matrix.dispose();
    matrix.dispose();
    expect(matrix.data.length).toBe(0);
    await using computer = await ReservoirComputer.create({ size: 4 }, { context });
    await expect(computer.run(new Float32Array(3), { into: matrix })).rejects.toThrow(/memory of into is gone/);
  });

  it("refuses sizes that are none, and more than the machine has", () => {
    for (const rows of [0, -1, 1.5, Number.NaN, "3"] as number[])
      expect(() => lockedMatrix(rows, 2, where)).toThrow(/^rows is .*at least 1/);
    expect(() => lockedMatrix(2, 0, where)).toThrow(/^cols is 0/);
    expect(() => lockedMatrix(2 ** 40, 2 ** 10, where)).toThrow(/1099511627776 x 1024 float32 takes .*this machine has/);
    expect(() => lockedMatrix(2, 2, { ...where, precision: "float16" as "float32" })).toThrow(/precision is "float16"/);
    expect(() => lockedMatrix(2, 2, { device: "nowhere" })).toThrow(/"nowhere"/);
  });
});

it("a batch refuses matrices of another number or shape, and both a device and matrices", async () => {
  await using computer = await ReservoirComputer.create({ size: 4 }, { context });
  const sequences = [new Float32Array(3), new Float32Array(2)];
  const of = (...rows: number[]) => rows.map((each) => Matrix.zeros(each, 4, "float32") as Matrix);
  await expect(computer.batch(sequences, { into: of(3) })).rejects.toThrow("into holds 1 matrices; 2 sequences take as many");
  await expect(computer.batch(sequences, { into: of(3, 3) })).rejects.toThrow(/into\[1\] is a 3 x 4 float32 matrix; it takes 2 x 4/);
  await expect(computer.batch(sequences, { keep: "last", into: of(3, 2) })).rejects.toThrow(/into\[0\].*takes 1 x 4/);
  await expect(computer.batch(sequences, { keep: "device", into: of(3, 2) })).rejects.toThrow(ArgumentError);
});
