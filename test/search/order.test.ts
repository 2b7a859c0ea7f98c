// The order of numbers is that of a stable sort.
import { describe, expect, it } from "vitest";
import { RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { orderOf } from "../../packages/search/src/order.js";

const stream = new RandomStream(seedKeys("order").weights, 0);
const uniform = (n: number) => Float64Array.from({ length: n }, (_, i) => stream.uniform(n, i));

describe("orderOf", () => {
  it.each<[string, Float64Array]>([
    ["none", new Float64Array(0)],
    ["one", Float64Array.of(3)],
    ["spread", uniform(3000)],
    ["two clusters and one far away", uniform(1000).map((u, i) => (i === 7 ? 1e9 : i % 2 === 0 ? 1 + 1e-9 * u : 2 + 1e-12 * u))],
    ["few values, each many times", uniform(1000).map((u) => Math.floor(5 * u) / 4)],
    ["all the same", new Float64Array(500).fill(0.1)],
    ["next to the smallest number", uniform(200).map((u) => Math.floor(50 * u) * Number.MIN_VALUE)],
    ["as large as they get", uniform(200).map((u) => (u - 0.5) * 1.99 * Number.MAX_VALUE)],
  ])("is stable for numbers: %s", (_, values) => {
    const indices = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]! || a - b);
    expect([...orderOf(values, values.length)]).toEqual(indices);
  });
});
