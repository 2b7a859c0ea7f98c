// The spectral radius on a device: the host's methods, with the iteration where the matrix and the
// vectors are. The same bits as on the host.
import { Held } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, Stream } from "@spillway/gpu";
import { type Matrix, type SparseMatrix, type SpectralRadius, SpectralRadiusError, type SpectralRadiusOptions } from "@spillway/numerics";
import { type KrylovResult, krylovAttempts, largestBasis } from "@spillway/numerics/spectrum/krylov-attempts.js";
import { mostIterations, type PowerFailure, powerIterations, powerStart } from "@spillway/numerics/spectrum/power-iteration.js";
import { circularLawLimit, powerRadius, spectralRadiusBy } from "@spillway/numerics/spectrum/radius.js";
import { EngineCapacityError, type WorkOptions } from "../../../reservoir/engine.js";
import { type DrawnMatrix, radiusOfRows } from "../../../reservoir/weight-draws.js";
import { WorkPacer } from "../../../reservoir/work.js";
import { freeMemory } from "../memory.js";
import { connectionsIn, countDrawn, drawRowSums } from "../streamed/drawn.js";
import { iterateOnDevice, iterationBytes } from "./krylov.js";
import {
  blockOperator,
  type DeviceOperator,
  drawnOperator,
  drawnOperatorOver,
  isTakenDense,
  operatorBytes,
  sliceBytes,
} from "./operators.js";

/** Restarts are counted up to this many; most iterations need a few dozen. */
const mostRestarts = 330;

/**
 * The spectral radius of a matrix on the host (numerics' `matrixSpectralRadius`). Blocks that
 * take a Krylov or power iteration are sent to the device, in binary64; all else stays on the host.
 * @throws EngineCapacityError if a block does not fit the device, before anything is allocated;
 * else as `spectralRadius`
 */
export async function spectralRadiusOnDevice(
  context: Context,
  matrix: Matrix | SparseMatrix,
  options: SpectralRadiusOptions & WorkOptions = {},
): Promise<SpectralRadius> {
  const pacer = new WorkPacer(options, mostRestarts);
  return spectralRadiusBy(
    matrix,
    {
      iterate: async ({ component, count, attempt, exponent }) => {
        const n = component.size;
        checkMemory(context, n, count, operatorBytes(n, count), krylovBytes(n, count));
        return onOperator(
          context,
          (stream) => blockOperator(context, stream, component, count, exponent),
          (operator, stream) => iterateOnDevice(context, stream, operator, n, { attempt, exponent }, pacer),
        );
      },
      power: async ({ component, count, exponent }) => {
        const n = component.size;
        if (count === 0) return 0;
        checkMemory(context, n, count, operatorBytes(n, count), powerBytes(n));
        return onOperator(
          context,
          (stream) => blockOperator(context, stream, component, count, exponent),
          (operator, stream) => powerOnDevice(context, stream, operator, n, exponent, options),
        );
      },
    },
    options,
  );
}

/** Work with an operator that is made for it, on a stream of its own. */
async function onOperator<T>(
  context: Context,
  make: (stream: Stream) => DeviceOperator,
  work: (operator: DeviceOperator, stream: Stream) => Promise<T>,
): Promise<T> {
  using held = new Held();
  const stream = held.own(context.stream({ label: "spectral radius" }));
  return await work(held.own(make(stream)), stream);
}

/**
 * The same for a random W that is drawn on the device and irreducible. A W of more than 64
 * connections a row is irreducible except with a chance below 1e-20. "auto" iterates as "krylov"
 * does. If the matrix of a Krylov iteration does not fit on the device, `others` hold rows too.
 */
export async function drawnSpectralRadius(
  context: Context,
  { draws, rounding }: DrawnMatrix,
  options: SpectralRadiusOptions & WorkOptions = {},
  others: readonly Context[] = [],
): Promise<SpectralRadius> {
  const { method } = options;
  const n = draws.size;
  const counts = countDrawn(context, draws);
  const count = connectionsIn(counts);
  const iterates = method === "krylov" || method === "power";
  if (!iterates && (method === "circularLaw" || count > circularLawLimit)) {
    const radius = radiusOfRows(await drawRowSums(context, draws)) * draws.factor;
    return { radius, method: "circularLaw" };
  }
  const isPower = method === "power";
  if (isPower && rounding !== "none" && isTakenDense(n, count))
    throw new ArgumentError("method", method, '"krylov" or "circularLaw" for a dense W that only the device holds, in less than binary64');
  const elementBytes = { none: 8, float32: 4, bfloat16: 2 }[rounding];
  const vectorBytes = isPower ? powerBytes(n) : krylovBytes(n, count);
  const whole = operatorBytes(n, count, elementBytes);
  const shared = !isPower && others.length > 0 && whole + vectorBytes > freeMemory(context);
  if (!shared) checkMemory(context, n, count, whole, vectorBytes);
  else {
    const part = sliceBytes(n, count, elementBytes, others.length + 1);
    for (const each of [context, ...others]) checkMemory(each, n, count, part, each === context ? vectorBytes : 0);
  }
  return onOperator(
    context,
    (stream) =>
      shared ? drawnOperatorOver([context, ...others], draws, counts, rounding) : drawnOperator(context, stream, draws, counts, rounding),
    async (operator, stream) => {
      if (isPower) return powerRadius(n, await powerOnDevice(context, stream, operator, n, 0, options));
      const pacer = new WorkPacer(options, mostRestarts);
      const tasks = krylovAttempts(n, count, 0);
      let task = tasks.next();
      while (!task.done) task = tasks.next(await iterateOnDevice(context, stream, operator, n, { ...task.value, exponent: 0 }, pacer));
      return converged(n, task.value);
    },
  );
}

const krylovBytes = (n: number, count: number): number => iterationBytes(n, largestBasis(n, count));

function converged(n: number, { radius, residual, restarts, converged: done }: KrylovResult): SpectralRadius {
  if (!done) throw new SpectralRadiusError(n, residual, restarts);
  return { radius, method: "krylov" };
}

function checkMemory(context: Context, n: number, count: number, matrixBytes: number, vectorBytes: number): void {
  const needed = matrixBytes + vectorBytes;
  const limit = freeMemory(context);
  if (needed <= limit) return;
  const what = `a${vectorBytes === powerBytes(n) ? " power" : " Krylov"} iteration on ${n} rows with ${count.toLocaleString("en")} nonzeros on ${context.info.name}`;
  throw new EngineCapacityError(what, needed, limit, 'take the method "circularLaw", or let the host iterate (engine "cpu")');
}

/** Bytes on the device beside the operator. */
const powerBytes = (n: number): number => 8 * (2 * n + 1);

/**
 * The radius of an operator on n rows that was divided by 2^exponent, or what the iteration came
 * to. @throws WorkInterruptedError
 */
async function powerOnDevice(
  context: Context,
  stream: Stream,
  operator: DeviceOperator,
  n: number,
  exponent: number,
  options: WorkOptions,
): Promise<number | PowerFailure> {
  const pacer = new WorkPacer(options, mostIterations);
  using owned = new Held();
  const vector = (length: number, label: string) => owned.own(context.alloc("f64", length, { label }));
  let [before, after] = [vector(n, "power iteration"), vector(n, "power iteration")];
  const length = vector(1, "length");
  stream.upload(after, powerStart(n));
  const iterations = powerIterations(exponent);
  let state = iterations.next();
  for (let done = 0; !state.done; ) {
    for (let i = 0; i < state.value; i++) {
      [before, after] = [after, before];
      operator.powerStep!(stream, before, after, length);
    }
    done += state.value;
    state = iterations.next([await stream.download(before), await stream.download(after)]);
    pacer.check(done);
    if (pacer.due()) await pacer.pause(done);
  }
  return state.value;
}
