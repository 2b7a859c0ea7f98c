// The directions in which states move most, for a picture of them; not a decomposition to compute
// with.
import { Matrix } from "@spillway/numerics";

/** Rows that the directions are found from. */
const maxRows = 4000;
const iterations = 60;

/** States seen along their leading directions. */
export interface Projection {
  /** T x K. */
  readonly coordinates: Matrix;
  /** Share of the variance along each, falling. */
  readonly explained: Float64Array;
}

/**
 * Projects T x N states, less their mean, on the K leading eigenvectors of their covariance, found
 * by subspace iteration on at most 4000 rows at equal distances. The sign of a direction makes its
 * largest entry positive: the same states give the same picture.
 */
export function principalComponents(states: Matrix, count: number): Projection {
  const { rows, cols } = states;
  const every = Math.max(1, Math.ceil(rows / maxRows));
  const mean = new Float64Array(cols);
  let used = 0;
  for (let t = 0; t < rows; t += every, used++) for (let i = 0; i < cols; i++) mean[i] = mean[i]! + states.data[t * cols + i]!;
  for (let i = 0; i < cols; i++) mean[i] = mean[i]! / used;
  const centred = Matrix.zeros(used, cols);
  let total = 0;
  for (let k = 0; k < used; k++) {
    for (let i = 0; i < cols; i++) {
      const value = states.data[k * every * cols + i]! - mean[i]!;
      centred.data[k * cols + i] = value;
      total += value * value;
    }
  }
  const directions = startDirections(count, cols);
  for (let n = 0; n < iterations; n++) {
    for (const direction of directions) direction.set(covarianceTimes(centred, direction));
    orthonormalise(directions);
  }
  const variances = directions.map((direction) => {
    const image = covarianceTimes(centred, direction);
    return dot(image, direction);
  });
  const order = directions.map((_, k) => k).sort((a, b) => variances[b]! - variances[a]!);
  const sorted = order.map((k) => signed(directions[k]!));
  const coordinates = Matrix.zeros(rows, count);
  for (let t = 0; t < rows; t++) {
    for (let k = 0; k < count; k++) {
      let sum = 0;
      for (let i = 0; i < cols; i++) sum += (states.data[t * cols + i]! - mean[i]!) * sorted[k]![i]!;
      coordinates.data[t * count + k] = sum;
    }
  }
  return { coordinates, explained: Float64Array.from(order, (k) => (total > 0 ? variances[k]! / total : 0)) };
}

/** Different enough from each other and from axes, and the same every time. */
function startDirections(count: number, cols: number): Float64Array[] {
  const directions = Array.from({ length: count }, (_, k) =>
    Float64Array.from({ length: cols }, (_, i) => Math.cos((i + 1) * (k + 1) * 1.7)),
  );
  orthonormalise(directions);
  return directions;
}

function covarianceTimes(centred: Matrix, v: Float64Array): Float64Array {
  const { rows, cols } = centred;
  const out = new Float64Array(cols);
  for (let t = 0; t < rows; t++) {
    const row = centred.data.subarray(t * cols, (t + 1) * cols);
    const along = dot(row, v);
    for (let i = 0; i < cols; i++) out[i] = out[i]! + along * row[i]!;
  }
  return out;
}

/** Gram-Schmidt; a direction that vanishes (fewer dimensions than asked for) stays zero. */
function orthonormalise(directions: readonly Float64Array[]): void {
  directions.forEach((direction, k) => {
    const before = Math.sqrt(dot(direction, direction));
    for (let again = 0; again < 2; again++) {
      for (const other of directions.slice(0, k)) {
        const along = dot(direction, other);
        for (let i = 0; i < direction.length; i++) direction[i] = direction[i]! - along * other[i]!;
      }
    }
    const length = Math.sqrt(dot(direction, direction));
    const scale = length > 1e-12 * before ? 1 / length : 0;
    for (let i = 0; i < direction.length; i++) direction[i] = direction[i]! * scale;
  });
}

function signed(direction: Float64Array): Float64Array {
  const largest = direction.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
  return largest < 0 ? direction.map((value) => -value) : direction;
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
