// How much each parameter matters: PED-ANOVA (Watanabe et al. 2023, arXiv 2304.10255), which
// compares where the best trials lie with where all do.
import { checkHas } from "@spillway/core/checks.js";
import { portableExp, portableLog } from "@spillway/numerics";
import { logNormalMass } from "./normal.js";
import type { SeenTrial } from "./sampler.js";
import { isConstant, type SearchParameter, type SearchSpace, toScale } from "./space.js";

/** The share of all trials that counts as good. */
const goodShare = 0.1;

/** Grid points of a parameter that takes any number. */
const mostPoints = 50;

/**
 * The share of each parameter in what makes the best tenth of the complete trials good, of sum 1,
 * the largest first. Parameters with conditions count the trials that have them. Empty with fewer
 * than two finite trials, or if no parameter differs.
 */
export function parameterImportance(
  space: Pick<SearchSpace, "parameters">,
  trials: readonly SeenTrial[],
): Readonly<Record<string, number>> {
  checkHas("trials", trials, "a list of trials", "map");
  const complete = trials.filter(({ state, loss }) => state === "complete" && Number.isFinite(loss));
  if (complete.length < 2) return {};
  const losses = complete.map(({ loss }) => loss).sort((a, b) => a - b);
  const bound = losses[Math.ceil(goodShare * losses.length) - 1]!;
  const found = space.parameters.flatMap((parameter, index): [string, number][] => {
    if (isConstant(parameter)) return [];
    const there = complete.filter(({ values }) => !Number.isNaN(values[index]!));
    const good = there.filter(({ loss }) => loss <= bound);
    if (good.length === 0) return [[parameter.name, 0]];
    return [[parameter.name, importanceOf(parameter, index, good, there)]];
  });
  const sum = found.reduce((total, [, value]) => total + value, 0);
  if (!(sum > 0)) return {};
  return Object.fromEntries(found.map(([name, value]) => [name, value / sum] as const).sort((a, b) => b[1] - a[1]));
}

function importanceOf(parameter: SearchParameter, index: number, good: readonly SeenTrial[], all: readonly SeenTrial[]): number {
  const density = parameter.kind === "choice" ? choiceDensity : numberDensity;
  const values = (list: readonly SeenTrial[]) => list.map((trial) => trial.values[index]!);
  const p = density(parameter, values(good));
  const q = density(parameter, values(all));
  let sum = 0;
  for (let i = 0; i < q.length; i++) {
    const below = q[i]! + 1e-12;
    sum += below * ((p[i]! + 1e-12) / below - 1) ** 2;
  }
  return (good.length / all.length) ** 2 * sum;
}

/** The density at the points of a grid over the bounds, by a normal kernel at each occupied one. */
function numberDensity(parameter: SearchParameter, values: readonly number[]): Float64Array {
  const [low, high] = [toScale(parameter, parameter.low), toScale(parameter, parameter.high)];
  const m = pointsOf(parameter);
  const h = (high - low) / (m - 1);
  const counts = new Float64Array(m);
  for (const value of values) {
    const at = Math.min(Math.max(Math.ceil((toScale(parameter, value) - low) / h - 0.5), 0), m - 1);
    counts[at] = counts[at]! + 1;
  }
  const total = values.length;
  const sigma = bandwidth(counts, total);
  const density = new Float64Array(m);
  const add = (mean: number, width: number, weight: number) => {
    const whole = logNormalMass((-0.5 - mean) / width, (m - 0.5 - mean) / width);
    for (let x = 0; x < m; x++)
      density[x] = density[x]! + weight * portableExp(logNormalMass((x - 0.5 - mean) / width, (x + 0.5 - mean) / width) - whole);
  };
  for (const [i, count] of counts.entries()) if (count > 0) add(i, sigma, count / (total + 1));
  add((m - 1) / 2, m, 1 / (total + 1));
  return density;
}

function pointsOf({ low, high, step, kind, log }: SearchParameter): number {
  if (kind === "int" && log) return Math.max(2, Math.min(mostPoints, Math.ceil(portableLog(high - low + 1) / Math.LN2 - 1e-12) + 1));
  return step > 0 ? Math.min(mostPoints, Math.round((high - low) / step) + 1) : mostPoints;
}

/** Scott's rule by the smaller of deviation and quartile distance; at least half a point. */
function bandwidth(counts: Float64Array, total: number): number {
  let mean = 0;
  counts.forEach((count, i) => {
    mean += (count * i) / total;
  });
  let squares = 0;
  counts.forEach((count, i) => {
    squares += count * (i - mean) ** 2;
  });
  const deviation = Math.sqrt(squares / Math.max(1, total - 1));
  let sum = 0;
  let first: number | undefined;
  let third: number | undefined;
  let last = 0;
  counts.forEach((count, i) => {
    if (count === 0) return;
    sum += count;
    last = i;
    if (first === undefined && sum >= Math.floor(total / 4)) first = i;
    if (third === undefined && sum > Math.floor((3 * total) / 4)) third = i;
  });
  const spread = Math.min(((third ?? last) - (first ?? last)) / 1.34, deviation);
  return Math.max(1.059 * spread * portableExp(-0.2 * portableLog(total)), 0.5 / 1.64);
}

/** The density over the choices, by a kernel for each that occurs, and a uniform prior. */
function choiceDensity({ choices }: SearchParameter, values: readonly number[]): Float64Array {
  const counts = new Float64Array(choices.length);
  for (const value of values) counts[value] = counts[value]! + 1;
  const occurring = counts.filter((count) => count > 0).length;
  const miss = 1 / (occurring + 1);
  const sum = choices.length * miss + 1;
  const density = new Float64Array(choices.length).fill(1 / choices.length / (values.length + 1));
  counts.forEach((count, i) => {
    if (count === 0) return;
    for (let c = 0; c < density.length; c++) density[c] = density[c]! + ((count / (values.length + 1)) * (miss + (c === i ? 1 : 0))) / sum;
  });
  return density;
}
