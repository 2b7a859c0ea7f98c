// Graph colouring by phase oscillators that push each other apart along edges: shares of 50 runs
// that end proper, by phases alone, after greedy repairs, and by the same repairs
// from random colours.
import { type ColouringOptions, colourGraph, type VertexGraph } from "spillway/reservoir";

const petersen: VertexGraph = {
  vertices: 10,
  edges: [0, 1, 2, 3, 4].flatMap((i) => [[i, (i + 1) % 5] as const, [i, i + 5] as const, [i + 5, ((i + 2) % 5) + 5] as const]),
};
/** Squares of a board that a queen goes between. */
const queens = (side: number): VertexGraph => {
  const squares = Array.from({ length: side * side }, (_, n) => [Math.floor(n / side), n % side] as const);
  const meet = (a: readonly [number, number], b: readonly [number, number]) =>
    a[0] === b[0] || a[1] === b[1] || Math.abs(a[0] - b[0]) === Math.abs(a[1] - b[1]);
  const edges = squares.flatMap((a, i) => squares.slice(i + 1).flatMap((b, j) => (meet(a, b) ? [[i, i + 1 + j] as const] : [])));
  return { vertices: side * side, edges };
};

for (const [name, graph, k] of [
  ["Petersen graph", petersen, 3],
  ["queens, 5 x 5", queens(5), 5],
] as const) {
  const share = async (options: ColouringOptions) => {
    let proper = 0;
    for (let seed = 0; seed < 50; seed++) if ((await colourGraph(graph, k, { seed, ...options })).conflicts === 0) proper++;
    return `${2 * proper} %`;
  };
  const [alone, repaired, random] = [await share({}), await share({ repair: true }), await share({ steps: 0, repair: true })];
  console.log(`${name}, ${k} colours: ${alone} by phases alone, ${repaired} after repairs, ${random} by repairs of random colours`);
}
