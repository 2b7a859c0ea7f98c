// The spectral radius of a square matrix: max |lambda| over its eigenvalues, right for complex
// dominant pairs. The result scales every weight of a reservoir, so it is made of IEEE operations
// in one fixed order and has the same bits everywhere.
import { SpillwayError } from "@spillway/core/errors.js";
import { choice, type InputOf, option, type Resolved, resolve } from "@spillway/core/options.js";
import type { Matrix, SparseMatrix } from "../matrix.js";
import { balanced } from "./balance.js";
import { checkSquare } from "./check-square.js";
import { circularLaw, circularLawOfMatrix } from "./circular-law.js";
import { type Component, stronglyConnectedComponents } from "./components.js";
import { type DenseBlock, denseBlock, denseEigenvalues, type Eigenvalues, modulus } from "./dense.js";
import { geometricMean } from "./geometric-mean.js";
import { iterate } from "./krylov.js";
import { type KrylovResult, type KrylovTask, krylovAttempts } from "./krylov-attempts.js";
import { hostPowerIterations, type PowerFailure, type PowerTask, powerIterations, powerTask } from "./power-iteration.js";
import { powerOfTwoFactors, timesPowerOfTwo } from "./power-of-two.js";
import { leadingTolerance } from "./projected-problem.js";
import { type BlockSummary, cycleWeights, orthogonalScale, summarize, symmetrizeTree } from "./structure.js";

/** What found a spectral radius. */
export type SpectralRadiusMethod = "structure" | "dense" | "krylov" | "power" | "circularLaw";

export const spectralRadiusTable = {
  /**
   * Default `auto`. `dense` and `krylov` still look for structure first. `power` (power iteration
   * with W as it is) and `circularLaw` (an estimate) look at nothing else.
   */
  method: option(choice("auto", "dense", "krylov", "power", "circularLaw"), "auto", "How the radius is found."),
};

/** How the radius is found. */
export interface SpectralRadiusOptions extends InputOf<typeof spectralRadiusTable> {}

type Method = Resolved<typeof spectralRadiusTable>["method"];

/** The largest modulus of the eigenvalues, and how it was found. */
export interface SpectralRadius {
  readonly radius: number;
  readonly method: SpectralRadiusMethod;
}

/**
 * An iteration did not converge: Krylov's on a block that is too large for the dense method, or
 * power iteration.
 */
export class SpectralRadiusError extends SpillwayError {
  override readonly name: string = "SpectralRadiusError";
  readonly size: number;
  readonly residual: number;
  /** Of the Krylov iteration. */
  readonly restarts: number;

  constructor(
    size: number,
    residual: number,
    restarts: number,
    sentence = `the spectral radius of an irreducible block of ${size} rows did not converge: its residual is ${residual} after ${restarts} restarts, and it takes 1e-10; ask for the method "dense" (cubic time) or for the estimate "circularLaw"`,
  ) {
    super("numeric", sentence);
    this.size = size;
    this.residual = residual;
    this.restarts = restarts;
  }
}

/**
 * Power iteration did not converge: eigenvalues of (nearly) the same modulus, such as a complex
 * pair or l and -l, lead the others.
 */
export class PowerIterationError extends SpectralRadiusError {
  override readonly name = "PowerIterationError";
  readonly iterations: number;
  /** |W v| in the last two iterations. */
  readonly estimates: readonly number[];

  constructor(size: number, { iterations, residual, estimates }: PowerFailure) {
    super(
      size,
      residual,
      0,
      `power iteration on ${size} rows did not converge in ${iterations} iterations: its last estimates are ${estimates.map((each) => each.toPrecision(6)).join(" and ")}, its residual is ${residual.toPrecision(3)}, and it takes 1e-10; ` +
        'several eigenvalues have the largest modulus, or nearly so, such as a complex pair or l and -l: ask for the method "krylov", which takes those, or for "auto"',
    );
    this.iterations = iterations;
    this.estimates = estimates;
  }
}

/**
 * Up to this size the dense method costs no more in a fresh process, and it depends on no
 * convergence.
 */
export const denseLimit = 300;

/** Up to this size the dense method takes over if the Krylov iteration does not converge. */
const denseFallbackLimit = 3000;

/**
 * Above this many nonzeros in one block `auto` takes the circular law: the iteration would run for
 * minutes.
 */
export const circularLawLimit = 1e8;

/**
 * The spectral radius rho(W) = max |lambda_i| of a square matrix.
 *
 * The strongly connected components of W carry its spectrum between them, and each is taken in
 * turn. A row on no cycle gives
 * |w_ii| (so a nilpotent, acyclic W gives exactly 0); a cycle gives the geometric mean of its |w|
 * (a ring of equal w gives exactly |w|); a large multiple c of an orthogonal matrix gives c. What
 * is left is balanced if its scales differ grossly, and goes to a dense QR algorithm up to 300 rows
 * and to a Krylov-Schur iteration above (residual at most 1e-10 of the radius, and no less than
 * what rounding hides), which falls back on the dense method up to 3000 rows. Above 1e8 nonzeros in
 * one component the circular law is taken: sqrt(N var(w)) over all N^2 elements, or |N mean(w)| if
 * that is larger (Girko 1985; Tao 2013 for the outlier); it is within a percent or two for
 * independent elements and wrong for others.
 *
 * `method` says what found the largest. Eigenvalues are those of a matrix within rounding of W. Far
 * from a normal matrix, where no diagonal scaling helps, they can lie far off: one of N rows that
 * is nilpotent by cancellation, such as [[1, -1], [1, -1]], has a radius of up to some 2^(-52 / N)
 * |W| rather than 0. Of more than 3000 rows, a ring with a few chords, whose eigenvalues crowd on a
 * circle, either does not converge or is right to some 1e-6 only.
 *
 * `power` multiplies a fixed vector by W until its direction stays to 1e-10, and gives |W v|: at
 * most 4096 times, and 512 if the direction still turns by a quarter then. It is right if one real
 * eigenvalue has the largest modulus, as if all weights are positive, and fails for complex
 * pairs, which most random matrices have.
 *
 * @throws ArgumentError if it is no matrix, and for unknown options.
 * @throws ArgumentError on a matrix that is not square or holds a NaN or an infinity.
 * @throws SpectralRadiusError if the iteration does not converge on a component of more than
 * 3000 rows; PowerIterationError if `power` does not.
 */
export function matrixSpectralRadius(matrix: Matrix | SparseMatrix, options: SpectralRadiusOptions = {}): SpectralRadius {
  const { method } = resolve(spectralRadiusTable, options, "matrixSpectralRadius");
  if (method === "power") return powerRadius(matrix.rows, hostPower(powerTaskOf(matrix)));
  const steps = radiusSteps(matrix, method);
  let step = steps.next();
  while (!step.done) step = steps.next(hostAnswer(step.value));
  return step.value;
}

/**
 * A part of a matrix as its radius is measured: its radius, or a block whose radius a device
 * computes.
 */
export type RadiusPart = SpectralRadius | DenseBlock;

/**
 * What a device is asked for: blocks of these sizes, of at least so many matrices at a time. A
 * smaller block takes the host half a millisecond, no more than components and balancing, which
 * stay there; fewer matrices leave most multiprocessors idle. The kernel takes no more rows.
 */
export const denseOnDevice = { leastRows: 64, mostRows: 512, leastMatrices: 8 } as const;

/** The parts of a matrix, in an order of which `largestRadius` takes the first of equal ones. */
export function radiusParts(matrix: Matrix | SparseMatrix, method: "auto" | "dense"): RadiusPart[] {
  checkSquare(matrix);
  const parts: RadiusPart[] = [];
  let best: SpectralRadius = { radius: 0, method: "structure" };
  for (const component of stronglyConnectedComponents(matrix)) {
    const steps = componentRadius(component, method);
    let step = steps.next();
    let block: Component | undefined;
    while (!step.done && !block) {
      if ("dense" in step.value && isForDevice(step.value.dense)) block = step.value.dense;
      else step = steps.next(hostAnswer(step.value));
    }
    if (block) parts.push(denseBlock(block));
    else if (step.done && step.value.radius > best.radius) {
      best = step.value;
      parts.push(best);
    }
  }
  return parts;
}

/** Whether a device computes a part. */
export const isDenseBlock = (part: RadiusPart): part is DenseBlock => "values" in part;

const isForDevice = ({ size }: Component): boolean => size >= denseOnDevice.leastRows && size <= denseOnDevice.mostRows;

/** The largest of radii, the first if several are. */
export function largestRadius(found: Iterable<SpectralRadius>): SpectralRadius {
  let best: SpectralRadius = { radius: 0, method: "structure" };
  for (const each of found) if (each.radius > best.radius) best = each;
  return best;
}

/** What computes the large parts of a spectral radius; the calling thread, if it is left out. */
export interface RadiusDevices {
  /** An attempt of the Krylov-Schur iteration. */
  readonly iterate?: (task: BlockTask) => Promise<KrylovResult>;
  readonly power?: (task: PowerTask) => Promise<number | PowerFailure>;
}

/**
 * As `spectralRadius`, with its large parts computed elsewhere. The result has the same bits if
 * these devices keep to the order of docs/numerics.md, rule 7.
 */
export async function spectralRadiusBy(
  matrix: Matrix | SparseMatrix,
  { iterate: iterateOn, power }: RadiusDevices,
  options: SpectralRadiusOptions = {},
): Promise<SpectralRadius> {
  const { method } = resolve(spectralRadiusTable, options, "spectralRadiusBy");
  if (method === "power") {
    const task = powerTaskOf(matrix);
    return powerRadius(matrix.rows, power ? await power(task) : hostPower(task));
  }
  const steps = radiusSteps(matrix, method);
  let step = steps.next();
  while (!step.done) {
    const asked = step.value;
    step = steps.next(iterateOn && !("dense" in asked) ? await iterateOn(asked) : hostAnswer(asked));
  }
  return step.value;
}

function hostPower(task: PowerTask): number | PowerFailure {
  const products = hostPowerIterations(task);
  const iterations = powerIterations(task.exponent);
  let state = iterations.next();
  while (!state.done) state = iterations.next(products(state.value));
  return state.value;
}

/** What power iteration takes. */
function powerTaskOf(matrix: Matrix | SparseMatrix): PowerTask {
  checkSquare(matrix);
  return powerTask(matrix);
}

/** What power iteration on n rows came to. @throws PowerIterationError */
export function powerRadius(n: number, found: number | PowerFailure): SpectralRadius {
  if (typeof found !== "number") throw new PowerIterationError(n, found);
  return { radius: found, method: "power" };
}

/** An attempt that is asked for, on a block of `count` nonzeros. */
export interface BlockTask extends KrylovTask {
  readonly component: Component;
  readonly count: number;
}

/**
 * What is asked for on the way: an iteration, or all eigenvalues. The answer is the one or the
 * other.
 */
type RadiusSteps = Generator<Asked, SpectralRadius, KrylovResult | Eigenvalues>;

type Asked = BlockTask | { readonly dense: Component };

const hostAnswer = (asked: Asked): KrylovResult | Eigenvalues =>
  "dense" in asked ? denseEigenvalues(asked.dense) : iterate(asked.component, asked.count, asked);

function* radiusSteps(matrix: Matrix | SparseMatrix, method: Exclude<Method, "power">): RadiusSteps {
  checkSquare(matrix);
  if (method === "circularLaw") return { radius: circularLawOfMatrix(matrix), method };
  const found: SpectralRadius[] = [];
  for (const component of stronglyConnectedComponents(matrix)) found.push(yield* componentRadius(component, method));
  return largestRadius(found);
}

function* componentRadius(original: Component, method: "auto" | "dense" | "krylov"): RadiusSteps {
  if (original.size === 1) {
    let radius = 0;
    original.forEach((_row, _column, value) => {
      radius = Math.abs(value);
    });
    return { radius, method: "structure" };
  }
  const asGiven = summarize(original);
  const cycle = cycleWeights(original, asGiven);
  if (cycle) return { radius: geometricMean(cycle), method: "structure" };
  const symmetric = symmetrizeTree(original, asGiven);
  if (method === "auto" && asGiven.count > circularLawLimit) return { radius: circularLaw(symmetric), method: "circularLaw" };
  const component = balanced(symmetric, symmetric === original ? asGiven : summarize(symmetric));
  if (method === "dense" || (method === "auto" && component.size <= denseLimit)) return yield* denseRadius(component);
  const summary = component === original ? asGiven : summarize(component);
  const scale = orthogonalScale(component, summary);
  if (scale !== undefined) return { radius: scale, method: "structure" };
  const { radius, restarts, ...found } = yield* blockAttempts(component, summary);
  const residual = Math.max(found.residual, roundingOfProduct(component, summary) / radius);
  if (found.converged && residual <= leadingTolerance) return { radius, method: "krylov" };
  if (method === "auto" && component.size <= denseFallbackLimit) return yield* denseRadius(component);
  throw new SpectralRadiusError(component.size, residual, restarts);
}

/**
 * 2^-52 |W|, the norm that of Frobenius: the rounding of a product with a vector of length 1, and
 * the least residual that can be measured.
 */
function roundingOfProduct(component: Component, { exponent }: BlockSummary): number {
  const [down0, down1] = powerOfTwoFactors(-exponent);
  let squares = 0;
  component.forEach((_row, _column, value) => {
    squares += (value * down0 * down1) ** 2;
  });
  return timesPowerOfTwo(Math.sqrt(squares), exponent - 52);
}

function* blockAttempts(
  component: Component,
  { count, exponent }: BlockSummary,
): Generator<BlockTask, KrylovResult, KrylovResult | Eigenvalues> {
  const tasks = krylovAttempts(component.size, count, exponent);
  let task = tasks.next();
  while (!task.done) task = tasks.next((yield { ...task.value, component, count }) as KrylovResult);
  return task.value;
}

function* denseRadius(component: Component): RadiusSteps {
  const { re, im } = (yield { dense: component }) as Eigenvalues;
  let radius = 0;
  for (let i = 0; i < re.length; i++) radius = Math.max(radius, modulus(re[i]!, im[i]!));
  return { radius, method: "dense" };
}
