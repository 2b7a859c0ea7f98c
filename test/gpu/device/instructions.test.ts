// The table of single instructions that the simulated device is held to, through the driver: what
// the simulation promises is what a GPU does.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Context, Module } from "../../../packages/gpu/src/index.js";
import { instructionCases, instructionModule } from "../../ptx/instruction-cases.js";
import { openTestDevice } from "./device.js";

let context: Context;
let module: Module;

beforeAll(() => {
  context = openTestDevice();
  module = context.load(instructionModule(instructionCases), { label: "instructions" });
});

afterAll(() => context?.dispose());

describe("instructions", () => {
  it.each(instructionCases.map((each, k) => [each.code, k] as const))("%s", (_, k) => {
    const { widths, rows } = instructionCases[k]!;
    const operands = widths.length - 1;
    const given = new BigUint64Array(3 * rows.length);
    for (const [row, values] of rows.entries()) for (let j = 0; j < operands; j++) given[3 * row + j] = BigInt(values[j]!);
    const kernel = module.kernel(`k${k}`, ["const u64*", "u64*"]);
    using stream = context.stream();
    using input = context.upload(given);
    using output = context.zeros("u64", rows.length);
    stream.launch(kernel, { grid: 1, block: rows.length }, input, output);
    stream.sync();
    const hexadecimal = (value: number | bigint): string => `0x${BigInt(value).toString(16)}`;
    expect([...(context.read(output) as BigUint64Array)].map(hexadecimal)).toEqual(rows.map((values) => hexadecimal(values[operands]!)));
  });
});
