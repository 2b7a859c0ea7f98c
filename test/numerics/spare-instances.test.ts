import { describe, expect, it } from "vitest";
import { cholesky, evaluateRows, Matrix } from "../../packages/numerics/src/index.js";
import { releaseInstance, wasmInstance, wasmReserved } from "../../packages/numerics/src/wasm/index.js";

/** Of a size that nothing else takes. */
const bytes = 21_333_333;

describe("WebAssembly instances that are given back", () => {
  it("serve again, with their memory clear", () => {
    const first = wasmInstance(bytes);
    new Uint8Array(first.memory.buffer, wasmReserved, bytes).fill(7);
    releaseInstance(first);
    const second = wasmInstance(bytes - 1000);
    expect(second.memory).toBe(first.memory);
    expect(new Uint8Array(second.memory.buffer, wasmReserved, bytes - 1000).every((byte) => byte === 0)).toBe(true);
  });

  it("serve one at a time", () => {
    releaseInstance(wasmInstance(bytes));
    expect(wasmInstance(bytes).memory).not.toBe(wasmInstance(bytes).memory);
  });

  it("do not serve work that takes more, or much less", () => {
    const { memory } = wasmInstance(bytes);
    releaseInstance({ ...wasmInstance(bytes), memory });
    expect(wasmInstance(2 * bytes).memory).not.toBe(memory);
    expect(wasmInstance(bytes / 8).memory).not.toBe(memory);
    expect(wasmInstance(bytes).memory).toBe(memory);
  });

  it("hold no more than 64 MiB", () => {
    const large = wasmInstance(65 * 2 ** 20);
    releaseInstance(large);
    expect(wasmInstance(65 * 2 ** 20).memory).not.toBe(large.memory);
  });
});

describe("work in memory that served before", () => {
  const matrix = new Matrix(2, 2, Float64Array.of(4, 0, 2, 5));

  it("gives the same readouts", () => {
    const weights = new Matrix(1, 3, Float64Array.of(0.1, 0.2, 0.3));
    const ask = (rows: number) => {
      const out = new Float64Array(rows);
      evaluateRows(weights, Float64Array.of(1), rows, (t, row) => row.set([t, 0.5, -t]), out);
      return out;
    };
    const first = ask(5);
    ask(700);
    expect(ask(5)).toEqual(first);
  });

  it("solves no more once it was given back", () => {
    const factor = cholesky(matrix);
    const rhs = new Matrix(2, 1, Float64Array.of(1, 2));
    const solved = factor.solve(rhs);
    factor.dispose();
    factor.dispose();
    expect(() => factor.solve(rhs)).toThrow("the Cholesky factor");
    const again = cholesky(matrix);
    expect(again.solve(rhs)).toEqual(solved);
  });
});
