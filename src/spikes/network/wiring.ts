// Which neurons a projection connects: how many synapses each source has, and the target of each.
// Weights and delays are drawn in draw.ts.
import { drawPositions, philox4x32, portableExp, RandomStream } from "@spillway/numerics";
import { grouped } from "../grouped.js";
import { coordinates, gridSides, shuffledPoints } from "../liquid/grid.js";
import { type NetworkPlan, networkStreams, type PlannedProjection } from "./plan.js";

/** What is drawn for a synapse. */
export interface Draws {
  /** Word 1 is the weight's, word 2 the delay's; of no meaning if both are constant. */
  readonly block: Uint32Array;
  /** The target neuron. */
  target: number;
  /** Listed synapses: source, target, weight in mV, delay in steps. */
  own: readonly number[] | undefined;
}

/** The synapses of a projection. */
export interface Wiring {
  readonly projection: PlannedProjection;
  /** Whether its synapses are numbered by their source. */
  readonly isNumbered: boolean;
  /** Synapses of source j. */
  degree(source: number): number;
  /**
   * Draws synapse k that the projection has from a source, whose number n goes over all
   * projections of the source.
   */
  draw(draws: Draws, source: number, n: number, k: number): void;
}

/** The number from 0 to n - 1 of a word: floor(word n / 2^32). */
export function belowWord(word: number, n: number): number {
  return Math.floor((word * n) / 4294967296);
}

/** Synapses on average over seeds. */
export function expectedSynapses({
  rule,
  source,
  target,
  selfConnections,
}: Pick<PlannedProjection, "rule" | "source" | "target" | "selfConnections">): number {
  const pairs = source.size * target.size;
  switch (rule.rule) {
    case "fixedTotalNumber":
      return rule.number;
    case "fixedInDegree":
      return rule.number * target.size;
    case "fixedOutDegree":
      return rule.number * source.size;
    case "bernoulli":
      return rule.probability * pairs;
    case "oneToOne":
      return source.size;
    case "list":
      return rule.synapses.length;
    case "allToAll":
      return pairs - (selfConnections ? 0 : Math.min(source.size, target.size));
    default:
      // Around a neuron in the middle of a large grid, exp(-(D / lambda)^2) adds up to (sqrt(pi)
      // lambda)^3.
      return rule.probability * source.size * Math.min(target.size, 5.568327996831708 * rule.lambda * rule.lambda * rule.lambda);
  }
}

/** How a projection's synapses come about. */
export function wiringOf(plan: NetworkPlan, projection: PlannedProjection): Wiring {
  const { rule } = projection;
  switch (rule.rule) {
    case "fixedTotalNumber":
      return drawnTargets(plan, projection, totalDegrees(plan, projection, rule.number));
    case "fixedOutDegree":
      return drawnTargets(plan, projection, new Uint32Array(projection.source.size).fill(rule.number));
    case "fixedInDegree":
      return drawnSources(plan, projection, rule.number);
    case "list":
      return listed(plan, projection, rule);
    case "bernoulli": {
      const positions = new RandomStream(plan.key, networkStreams.positions, projection.number);
      const rows = { count: 1, density: rule.probability, candidates: projection.target.size };
      return knownTargets(plan, projection, (j) => drawPositions(positions, { ...rows, first: j }).columns);
    }
    case "oneToOne":
      return knownTargets(plan, projection, (j) => [j - projection.source.first]);
    case "allToAll":
      return knownTargets(plan, projection, () => Array.from({ length: projection.target.size }, (_, k) => k));
    default:
      return knownTargets(plan, projection, nearTargets(plan, projection, rule));
  }
}

/** The synapses of each source: word m mod 4 of Philox (floor(m / 4), p, 16, 0) takes the m-th. */
function totalDegrees({ key }: NetworkPlan, { source, number }: PlannedProjection, total: number): Uint32Array {
  const degrees = new Uint32Array(source.size);
  const block = new Uint32Array(4);
  for (let m = 0; m < total; m++) {
    if ((m & 3) === 0) philox4x32(key, Math.floor(m / 4), number, networkStreams.counts, 0, block);
    const j = belowWord(block[m & 3]!, source.size);
    degrees[j] = degrees[j]! + 1;
  }
  return degrees;
}

/** Targets by word 0 of Philox (n, source, 17, attempt), the first attempt that may be. */
function drawnTargets({ key }: NetworkPlan, projection: PlannedProjection, degrees: Uint32Array): Wiring {
  const { source, target, selfConnections, multiple } = projection;
  const taken = new Set<number>();
  return {
    projection,
    isNumbered: true,
    degree: (j) => degrees[j - source.first]!,
    draw(draws, j, n, k) {
      if (k === 0) taken.clear();
      for (let attempt = 0; ; attempt++) {
        philox4x32(key, n, j, networkStreams.synapses, attempt, draws.block);
        draws.target = target.first + belowWord(draws.block[0]!, target.size);
        draws.own = undefined;
        if (!selfConnections && draws.target === j) continue;
        if (!multiple && taken.has(draws.target)) continue;
        break;
      }
      if (!multiple) taken.add(draws.target);
    },
  };
}

/**
 * Sources by word 0 of Philox (m, target, 20, attempt), m being numbered over the projections onto
 * the target that have this rule; weight and delay by words 1 and 2 of that block.
 */
function drawnSources(plan: NetworkPlan, projection: PlannedProjection, number: number): Wiring {
  const { source, target, selfConnections, multiple } = projection;
  const { key } = plan;
  const isConstant = projection.weight.family === "constant" && projection.delay.thresholds.length === 0;
  const before = earlierInDegrees(plan, projection);
  const block = new Uint32Array(4);
  const sources = new Uint32Array(target.size * number);
  const attempts = new Map<number, number>();
  const taken = new Set<number>();
  for (let i = 0; i < target.size; i++) {
    taken.clear();
    for (let m = 0; m < number; m++) {
      for (let attempt = 0; ; attempt++) {
        philox4x32(key, before + m, target.first + i, networkStreams.incoming, attempt, block);
        const j = belowWord(block[0]!, source.size);
        if (!selfConnections && source.first + j === target.first + i) continue;
        if (!multiple && taken.has(j)) continue;
        if (!multiple) taken.add(j);
        if (attempt > 0) attempts.set(i * number + m, attempt);
        sources[i * number + m] = j;
        break;
      }
    }
  }
  const { offsets, order } = grouped(sources, source.size);
  return {
    projection,
    isNumbered: false,
    degree: (j) => offsets[j - source.first + 1]! - offsets[j - source.first]!,
    draw(draws, j, _n, k) {
      const s = order[offsets[j - source.first]! + k]!;
      const i = Math.floor(s / number);
      draws.target = target.first + i;
      draws.own = undefined;
      if (isConstant) return;
      philox4x32(key, before + (s % number), draws.target, networkStreams.incoming, attempts.get(s) ?? 0, draws.block);
    },
  };
}

/** The synapses that earlier projections of this rule draw onto the same targets. */
function earlierInDegrees({ projections }: NetworkPlan, projection: PlannedProjection): number {
  let sum = 0;
  for (const { index, rule, target } of projections) {
    const overlaps =
      target.first < projection.target.first + projection.target.size && projection.target.first < target.first + target.size;
    const number = rule.rule === "fixedInDegree" ? rule.number : rule.rule === "list" ? rule.inDegree : undefined;
    if (number !== undefined && index < projection.index && overlaps) sum += number;
  }
  return sum;
}

/** Targets that follow from the source; weight and delay by Philox (n, source, 17, 0). */
function knownTargets({ key }: NetworkPlan, projection: PlannedProjection, targetsOf: (source: number) => ArrayLike<number>): Wiring {
  const { source, target, selfConnections } = projection;
  let of = -1;
  let targets: ArrayLike<number> = [];
  const take = (j: number) => {
    if (of === j) return targets;
    of = j;
    const all = targetsOf(j);
    targets = selfConnections ? all : Array.from(all).filter((k) => target.first + k !== j);
    return targets;
  };
  const degrees = Uint32Array.from({ length: source.size }, (_, k) => take(source.first + k).length);
  return {
    projection,
    isNumbered: true,
    degree: (j) => degrees[j - source.first]!,
    draw(draws, j, n, k) {
      draws.target = target.first + take(j)[k]!;
      draws.own = undefined;
      philox4x32(key, n, j, networkStreams.synapses, 0, draws.block);
    },
  };
}

function listed(
  { key }: NetworkPlan,
  projection: PlannedProjection,
  { synapses, inDegree }: Extract<PlannedProjection["rule"], { rule: "list" }>,
): Wiring {
  const { source, target } = projection;
  const bySource = Array.from({ length: source.size }, (): (readonly number[])[] => []);
  for (const synapse of synapses) bySource[synapse[0]!]!.push(synapse);
  return {
    projection,
    isNumbered: inDegree === undefined,
    degree: (j) => bySource[j - source.first]!.length,
    draw(draws, j, n, k) {
      const synapse = bySource[j - source.first]![k]!;
      draws.target = target.first + synapse[1]!;
      draws.own = synapse.length === 4 ? synapse : undefined;
      philox4x32(key, n, j, networkStreams.synapses, 0, draws.block);
    },
  };
}

/**
 * The targets near a source. Neuron k of a slice of n is at the point that the k-th of the first n
 * points of the grid is exchanged with (Fisher-Yates) with purpose 2p for sources and 2p + 1
 * for targets; within one slice both are the same. Each target with C exp(-(D / lambda)^2) at most
 * a word of its own is taken: cost grows with the pairs.
 */
function nearTargets(
  { key }: NetworkPlan,
  { source, target, number }: PlannedProjection,
  rule: Extract<PlannedProjection["rule"], { rule: "distance" }>,
): (source: number) => ArrayLike<number> {
  const sides = rule.grid ?? gridSides(Math.max(source.size, target.size));
  const same = source.first === target.first && source.size === target.size;
  const sourcePoints = shuffledPoints(source.size, new RandomStream(key, networkStreams.grid, 2 * number));
  const targetPoints = same ? sourcePoints : shuffledPoints(target.size, new RandomStream(key, networkStreams.grid, 2 * number + 1));
  const chances = new RandomStream(key, networkStreams.positions, number);
  const { lambda, probability } = rule;
  return (j) => {
    const [x, y, z] = coordinates(sourcePoints[j - source.first]!, sides);
    const near: number[] = [];
    for (let k = 0; k < target.size; k++) {
      const [tx, ty, tz] = coordinates(targetPoints[k]!, sides);
      const squared = (x - tx) * (x - tx) + (y - ty) * (y - ty) + (z - tz) * (z - tz);
      if (chances.uniform(j, k) < probability * portableExp(-squared / (lambda * lambda))) near.push(k);
    }
    return near;
  };
}
