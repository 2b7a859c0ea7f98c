// A first argument of another type is an error that names the argument and the value.
import { expect, it } from "vitest";
import { SpillwayError } from "../../packages/core/src/errors.js";
import { generateKernel, kernelName } from "../../packages/ptx/src/kernels/index.js";
import { ReservoirStatistics, reservoirSnapshot } from "../../src/spikes/index.js";

const functions = {
  generateKernel,
  kernelName,
  reservoirSnapshot,
  observe: (state: never) => new ReservoirStatistics().observe(state),
} as unknown as Readonly<Record<string, (first: unknown) => unknown>>;

it.each(Object.entries(functions))("%s refuses it", (_name, call) => {
  for (const first of [undefined, null, 0, Number.NaN, "", "x", true, {}, [], [{}], () => 0]) {
    let thrown: unknown;
    try {
      call(first);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(SpillwayError);
    expect(thrown).toMatchObject({ code: "value", field: expect.stringMatching(/^(type|kind|state)$/) });
  }
});
