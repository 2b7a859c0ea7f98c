// What a user gets wrong of a matrix whose eigenvalues are asked for, and how refusals name things.
import { expect, it, describe as suite } from "vitest";
import { describe, eigenvalues, Matrix, matrixSpectralRadius } from "../../packages/numerics/src/index.js";

suite("eigenvalues", () => {
  it.each([
    [undefined, "missing"],
    [5, "5"],
    [[[1, 2]], "an array of 1"],
    [Float64Array.of(1), "a Float64Array"],
    [{ rows: 1, cols: 1 }, "a 1 x 1 matrix"],
  ])("are not those of %j", (matrix, name) => {
    const message = `the matrix is ${name}; eigenvalues take a Matrix, such as Matrix.from(rows) makes of lists`;
    expect(() => eigenvalues(matrix as never)).toThrow(message);
    expect(() => matrixSpectralRadius(matrix as never)).toThrow(message);
  });

  it("are found without options that there are not", () => {
    const matrix = Matrix.from([[0.5]]);
    expect(() => matrixSpectralRadius(matrix, { methd: "dense" } as never)).toThrow(
      'matrixSpectralRadius: unknown field "methd": did you mean "method"?',
    );
    expect(() => matrixSpectralRadius(matrix, null as never)).toThrow(
      "matrixSpectralRadius: options is null; it takes an object of options",
    );
    expect(matrixSpectralRadius(matrix, { method: "dense" }).radius).toBe(0.5);
  });
});

suite("what a refusal calls a value", () => {
  it("is said of what has no JSON too", () => {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    expect(describe(loop)).toMatch(/^\{"self":\{"self":.{1,50}\.\.\.$/);
    expect(describe({ seed: 5n })).toBe('{"seed":5n}');
    expect(describe({ seed: 5 })).toBe('{"seed":5}');
    expect(describe(Symbol("x"))).toBe("a symbol");
  });
});
