import { describe, expect, it } from "vitest";
import { asMatrix, checkSparse, Matrix, toDense } from "../../packages/numerics/src/index.js";

describe("asMatrix", () => {
  it("takes numbers as one column, and rows of numbers or of any typed array", () => {
    expect(asMatrix([1, 2]).toArrays()).toEqual([[1], [2]]);
    expect(asMatrix([[1, 2], Float32Array.of(3, 4)]).toArrays()).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  // A typed array would make 0 of null, 1 and 2 of the text "12", and NaN of a list.
  it.each([
    [[1, null, 3], "series: row 1 is null; a row is a number"],
    [
      [
        [1, 2],
        [3, null],
      ],
      "series: row 1, column 1 is null; it takes a number, NaN if it is missing",
    ],
    [["12", "34"], 'series: row 0 is "12"; a row is a number or a list of numbers'],
    [[["1", "2"]], 'series: row 0, column 0 is "1"; it takes a number, NaN if it is missing'],
    [[null], "series: row 0 is null; a row is a number or a list of numbers"],
    [[[[1, 2]]], "series: row 0, column 0 is an array of 2; it takes a number, NaN if it is missing"],
    [[1, [2]], "series: row 1 is an array of 1 and row 0 is a number; rows are all numbers or all lists"],
    [[[1, 2], 3], "series: row 1 holds 1 values and row 0 holds 2; every row takes the same number"],
    [[new Matrix(1, 1, Float64Array.of(1))], "series: row 0 is a 1 x 1 matrix; a row is a number or a list of numbers"],
  ])("refuses %j", (source, message) => {
    expect(() => asMatrix(source as never, "series")).toThrow(message);
  });
});

describe("a CSR matrix whose offsets rise beyond its values and fall again", () => {
  const matrix = {
    rows: 3,
    cols: 2,
    rowOffsets: Uint32Array.of(0, 0xff000000, 0xff000000, 2),
    columns: Uint32Array.of(0, 1),
    values: Float64Array.of(1, 2),
  };

  it("is refused before any row is looked through", () => {
    expect(() => checkSparse(matrix, "W")).toThrow("W: rowOffsets falls from 4278190080 to 2 after row 2; it takes rising offsets");
    expect(() => toDense(matrix)).toThrow("rowOffsets falls");
  });
});

describe("Matrix", () => {
  it("refuses a size, values or a precision that it does not take", () => {
    expect(() => new Matrix(2, 1, [1, 2] as never)).toThrow("data is an array of 2; it takes a Float32Array or a Float64Array");
    expect(() => new Matrix(2, 1, undefined as never)).toThrow("data is missing");
    expect(() => Matrix.zeros(-1, 2)).toThrow("rows is -1; it takes a whole number of at least 0");
    expect(() => Matrix.zeros(2, 2, "float16" as never)).toThrow('precision is "float16"; it takes "float32" or "float64"');
    expect(() => Matrix.from([1], "single" as never)).toThrow('precision is "single"');
  });

  it("has no row outside of it, as it has no value and no column there", () => {
    const matrix = Matrix.zeros(3, 2);
    for (const r of [-1, 3, 0.5, Number.NaN]) expect(() => matrix.row(r)).toThrow(`row ${r} is outside a 3 x 2 matrix`);
    expect(() => matrix.column(2)).toThrow("column 2 is outside a 3 x 2 matrix");
    expect(() => matrix.at(3, 0)).toThrow("(3, 0) is outside a 3 x 2 matrix");
  });
});
