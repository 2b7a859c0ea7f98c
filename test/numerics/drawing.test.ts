// Drawing in bulk equals docs/numerics.md in plain loops, bit for bit, for any stream, offset and
// count.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawPositions, drawRows, fullMatrix, fullRowSums, Matrix, RandomStream } from "../../packages/numerics/src/index.js";
import { matrixPanels, packPanels } from "../../packages/numerics/src/wasm/layout.js";
import * as reference from "./drawing-reference.js";

const word = fc.integer({ min: 0, max: 0xffffffff });
const streams = fc.record({ key: fc.tuple(word, word), stream: word, purpose: word });
const distributions = fc.constantFrom("uniform" as const, "normal" as const, "bernoulli" as const);
const streamOf = ({ key, stream, purpose }: reference.Stream) => new RandomStream(key, stream, purpose);
const bits = (values: ArrayLike<number>) => Array.from(new BigUint64Array(Float64Array.from(values).buffer));

describe("rows of draws", () => {
  it("are the draws (r, 0), (r, 1), ... of each row", () => {
    fc.assert(
      fc.property(streams, distributions, fc.array(fc.nat(40), { maxLength: 6 }), fc.nat(700), (of, distribution, lengths, long) => {
        const counts = [...lengths, long, 1];
        const rowOffsets = Uint32Array.from([0, ...counts].map((_, r) => counts.slice(0, r).reduce((sum, count) => sum + count, 0)));
        const expected = counts.flatMap((count, r) => Array.from({ length: count }, (_, m) => reference.value(of, distribution, r, m)));
        expect(bits(drawRows(streamOf(of), distribution, rowOffsets))).toEqual(bits(expected));
      }),
      { numRuns: 60 },
    );
  });

  it("are the same across the chunks of a long row and of many rows", () => {
    const of = { key: [7, 0x89abcdef] as const, stream: 3, purpose: 1 };
    const rowOffsets = Uint32Array.of(0, 40000, 40001, ...Array.from({ length: 40000 }, (_, r) => 40002 + r));
    const values = drawRows(streamOf(of), "uniform", rowOffsets);
    for (const [row, m] of [
      [0, 0],
      [0, 32767],
      [0, 39999],
      [1, 0],
      [2, 0],
      [20000, 0],
      [40001, 0],
    ] as const)
      expect(values[rowOffsets[row]! + m]).toBe(reference.value(of, "uniform", row, m));
  });
});

describe("single draws", () => {
  it("are the same", () => {
    fc.assert(
      fc.property(streams, word, fc.integer({ min: 0, max: 0x7fffffff }), (of, row, index) => {
        const stream = streamOf(of);
        expect(stream.uniform(row, index)).toBe(reference.uniform(of, row, index));
        expect(bits([stream.normal(row, index)])).toEqual(bits([reference.value(of, "normal", row, index)]));
      }),
      { numRuns: 300 },
    );
  });
});

describe("positions", () => {
  const densities = fc.oneof(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom(0, 1e-300, 1e-17, 2 ** -53, 1e-6, 0.5, 1 - 2 ** -53, 1),
  );

  it("are those that geometric skipping selects, without the row's own column if that is asked for", () => {
    fc.assert(
      fc.property(
        streams,
        densities,
        fc.nat(300),
        fc.nat(4),
        fc.nat(5),
        fc.boolean(),
        (of, density, candidates, count, base, withoutOwn) => {
          const found = drawPositions(streamOf(of), { first: base, count, density, candidates, base, withoutOwn });
          for (let r = 0; r < count; r++) {
            const expected = reference
              .positions(of, base + r, density, candidates)
              .map((position) => base + position + (withoutOwn && position >= r ? 1 : 0));
            expect(Array.from(found.columns.subarray(found.rowOffsets[r], found.rowOffsets[r + 1]))).toEqual(expected);
          }
          expect(found.columns.length).toBe(found.rowOffsets[count]);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("fit however many a row selects", () => {
    // One of these rows in 1e11 selects all three candidates; the chunk holds fewer rows.
    const of = { key: [1, 2] as const, stream: 0, purpose: 1 };
    const count = 30000;
    const { rowOffsets } = drawPositions(streamOf(of), { first: 0, count, density: 0.5, candidates: 40 });
    for (const r of [0, 1, 4999, 29999]) expect(rowOffsets[r + 1]! - rowOffsets[r]!).toBe(reference.positions(of, r, 0.5, 40).length);
  });
});

describe("full matrices", () => {
  const fulls = fc.record({ of: streams, distribution: distributions, size: fc.integer({ min: 1, max: 40 }), withoutOwn: fc.boolean() });
  const rowsOf = ({
    of,
    distribution,
    size,
    withoutOwn,
  }: {
    of: reference.Stream;
    distribution: "uniform" | "normal" | "bernoulli";
    size: number;
    withoutOwn: boolean;
  }) =>
    Array.from({ length: size }, (_, r) => {
      const row = Array.from({ length: size - Number(withoutOwn) }, (_, m) => reference.value(of, distribution, r, m));
      if (withoutOwn) row.splice(r, 0, 0);
      return row;
    });

  it("are draws times a factor, rounded once, with a diagonal of 0 if that is asked for", () => {
    fc.assert(
      fc.property(fulls, fc.double({ min: -1e3, max: 1e3, noNaN: true }), (full, factor) => {
        const isOwn = (r: number, c: number) => full.withoutOwn && r === c;
        const expected = rowsOf(full).flatMap((row, r) => row.map((draw, c) => (isOwn(r, c) ? 0 : draw * factor)));
        const from = { ...full, values: streamOf(full.of) };
        expect(bits(fullMatrix(from, factor, "float32")!.data)).toEqual(bits(Float32Array.from(expected)));
        expect(bits(fullMatrix(from, factor, "float64")!.data)).toEqual(bits(expected));
      }),
      { numRuns: 60 },
    );
  });

  it("have sums of rows and of squares over rising columns, and normal draws serve once more", () => {
    fc.assert(
      fc.property(fulls, (full) => {
        const from = { ...full, values: streamOf(full.of) };
        const { sums, squares, drawn } = fullRowSums(from);
        const sum = (row: number[]) => row.reduce((total, w) => total + w, 0);
        expect(bits(sums)).toEqual(bits(rowsOf(full).map(sum)));
        expect(bits(squares)).toEqual(bits(rowsOf(full).map((row) => sum(row.map((w) => w * w)))));
        const draws = rowsOf(full).flatMap((row, r) => row.filter((_, c) => !(full.withoutOwn && c === r)));
        expect(drawn && bits(drawn)).toEqual(full.distribution === "normal" ? bits(draws) : undefined);
        const again = fullMatrix({ ...from, drawn }, 0.7, "float32")!;
        expect(bits(again.data)).toEqual(bits(fullMatrix(from, 0.7, "float32")!.data));
      }),
      { numRuns: 60 },
    );
  });

  it("are none if a value may be too large for their precision", () => {
    const full = { values: new RandomStream([1, 2], 0), distribution: "normal" as const, size: 20, withoutOwn: true };
    expect(fullMatrix(full, 1e38, "float32")).toBeUndefined();
    expect(fullMatrix(full, 1e38, "float64")).toBeDefined();
    expect(fullMatrix(full, 1e308, "float64")).toBeUndefined();
    expect(fullMatrix(full, Number.NaN, "float64")).toBeUndefined();
  });

  it("are the same numbers where they are packed, drawn or not", () => {
    const precisions = fc.constantFrom("float32" as const, "float64" as const);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 80 }), precisions, fc.constantFrom(1 as const, 2 as const), (size, precision, right) => {
        const full = { values: new RandomStream([1, 2], 0), distribution: "uniform" as const, size, withoutOwn: true };
        const lazy = fullMatrix(full, 0.5, precision)!;
        const layout = matrixPanels(lazy, precision === "float32" ? 4 : 8, right);
        const output = () => (precision === "float32" ? new Float32Array(layout.length) : new Float64Array(layout.length));
        const [undrawn, drawn] = [output(), output()];
        packPanels(lazy, layout, undrawn);
        packPanels(new Matrix(size, size, lazy.data), layout, drawn);
        expect(Buffer.from(undrawn.buffer).equals(Buffer.from(drawn.buffer))).toBe(true);
        const { panelRows, panels, streams } = layout;
        const rows = panelRows / streams;
        // Partial sum by partial sum, their numbers with reversed bits in rising order.
        const reversed = (i: number) => Number.parseInt(i.toString(2).padStart(5, "0").split("").reverse().join(""), 2);
        const columns = Array.from({ length: size }, (_, k) => k).sort((a, b) => reversed(a % 32) - reversed(b % 32) || a - b);
        for (let r = 0; r < size; r += 1 + (size >> 3)) {
          const stream = Math.floor((r % panelRows) / rows);
          const first = (stream * panels + Math.floor(r / panelRows)) * size * rows + (r % rows);
          columns.forEach((k, slot) => {
            if (drawn[first + slot * rows] !== lazy.data[r * size + k]) throw new Error(`row ${r}, column ${k}`);
          });
        }
      }),
      { numRuns: 60, examples: [[1500, "float32", 1]] },
    );
  });
});
