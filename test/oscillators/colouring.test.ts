// Colours by phases that push each other apart: small graphs with known chromatic numbers.
import { describe, expect, it } from "vitest";
import { colourGraph, conflictsOf, type VertexGraph } from "../../src/oscillators/index.js";

const cycle = (n: number): VertexGraph => ({ vertices: n, edges: Array.from({ length: n }, (_, i) => [i, (i + 1) % n] as const) });
const petersen: VertexGraph = {
  vertices: 10,
  edges: [0, 1, 2, 3, 4].flatMap((i) => [[i, (i + 1) % 5] as const, [i, i + 5] as const, [i + 5, ((i + 2) % 5) + 5] as const]),
};
const complete = (n: number): VertexGraph => ({
  vertices: n,
  edges: Array.from({ length: n }, (_, b) => Array.from({ length: b }, (__, a) => [a, b] as const)).flat(),
});
/** One more colour is needed, and no triangle is made. */
const mycielski = ({ vertices: n, edges }: VertexGraph): VertexGraph => ({
  vertices: 2 * n + 1,
  edges: [
    ...edges.flatMap(([a, b]) => [[a, b] as const, [a, b + n] as const, [a + n, b] as const]),
    ...Array.from({ length: n }, (_, i) => [n + i, 2 * n] as const),
  ],
});
const grotzsch = mycielski(cycle(5));

/** The share of runs that end proper. */
async function properShare(graph: VertexGraph, k: number, runs: number, repair = false): Promise<number> {
  let proper = 0;
  for (let seed = 0; seed < runs; seed++) if ((await colourGraph(graph, k, { seed, repair })).conflicts === 0) proper++;
  return proper / runs;
}

describe("colourGraph", () => {
  it("colours the Petersen graph and a cycle of 9 with three colours, in every run", async () => {
    expect(await properShare(petersen, 3, 10)).toBe(1);
    expect(await properShare(cycle(9), 3, 10)).toBe(1);
  });

  it("mostly colours the Mycielski graph of 11 vertices with four, and never with three", async () => {
    expect([grotzsch.vertices, grotzsch.edges.length]).toEqual([11, 20]);
    expect(await properShare(grotzsch, 4, 20)).toBeGreaterThan(0.8);
    expect(await properShare(grotzsch, 3, 5, true)).toBe(0);
  });

  it("colours six vertices that are all connected in a third of its runs, and with repairs in all", async () => {
    const alone = await properShare(complete(6), 6, 30);
    expect(alone).toBeGreaterThan(0.1);
    expect(alone).toBeLessThan(0.6);
    expect(await properShare(complete(6), 6, 10, true)).toBe(1);
  });

  it("counts its conflicts, and ends on the circle with the same bits for the same seed", async () => {
    const one = await colourGraph(complete(6), 5, { seed: 4, steps: 200 });
    expect(one.conflicts).toBe(conflictsOf(complete(6), one.colours));
    expect(one.conflicts).toBeGreaterThan(0);
    one.cosines.forEach((c, i) => {
      expect(c * c + one.sines[i]! ** 2).toBeCloseTo(1, 14);
      const colour = Math.round((5 * Math.atan2(one.sines[i]!, c)) / (2 * Math.PI));
      expect(one.colours[i]).toBe((colour + 5) % 5);
    });
    expect(await colourGraph(complete(6), 5, { seed: 4, steps: 200 })).toEqual(one);
    expect((await colourGraph(complete(6), 5, { seed: 5, steps: 200 })).cosines).not.toEqual(one.cosines);
  });

  it("takes random colours with no steps, and hears a signal", async () => {
    expect((await colourGraph(petersen, 3, { steps: 0 })).colours).not.toEqual(
      (await colourGraph(petersen, 3, { steps: 0, seed: 1 })).colours,
    );
    await expect(colourGraph(petersen, 3, { signal: AbortSignal.abort() })).rejects.toThrow("stopped after 0 of 1500 steps");
  });

  it.each([
    [{ vertices: 3, edges: [[0, 3]] }, 2, 'graph.edges[0] is "[0, 3]"; it takes a pair of different vertices from 0 to 2'],
    [{ vertices: 3, edges: [[1, 1]] }, 2, 'graph.edges[0] is "[1, 1]"; it takes a pair of different vertices'],
    [
      {
        vertices: 3,
        edges: [
          [0, 1],
          [1, 0],
        ],
      },
      2,
      "it takes each edge once",
    ],
    [{ vertices: 0, edges: [] }, 2, "graph.vertices is 0"],
    [{ vertices: 3, edges: [] }, 0, "k is 0"],
  ] as const)("refuses %o with %i colours", async (graph, k, message) => {
    await expect(colourGraph(graph as never, k)).rejects.toThrow(message);
  });
});
