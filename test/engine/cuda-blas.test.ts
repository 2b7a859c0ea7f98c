// `cudaBlas` if there is no GPU, and what a ridge fit makes of things that are no library.
import { describe, expect, it } from "vitest";
import { cudaBlas, ridge } from "../../src/index.js";

describe("cudaBlas", () => {
  it.each([
    ["cpu", 'engine is "cpu"; cudaBlas takes "cuda" or a device by number, "cuda:1"'],
    ["sim", "cuBLAS works on a GPU only; this device is Spillway simulated device"],
    ["abacus", "there is no engine of that name"],
  ])("refuses the engine %s", async (engine, sentence) => {
    await expect(cudaBlas(engine)).rejects.toThrow(sentence);
  });

  it("is the only kind of object that blas takes", () => {
    expect(() => ridge({ blas: { library: "mine" } as never })).toThrow(/^ridge: blas is .*; it takes "portable", "system" or a library$/);
  });
});
