// Single instructions on the simulated device, held to the table of instruction-cases.ts.
import { describe, expect, it } from "vitest";
import { Bench, input, output } from "./device.js";
import { instructionCases, instructionModule } from "./instruction-cases.js";

const bench = new Bench(instructionModule(instructionCases));

describe("instructions", () => {
  it.each(instructionCases.map((each, k) => [each.code, k] as const))("%s", (_, k) => {
    const { widths, rows } = instructionCases[k]!;
    const operands = widths.length - 1;
    const given = new BigUint64Array(3 * rows.length);
    for (const [row, values] of rows.entries()) for (let j = 0; j < operands; j++) given[3 * row + j] = BigInt(values[j]!);
    const got = new BigUint64Array(rows.length);
    bench.run(`k${k}`, { grid: 1, block: rows.length }, [input(given), output(got)]);
    const hexadecimal = (value: number | bigint): string => `0x${BigInt(value).toString(16)}`;
    expect([...got].map(hexadecimal)).toEqual(rows.map((values) => hexadecimal(values[operands]!)));
  });
});
