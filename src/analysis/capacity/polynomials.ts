// Orthogonal polynomials of an input, by their three-term recurrence. Products of them are made in
// targets.ts.

/** Which polynomials: of a uniform input, of a normal one, or of the input as it is. */
export type Polynomials = "legendre" | "hermite" | "sample";

/** P_(n+1) = (a u + b) P_n - c P_(n-1). */
export interface Recurrence {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/**
 * The recurrences from P_1 to P_(degree): of Legendre's polynomials, ((2n + 1) u P_n - n P_(n-1)) /
 * (n + 1); of Hermite's, u P_n - n P_(n-1); or of those that are orthogonal over the rows of u
 * (Stieltjes 1884), (u - b_n) P_n - c_n P_(n-1), b_n = sum u P_n^2 / sum P_n^2, c_n = sum P_n^2 /
 * sum P_(n-1)^2.
 */
export function recurrences(kind: Polynomials, degree: number, u: Float64Array): Recurrence[] {
  if (kind === "sample") return ofSample(degree, u);
  return Array.from({ length: degree }, (_, n) =>
    kind === "legendre" ? { a: (2 * n + 1) / (n + 1), b: 0, c: n / (n + 1) } : { a: 1, b: 0, c: n },
  );
}

/** P_0 to P_degree of every value. */
export function evaluatePolynomials(steps: readonly Recurrence[], u: Float64Array): Float64Array[] {
  const out = [new Float64Array(u.length).fill(1)];
  for (const step of steps) out.push(following(step, u, out[out.length - 1]!, out[out.length - 2]));
  return out;
}

function following(
  { a, b, c }: Recurrence,
  u: Float64Array,
  last: Float64Array,
  before: Float64Array | undefined,
): Float64Array<ArrayBuffer> {
  const next = new Float64Array(u.length);
  for (let t = 0; t < u.length; t++) next[t] = (a * u[t]! + b) * last[t]! - c * (before?.[t] ?? 0);
  return next;
}

function ofSample(degree: number, u: Float64Array): Recurrence[] {
  const steps: Recurrence[] = [];
  let before: Float64Array | undefined;
  let last = new Float64Array(u.length).fill(1);
  let squaresBefore = 1;
  for (let n = 0; n < degree; n++) {
    let squares = 0;
    let weighted = 0;
    for (let t = 0; t < u.length; t++) {
      const square = last[t]! * last[t]!;
      squares += square;
      weighted += u[t]! * square;
    }
    const step = { a: 1, b: squares > 0 ? -weighted / squares : 0, c: n === 0 ? 0 : squares / squaresBefore };
    steps.push(step);
    const next = following(step, u, last, before);
    before = last;
    last = next;
    squaresBefore = squares;
  }
  return steps;
}
