// The table of matrix products that the simulated device is held to, through the driver: what the
// simulation promises is what a GPU does.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context, Module } from "../../../packages/gpu/src/index.js";
import { matrixCases, matrixModule } from "../../ptx/matrix-cases.js";
import { openTestDevice } from "./device.js";

let context: Context;
let module: Module;

beforeAll(() => {
  context = openTestDevice();
  module = context.load(matrixModule(matrixCases), { label: "matrix products" });
});

afterAll(() => context?.dispose());

describe("matrix products", () => {
  it.each(matrixCases.map((each, k) => [each.name, k] as const))("%s", (_, k) => {
    const { a, b, c, d, expected } = matrixCases[k]!;
    const kernel = module.kernel(`k${k}`, ["const u32*", "const u32*", "const u32*", "u32*"]);
    using stream = context.stream();
    const inputs = [context.upload(a), context.upload(b), context.upload(c)] as const;
    using output = context.upload(d);
    stream.launch(kernel, { grid: 1, block: 32 }, ...inputs, output);
    stream.sync();
    expect(context.read(output)).toEqual(expected);
    for (const input of inputs) input.dispose();
  });
});
