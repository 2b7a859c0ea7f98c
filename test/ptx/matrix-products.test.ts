// mma.sync and wmma on the simulated device, held to the table of matrix-cases.ts, and what they
// refuse.
import { describe, expect, it } from "vitest";
import { Bench, input, output } from "./device.js";
import { matrixCases, matrixModule } from "./matrix-cases.js";

const bench = new Bench(matrixModule(matrixCases), { checks: { globalRaces: true } });

describe("matrix products", () => {
  it.each(matrixCases.map((each, k) => [each.name, k] as const))("%s", (_, k) => {
    const { a, b, c, d, expected } = matrixCases[k]!;
    const result = d.slice();
    bench.run(`k${k}`, { grid: 1, block: 32 }, [input(a), input(b), input(c), { ...output(result), seeded: true }]);
    expect(result).toEqual(expected);
  });
});
