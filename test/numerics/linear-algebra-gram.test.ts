// The Gram matrix of rule 9, bit for bit.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ColumnSource, Matrix, MemoryLimitError, mirrorLowerTriangle, PortableGram } from "../../packages/numerics/src/index.js";
import { bits, plainGram, randomMatrix } from "./linear-algebra-reference.js";

/** The Gram matrix of x, its rows handed over in portions of the given sizes, over and over. */
function gramInPortions(x: Matrix, portions: readonly number[]): PortableGram {
  const gram = new PortableGram(x.cols);
  for (let first = 0, p = 0; first < x.rows; p++) {
    const part = x.subarray(first, first + portions[p % portions.length]!);
    gram.add([{ matrix: part, square: "none" }], part.rows);
    first += part.rows;
  }
  return gram;
}

function matrixOf(gram: PortableGram): Matrix<Float64Array> {
  return mirrorLowerTriangle(gram.lowerTriangle());
}

describe("the Gram matrix", () => {
  it.each([1, 2, 1023, 1024, 1025, 3000])("has the bits of plain loops over %i rows", (rows) => {
    const x = randomMatrix(rows, 7, rows);
    expect(bits(matrixOf(gramInPortions(x, [rows])).data)).toEqual(bits(plainGram(x).data));
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 17, 18, 19, 23, 29, 31, 36, 37, 40])("has them for %i columns", (columns) => {
    const x = randomMatrix(300, columns, columns);
    expect(bits(matrixOf(gramInPortions(x, [300])).data)).toEqual(bits(plainGram(x).data));
  });

  it.each([1, 3, 4, 5, 8, 13, 40])("gives its diagonal alone, of %i columns", (columns) => {
    const gram = gramInPortions(randomMatrix(1100, columns, columns), [700]);
    const all = matrixOf(gram);
    const diagonal = Float64Array.from({ length: columns }, (_, i) => all.data[i * (columns + 1)]!);
    expect(bits(gram.diagonal())).toEqual(bits(diagonal));
  });

  it("has them for more columns than one strip of the kernel holds", () => {
    const x = randomMatrix(9, 131, "strips");
    expect(bits(matrixOf(gramInPortions(x, [9])).data)).toEqual(bits(plainGram(x).data));
  });

  it("does not depend on how the rows are cut into calls", () => {
    const shape = fc.record({
      rows: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1023, 1024, 1025, 2049, 3000)),
      columns: fc.integer({ min: 1, max: 14 }),
      portions: fc.array(fc.integer({ min: 1, max: 1500 }), { minLength: 1, maxLength: 6 }),
      precision: fc.constantFrom("float32" as const, "float64" as const),
    });
    fc.assert(
      fc.property(shape, ({ rows, columns, portions, precision }) => {
        const x = randomMatrix(rows, columns, "cut", precision);
        expect(bits(matrixOf(gramInPortions(x, portions)).data)).toEqual(bits(plainGram(x).data));
      }),
      { numRuns: 60, seed: 1 },
    );
  });

  it("can be asked for in the middle of a block without changing what follows", () => {
    const x = randomMatrix(1500, 5, "middle");
    const gram = new PortableGram(5);
    gram.add([{ matrix: x.subarray(0, 700), square: "none" }], 700);
    expect(bits(matrixOf(gram).data)).toEqual(bits(plainGram(x.subarray(0, 700)).data));
    gram.add([{ matrix: x.subarray(700), square: "none" }], 800);
    expect(bits(matrixOf(gram).data)).toEqual(bits(plainGram(x).data));
    expect(gram.rows).toBe(1500);
  });

  it("joins sources from left to right, squares where asked, and promotes binary32 exactly", () => {
    const states = randomMatrix(50, 9, "states", "float32");
    const targets = randomMatrix(50, 2, "targets");
    const sources: ColumnSource[] = [
      { matrix: states, square: "odd" },
      { matrix: states, square: "all" },
      "ones",
      { matrix: targets, square: "none" },
    ];
    const gram = new PortableGram(21);
    gram.add(sources, 50);
    const rows = Array.from({ length: 50 }, (_, t) => {
      const x = Array.from(states.row(t));
      return [...x.map((value, i) => (i % 2 === 1 ? value * value : value)), ...x.map((value) => value * value), 1, ...targets.row(t)];
    });
    expect(bits(matrixOf(gram).data)).toEqual(bits(plainGram(Matrix.from(rows)).data));
  });

  it("adds another one by finishing both blocks and adding the totals", () => {
    const first = randomMatrix(1100, 8, "first");
    const second = randomMatrix(200, 8, "second");
    const gram = gramInPortions(first, [1100]);
    gram.merge(gramInPortions(second, [200]));
    const a = plainGram(first).data;
    const b = plainGram(second).data;
    expect(bits(matrixOf(gram).data)).toEqual(bits(a.map((value, i) => value + b[i]!)));
    expect(gram.rows).toBe(1300);
  });

  it("begins a new block after it was added to", () => {
    const first = randomMatrix(10, 3, "first");
    const second = randomMatrix(10, 3, "second");
    const third = randomMatrix(1030, 3, "third");
    const gram = gramInPortions(first, [10]);
    gram.merge(gramInPortions(second, [10]));
    gram.add([{ matrix: third, square: "none" }], 1030);
    const parts = [first, second, third.subarray(0, 1024), third.subarray(1024)].map((part) => plainGram(part).data);
    expect(bits(matrixOf(gram).data)).toEqual(bits(parts[0]!.map((value, i) => value + parts[1]![i]! + parts[2]![i]! + parts[3]![i]!)));
  });

  it("refuses what does not fit 4 GiB with both numbers, before it allocates", () => {
    expect(() => new PortableGram(30000)).toThrow(MemoryLimitError);
    expect(() => new PortableGram(30000)).toThrow(
      /the Gram matrix of 30000 columns takes 6\.\d\d GiB of memory and the limit is 4\.00 GiB: use fewer features/,
    );
  });

  it("cannot be used after it was disposed, and can be disposed twice", () => {
    const gram = new PortableGram(3);
    gram.dispose();
    gram.dispose();
    expect(() => gram.lowerTriangle()).toThrow("the Gram matrix was disposed; create a new one");
  });
});
