// Graph colouring by phase oscillators that push each other away along edges. An illustration: on
// hard graphs it finds nothing that greedy repairs from random colours do not.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { flag, type InputOf, number, option, type Resolved, resolve, seed, whole } from "@spillway/core/options.js";
import { portableCos, portableSin, RandomStream, type Seed, seedKeys } from "@spillway/numerics";
import { type WorkOptions, WorkPacer } from "../reservoir/index.js";
import { workTable } from "../reservoir/work.js";
import { inBinary64, portableSum, turn } from "./circle.js";

/** A graph: how many vertices, and its edges as pairs of them, each once. */
export interface VertexGraph {
  readonly vertices: number;
  readonly edges: readonly (readonly [number, number])[];
}

export const colouringTable = {
  ...workTable,
  /** Heun steps. Default 1500; with 0, colours are those of the first phases, drawn at random. */
  steps: option(whole(), 1500, "Heun steps; with 0, colours are those of the first phases."),
  /** The time of a step. Default .05. */
  timeStep: option(number({ above: 0, atMost: 1 }), 0.05, "The time of a step."),
  /** How strongly neighbours push each other away, over the mean degree. Default 4. */
  repulsion: option(number({ above: 0 }), 4, "How strongly neighbours push each other away, over the mean degree."),
  /** The pull towards k equal phases at the end; it grows from 0. Default 1.5. */
  pull: option(number({ atLeast: 0 }), 1.5, "The pull towards k equal phases at the end."),
  /** D of the noise at the start; it falls to 0. Default .15. */
  noise: option(number({ atLeast: 0 }), 0.15, "D of the noise at the start."),
  /** Whether colours are repaired greedily, in at most 5 steps a vertex. Default false. */
  repair: option(flag, false, "Whether colours are repaired greedily, in at most 5 steps a vertex."),
  /** Draws first phases, noise and repairs. Default "spillway". */
  seed: option(seed, "spillway", "Draws first phases, noise and repairs."),
};

/** How phases are driven, and what is done with the colours they end at. */
export interface ColouringOptions extends WorkOptions, InputOf<typeof colouringTable> {}

/** Colours of a graph's vertices. */
export interface Colouring {
  /** A whole number from 0 to k - 1 for each vertex. */
  readonly colours: Uint32Array;
  /** Edges whose ends have one colour; 0 if the colouring is proper. */
  readonly conflicts: number;
  /** Cosines and sines of the phases that the colours were read from, one a vertex. */
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
}

/** Streams of rule 7 that nothing else draws from. */
const streams = { phases: 24, noise: 25, repairs: 26 } as const;

const fullTurn = 6.283185307179586;

/**
 * Colours a graph with k colours by phases that neighbours push apart:
 *
 *     d phi_i = (-(R / d) sum over neighbours j of sin(phi_j - phi_i) - p(t) sin(k phi_i)) dt + sqrt(2 D(t)) dw_i
 *
 * with d the mean degree, p growing from 0 to `pull` and D falling from `noise` to 0; then colour =
 * round(k phi / 2 pi) mod k. Heun's method on the circle, in binary64 and portable arithmetic: the
 * same colours everywhere. Each run is a try: take another seed for another one.
 *
 * It solves small graphs. Where colouring is hard (queens on a board of 5 x 5 with 5 colours) no
 * run ends proper; with `repair` about half do, as many as repairs from random colours alone
 * (`steps: 0`).
 *
 * Sources: C. W. Wu 1998, "Graph coloring via synchronization of coupled oscillators", IEEE Trans.
 * Circuits Syst. I 45; A. Parihar et al. 2017, "Vertex coloring of graphs via phase dynamics of
 * coupled oscillatory networks", Scientific Reports 7, 911.
 * @throws ArgumentError for a graph with edges that are no pairs of its vertices, or options;
 * WorkInterruptedError
 */
export async function colourGraph(graph: VertexGraph, k: number, options: ColouringOptions = {}): Promise<Colouring> {
  const asked = resolve(colouringTable, options, "colourGraph");
  whole({ atLeast: 1 }).read(k, "k");
  const neighbours = neighboursOf(graph);
  const { c, s } = await finalPhases(neighbours, k, asked);
  const colours = Uint32Array.from(c, (x, i) => nearestColour(x, s[i]!, k));
  if (asked.repair) repair(neighbours, colours, k, asked.seed);
  return { colours, conflicts: conflictsOf(graph, colours), cosines: c, sines: s };
}

/**
 * How many edges of a graph have ends of one colour. @throws ArgumentError for another number of
 * colours than vertices
 */
export function conflictsOf(graph: VertexGraph, colours: ArrayLike<number>): number {
  const { vertices, edges } = checkHas("graph", graph, "a graph of vertices and edges", "vertices", "edges");
  if (colours.length !== vertices) throw ArgumentError.shape(`colours holds ${colours.length} values; the graph has ${vertices} vertices`);
  return edges.filter(([a, b]) => colours[a] === colours[b]).length;
}

function neighboursOf({ vertices, edges }: VertexGraph): readonly (readonly number[])[] {
  whole({ atLeast: 1 }).read(vertices, "graph.vertices");
  const neighbours = Array.from({ length: vertices }, (): Set<number> => new Set());
  for (const [e, edge] of edges.entries()) {
    const isVertex = (v: unknown) => Number.isInteger(v) && (v as number) >= 0 && (v as number) < vertices;
    if (!Array.isArray(edge) || edge.length !== 2 || !edge.every(isVertex) || edge[0] === edge[1])
      throw new ArgumentError(`graph.edges[${e}]`, pairInWords(edge), `a pair of different vertices from 0 to ${vertices - 1}`);
    const [a, b] = edge as readonly [number, number];
    if (neighbours[a]!.has(b)) throw new ArgumentError(`graph.edges[${e}]`, pairInWords(edge), "each edge once");
    neighbours[a]!.add(b);
    neighbours[b]!.add(a);
  }
  return neighbours.map((each) => [...each].sort((a, b) => a - b));
}

const pairInWords = (edge: unknown): unknown => (Array.isArray(edge) ? `[${edge.slice(0, 4).join(", ")}]` : edge);

/** Phases at the end, as points of the circle. */
async function finalPhases(
  neighbours: readonly (readonly number[])[],
  k: number,
  { steps, timeStep: h, repulsion, pull, noise, seed: drawnFrom, signal, onProgress }: Resolved<typeof colouringTable>,
): Promise<{ readonly c: Float64Array; readonly s: Float64Array }> {
  const size = neighbours.length;
  const degrees = portableSum(
    Float64Array.from(neighbours, ({ length }) => length),
    size,
    inBinary64,
  );
  const push = repulsion / Math.max(1, degrees / size);
  const key = seedKeys(drawnFrom).weights;
  const first = new RandomStream(key, streams.phases);
  const draws = new RandomStream(key, streams.noise);
  const angles = Float64Array.from({ length: size }, (_, i) => fullTurn * first.uniform(i, 0));
  const [c, s] = [angles.map(portableCos), angles.map(portableSin)];
  const vector = () => new Float64Array(size);
  const [c1, s1, k1, k2, e] = [vector(), vector(), vector(), vector(), vector()];
  const force = (fromC: Float64Array, fromS: Float64Array, p: number, out: Float64Array) => {
    for (let i = 0; i < size; i++) {
      let [alongC, alongS] = [0, 0];
      for (const j of neighbours[i]!) {
        alongC += fromC[j]!;
        alongS += fromS[j]!;
      }
      out[i] = -push * (fromC[i]! * alongS - fromS[i]! * alongC) - p * sineOfMultiple(fromC[i]!, fromS[i]!, k);
    }
  };
  const pacer = new WorkPacer({ signal, onProgress }, steps);
  for (let t = 0; t < steps; t++) {
    if (pacer.due()) await pacer.pause(t);
    const share = t / steps;
    const scale = Math.sqrt(2 * noise * (1 - share) * h);
    for (let i = 0; i < size; i++) e[i] = noise === 0 ? 0 : scale * draws.normal(i, t);
    force(c, s, pull * share, k1);
    for (let i = 0; i < size; i++) turn(c, s, i, h * k1[i]! + e[i]!, c1, s1, inBinary64);
    force(c1, s1, pull * share, k2);
    for (let i = 0; i < size; i++) turn(c, s, i, 0.5 * h * (k1[i]! + k2[i]!) + e[i]!, c, s, inBinary64);
  }
  pacer.finish();
  return { c, s };
}

/** sin(k phi) of the point (c, s), by k - 1 turns. */
function sineOfMultiple(c: number, s: number, k: number): number {
  let [x, y] = [c, s];
  for (let m = 1; m < k; m++) [x, y] = [x * c - y * s, y * c + x * s];
  return y;
}

/**
 * The colour whose phase 2 pi q / k is nearest: the largest cosine of the difference, ties to the
 * first.
 */
function nearestColour(c: number, s: number, k: number): number {
  let [best, most] = [0, -2];
  for (let q = 0; q < k; q++) {
    const angle = (fullTurn * q) / k;
    const near = c * portableCos(angle) + s * portableSin(angle);
    if (near > most) [best, most] = [q, near];
  }
  return best;
}

/** Gives a vertex in conflict, drawn at random, one of the colours that fewest neighbours have. */
function repair(neighbours: readonly (readonly number[])[], colours: Uint32Array, k: number, drawnFrom: Seed): void {
  const draws = new RandomStream(seedKeys(drawnFrom).weights, streams.repairs);
  for (let n = 0; n < 5 * neighbours.length; n++) {
    const bad = neighbours.flatMap((near, i) => (near.some((j) => colours[j] === colours[i]) ? [i] : []));
    if (bad.length === 0) return;
    const i = bad[draws.integer(0, n, bad.length)]!;
    const cost = new Array<number>(k).fill(0);
    for (const j of neighbours[i]!) cost[colours[j]!]!++;
    const least = Math.min(...cost);
    const best = cost.flatMap((each, q) => (each === least ? [q] : []));
    colours[i] = best[draws.integer(1, n, best.length)]!;
  }
}
