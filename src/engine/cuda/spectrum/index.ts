// The spectral radius on a device: the host's methods, with the Krylov iteration where the matrix and the vectors are. The same bits as on the host.
import type { Context } from "../../../gpu/index.js";
import {
  type Matrix,
  type SparseMatrix,
  type SpectralRadius,
  SpectralRadiusError,
  type SpectralRadiusOptions,
} from "../../../numerics/index.js";
import { krylovAttempts, type KrylovResult, largestBasis } from "../../../numerics/spectrum/krylov-attempts.js";
import { spectralRadiusBy } from "../../../numerics/spectrum/radius.js";
import { EngineCapacityError, type WorkOptions } from "../../../reservoir/engine.js";
import { type DrawnMatrix, radiusOfRows } from "../../../reservoir/weight-draws.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { freeMemory } from "../memory.js";
import { connectionsIn, countDrawn, drawRowSums } from "../streamed/drawn.js";
import { iterateOnDevice, iterationBytes } from "./krylov.js";
import { blockOperator, drawnOperator, operatorBytes } from "./operators.js";

/** Restarts are counted up to this many; most iterations need a few dozen. */
const mostRestarts = 330;

/**
 * The spectral radius of a matrix that the host holds (numerics' `spectralRadius`). Blocks that take a Krylov iteration are sent to the device, in
 * binary64; all else stays on the host.
 * @throws EngineCapacityError where a block does not fit the device, before anything is allocated; else as `spectralRadius`
 */
export async function spectralRadiusOnDevice(
  context: Context,
  matrix: Matrix | SparseMatrix,
  options: SpectralRadiusOptions & WorkOptions = {},
): Promise<SpectralRadius> {
  const pacer = new WorkPacer(options, mostRestarts);
  return spectralRadiusBy(
    matrix,
    async ({ component, count, attempt, exponent }) => {
      const n = component.size;
      checkMemory(context, n, count, operatorBytes(n, count));
      const stream = context.stream({ label: "Krylov iteration" });
      try {
        const operator = blockOperator(context, stream, component, count, exponent);
        try {
          return await iterateOnDevice(context, stream, operator, n, { attempt, exponent }, pacer);
        } finally {
          operator.dispose();
        }
      } finally {
        stream.dispose();
      }
    },
    options,
  );
}

/**
 * The same of a random W that is drawn on the device and irreducible, which one of more than 64 connections a row is but for a chance below 1e-20.
 * Method "krylov" iterates; else the circular law.
 */
export async function drawnSpectralRadius(
  context: Context,
  { draws, rounding }: DrawnMatrix,
  options: SpectralRadiusOptions & WorkOptions = {},
): Promise<SpectralRadius> {
  if (options.method !== "krylov") {
    const radius = radiusOfRows(await drawRowSums(context, draws)) * draws.factor;
    return { radius, method: "circularLaw" };
  }
  const n = draws.size;
  const pacer = new WorkPacer(options, mostRestarts);
  const counts = countDrawn(context, draws);
  const count = connectionsIn(counts);
  const elementBytes = { none: 8, float32: 4, bfloat16: 2 }[rounding];
  checkMemory(context, n, count, operatorBytes(n, count, elementBytes));
  const stream = context.stream({ label: "Krylov iteration" });
  try {
    const operator = drawnOperator(context, stream, draws, counts, rounding);
    try {
      const tasks = krylovAttempts(n, count, 0);
      let task = tasks.next();
      while (!task.done) task = tasks.next(await iterateOnDevice(context, stream, operator, n, { ...task.value, exponent: 0 }, pacer));
      return converged(n, task.value);
    } finally {
      operator.dispose();
    }
  } finally {
    stream.dispose();
  }
}

function converged(n: number, { radius, residual, restarts, converged: done }: KrylovResult): SpectralRadius {
  if (!done) throw new SpectralRadiusError(n, residual, restarts);
  return { radius, method: "krylov" };
}

function checkMemory(context: Context, n: number, count: number, matrixBytes: number): void {
  const needed = matrixBytes + iterationBytes(n, largestBasis(n, count));
  const limit = freeMemory(context);
  if (needed <= limit) return;
  const what = `a Krylov iteration on ${n} rows with ${count.toLocaleString("en")} nonzeros on ${context.info.name}`;
  throw new EngineCapacityError(what, needed, limit, 'take the method "circularLaw", or let the host iterate (engine "cpu")');
}
