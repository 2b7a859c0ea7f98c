// CMA-ES with active updates (Hansen, arXiv 1604.00772) in the unit cube of the numeric parameters.
// Its state is not stored: it follows from the trials of each generation.
import { getOrMake } from "@spillway/core/maps.js";
import { type InputOf, optional, resolve, whole } from "@spillway/core/options.js";
import { Matrix, portableExp, portableLog, symmetricEigen } from "@spillway/numerics";
import { Draws, isFinished, randomValue, type Sampler, type SamplerView, type SeenTrial } from "./sampler.js";
import { type SamplerOptions, samplerTable } from "./sampler-options.js";
import { isConstant, type SearchSpace, uniformOfValue, valueOfUniform } from "./space.js";

export const cmaesTable = {
  ...samplerTable,
  /** Trials of a generation; default 4 + floor(3 ln d) of d numeric parameters. */
  population: optional(
    whole({ atLeast: 4, atMost: 100_000 }),
    "Trials of a generation; left out, 4 + floor(3 ln d) of d numeric parameters.",
  ),
};

/** Options of `cmaes`. */
export interface CmaesOptions extends SamplerOptions, InputOf<typeof cmaesTable> {}

/** The constants of a dimension and a population (equations 49 to 58). */
export interface CmaesConstants {
  readonly dimension: number;
  readonly population: number;
  readonly parents: number;
  /** Best first; those of the worse half are negative. */
  readonly weights: Float64Array;
  readonly muEff: number;
  readonly cSigma: number;
  readonly dSigma: number;
  readonly cC: number;
  readonly c1: number;
  readonly cMu: number;
  /** The expected length of a standard normal vector. */
  readonly chi: number;
}

/** @param population at least 4 */
export function cmaesConstants(dimension: number, population = 4 + Math.floor(3 * portableLog(dimension))): CmaesConstants {
  const d = dimension;
  const parents = Math.floor(population / 2);
  const raw = Float64Array.from({ length: population }, (_, i) => portableLog((population + 1) / 2) - portableLog(i + 1));
  const effective = (list: Float64Array) => sumOf(list) ** 2 / sumOf(list.map((w) => w * w));
  const muEff = effective(raw.subarray(0, parents));
  const muEffBad = effective(raw.subarray(parents));
  const c1 = 2 / ((d + 1.3) ** 2 + muEff);
  const cMu = Math.min(1 - c1 - 1e-8, (2 * (muEff - 2 + 1 / muEff)) / ((d + 2) ** 2 + muEff));
  const positive = sumOf(raw.map((w) => Math.max(0, w)));
  const negative = -sumOf(raw.map((w) => Math.min(0, w)));
  const most = Math.min(1 + c1 / cMu, 1 + (2 * muEffBad) / (muEff + 2), (1 - c1 - cMu) / (d * cMu));
  const cSigma = (muEff + 2) / (d + muEff + 5);
  return {
    dimension,
    population,
    parents,
    weights: raw.map((w) => (w >= 0 ? w / positive : (w / negative) * most)),
    muEff,
    cSigma,
    dSigma: 1 + 2 * Math.max(0, Math.sqrt((muEff - 1) / (d + 1)) - 1) + cSigma,
    cC: (4 + muEff / d) / (d + 4 + (2 * muEff) / d),
    c1,
    cMu,
    chi: Math.sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d)),
  };
}

function sumOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

/** Where the search stands before a generation. */
interface State {
  readonly constants: CmaesConstants;
  /** Generations since the start or the last restart. */
  readonly age: number;
  readonly mean: Float64Array;
  readonly sigma: number;
  /** C = B D^2 B', by rows. */
  readonly covariance: Float64Array;
  readonly basis: Float64Array;
  readonly lengths: Float64Array;
  readonly pathSigma: Float64Array;
  readonly pathC: Float64Array;
  /** The best loss of each generation since then. */
  readonly bests: readonly number[];
}

/**
 * Follows a normal distribution that adapts its mean, step and covariance to the ranks of each
 * generation. Choices are drawn at random and stay for a generation. Restarts with twice the
 * population if it stands still.
 * @throws ArgumentError for an unknown option
 */
export function cmaes(options: CmaesOptions = {}): Sampler {
  const { seed, population } = resolve(cmaesTable, options, "cmaes");
  const draws = new Draws(seed);
  const kept = new WeakMap<readonly SeenTrial[], Replay>();
  return {
    name: "cmaes",
    seed,
    suggest: (view, numbers) => {
      const { space, trials } = view;
      const free = space.parameters.flatMap((parameter, index) => (parameter.kind === "choice" || isConstant(parameter) ? [] : [index]));
      const known = kept.get(trials);
      const replay = known?.space === space ? known : new Replay(space, free, population, draws);
      kept.set(trials, replay);
      const { generation, state } = replay.upTo(view);
      return numbers.map((k) => {
        const u = state && drawn(state, draws, k);
        const valueAt = (index: number) => {
          const at = free.indexOf(index);
          if (at >= 0) return valueOfUniform(space.parameters[index]!, Math.min(u![at]!, 1 - 2 ** -53));
          return randomValue(space, draws, generation, index);
        };
        return { values: space.fill(valueAt), generation };
      });
    },
  };
}

/** The states of generation after generation, each from the trials of the one before. */
class Replay {
  readonly space: SearchSpace;
  readonly #free: readonly number[];
  readonly #draws: Draws;
  #generation = 0;
  #state: State | undefined;

  constructor(space: SearchSpace, free: readonly number[], population: number | undefined, draws: Draws) {
    this.space = space;
    this.#free = free;
    this.#draws = draws;
    if (free.length > 0) this.#state = initial(cmaesConstants(free.length, population), new Float64Array(free.length).fill(0.5));
  }

  /** The generation that new trials belong to, and the distribution they are drawn from. */
  upTo({ trials }: SamplerView): { readonly generation: number; readonly state: State | undefined } {
    const of = new Map<number, SeenTrial[]>();
    for (const trial of trials) {
      const { generation } = trial;
      if (generation === undefined || generation < this.#generation || trial.state === "failed") continue;
      getOrMake(of, generation, () => []).push(trial);
    }
    for (;;) {
      const population = this.#state?.constants.population ?? 8;
      const members = (of.get(this.#generation) ?? []).slice(0, population);
      if (members.length < population || !members.every(isFinished)) break;
      if (this.#state) this.#state = this.#next(this.#state, members);
      this.#generation++;
    }
    return { generation: this.#generation, state: this.#state };
  }

  #next(state: State, members: readonly SeenTrial[]): State {
    const { parameters } = this.space;
    const points = [...members].sort((a, b) => rank(a) - rank(b) || a.number - b.number);
    const y = points.map(({ values }) =>
      Float64Array.from(this.#free, (index, j) => {
        const value = values[index]!;
        return Number.isNaN(value) ? 0 : (uniformOfValue(parameters[index]!, value) - state.mean[j]!) / state.sigma;
      }),
    );
    const next = updated(state, y, points[0]!.loss);
    if (!hasConverged(next)) return next;
    const { dimension, population } = state.constants;
    const mean = Float64Array.from({ length: dimension }, (_, j) => this.#draws.uniform(this.#generation, 2 ** 20 + j));
    return initial(cmaesConstants(dimension, Math.min(2 * population, 100_000)), mean);
  }
}

/** Pruned trials come after complete ones. */
function rank({ state, loss }: SeenTrial): number {
  return state === "complete" && !Number.isNaN(loss) ? loss : Number.POSITIVE_INFINITY;
}

function initial(constants: CmaesConstants, mean: Float64Array): State {
  const { dimension } = constants;
  const zeros = new Float64Array(dimension);
  const identity = new Float64Array(dimension * dimension);
  for (let j = 0; j < dimension; j++) identity[j * dimension + j] = 1;
  const lengths = new Float64Array(dimension).fill(1);
  return {
    constants,
    age: 0,
    mean,
    sigma: 1 / 6,
    covariance: identity,
    basis: identity,
    lengths,
    pathSigma: zeros,
    pathC: zeros,
    bests: [],
  };
}

/**
 * A point of the distribution: drawn again up to 10 d times if it leaves the cube, then clipped.
 */
function drawn({ mean, sigma, basis, lengths }: State, draws: Draws, k: number): Float64Array {
  const d = mean.length;
  let u = mean;
  for (let attempt = 0; attempt < 10 * d; attempt++) {
    const z = Float64Array.from(lengths, (length, j) => length * draws.normal(k, attempt * d + j));
    u = times(basis, z).map((each, j) => mean[j]! + sigma * each);
    if (u.every((each) => each >= 0 && each <= 1)) return u;
  }
  return u.map((each) => Math.min(1, Math.max(0, each)));
}

/** Equations 41 to 47 of the tutorial, of steps `y` with the best first. */
function updated(state: State, y: readonly Float64Array[], best: number): State {
  const { constants, mean, sigma, covariance, basis, lengths } = state;
  const { dimension: d, parents, weights, muEff, cSigma, dSigma, cC, c1, cMu, chi } = constants;
  /** C^(-1/2) v. */
  const whitened = (v: Float64Array) => {
    const turned = Float64Array.from({ length: d }, (_, j) => {
      let sum = 0;
      for (let i = 0; i < d; i++) sum += basis[i * d + j]! * v[i]!;
      return sum / lengths[j]!;
    });
    return times(basis, turned);
  };
  const step = new Float64Array(d);
  for (let i = 0; i < parents; i++) for (let j = 0; j < d; j++) step[j] = step[j]! + weights[i]! * y[i]![j]!;
  const white = whitened(step);
  const age = state.age + 1;
  const pathSigma = state.pathSigma.map((p, j) => (1 - cSigma) * p + Math.sqrt(cSigma * (2 - cSigma) * muEff) * white[j]!);
  const length = Math.sqrt(sumOf(pathSigma.map((p) => p * p)));
  const unbiased = Math.sqrt(1 - (1 - cSigma) ** (2 * (age + 1)));
  const h = length / unbiased < (1.4 + 2 / (d + 1)) * chi ? 1 : 0;
  const pathC = state.pathC.map((p, j) => (1 - cC) * p + h * Math.sqrt(cC * (2 - cC) * muEff) * step[j]!);
  const rankMu = weights.map((w, i) => {
    if (w >= 0) return w;
    const own = whitened(y[i]!);
    return (w * d) / Math.max(sumOf(own.map((v) => v * v)), 1e-300);
  });
  const left = 1 + c1 * (1 - h) * cC * (2 - cC) - c1 - cMu * sumOf(weights);
  const next = new Float64Array(d * d);
  for (let a = 0; a < d; a++)
    for (let b = 0; b <= a; b++) {
      let sum = left * covariance[a * d + b]! + c1 * pathC[a]! * pathC[b]!;
      for (let i = 0; i < y.length; i++) sum += cMu * rankMu[i]! * y[i]![a]! * y[i]![b]!;
      next[a * d + b] = next[b * d + a] = sum;
    }
  const { values, vectors } = symmetricEigen(new Matrix(d, d, next));
  return {
    constants,
    age,
    mean: mean.map((m, j) => m + sigma * step[j]!),
    sigma: Math.min(sigma * portableExp((cSigma / dSigma) * (length / chi - 1)), 1e32),
    covariance: next,
    basis: Float64Array.from(next, (_, i) => vectors.data[(i % d) * d + Math.floor(i / d)]!),
    lengths: values.map((value) => Math.sqrt(Math.max(value, 1e-32))),
    pathSigma,
    pathC,
    bests: [...state.bests, best].slice(-10 - Math.ceil((30 * d) / constants.population)),
  };
}

/** Whether the distribution has become a point, a line, or finds nothing better. */
function hasConverged({ constants, sigma, lengths, bests }: State): boolean {
  const longest = lengths.reduce((most, each) => Math.max(most, each), 0);
  const shortest = lengths.reduce((least, each) => Math.min(least, each), Infinity);
  if (sigma * longest < 1e-8 || (longest / shortest) ** 2 > 1e14) return true;
  const wanted = 10 + Math.ceil((30 * constants.dimension) / constants.population);
  if (bests.length < wanted) return false;
  return Math.max(...bests) - Math.min(...bests) < 1e-12;
}

function times(matrix: Float64Array, vector: Float64Array): Float64Array {
  const d = vector.length;
  return Float64Array.from({ length: d }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < d; j++) sum += matrix[i * d + j]! * vector[j]!;
    return sum;
  });
}
