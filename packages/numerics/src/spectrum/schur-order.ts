// Reordering of a small real Schur form by the modulus of its eigenvalues. Plain TypeScript: the
// matrices have some 60 rows.

/**
 * A quasi-triangular T and the orthogonal Q that goes with it, both size x size with rows `ld`
 * numbers apart, changed in place.
 */
export interface SchurForm {
  readonly size: number;
  readonly ld: number;
  readonly t: Float64Array;
  readonly q: Float64Array;
}

/** Whether a 2 x 2 block begins at row k. */
export function isPair({ size, ld, t }: SchurForm, k: number): boolean {
  return k + 1 < size && t[(k + 1) * ld + k] !== 0;
}

/** The largest modulus of the eigenvalues of the block at row k. */
export function blockModulus(form: SchurForm, k: number): number {
  const { ld, t } = form;
  const a = t[k * ld + k]!;
  if (!isPair(form, k)) return Math.abs(a);
  const b = t[k * ld + k + 1]!;
  const c = t[(k + 1) * ld + k]!;
  const d = t[(k + 1) * ld + k + 1]!;
  const half = (a - d) / 2;
  const discriminant = half * half + b * c;
  return discriminant < 0 ? Math.sqrt(Math.max(0, a * d - b * c)) : Math.abs((a + d) / 2) + Math.sqrt(discriminant);
}

/**
 * Moves the blocks of largest modulus to the front, in falling order, until at least `count` rows
 * are in order. Blocks that are too close to each other to be swapped stay as they are.
 */
export function orderByModulus(form: SchurForm, count: number): void {
  for (let top = 0; top < count && top < form.size; ) {
    const starts: number[] = [];
    for (let k = top; k < form.size; k += isPair(form, k) ? 2 : 1) starts.push(k);
    let best = 0;
    for (let i = 1; i < starts.length; i++) if (blockModulus(form, starts[i]!) > blockModulus(form, starts[best]!)) best = i;
    let at = starts[best]!;
    for (let i = best - 1; i >= 0; i--) {
      const before = starts[i]!;
      if (!swapBlocks(form, before, at - before, isPair(form, at) ? 2 : 1)) break;
      at = before;
    }
    top += isPair(form, top) ? 2 : 1;
  }
}

/**
 * Swaps the block of p rows at row k with the block of q rows after it. False, and nothing changed,
 * if rounding would spoil T. Bai and Demmel 1993, "On swapping diagonal blocks in real Schur
 * form": [-X; I] spans the invariant subspace of the second block where A X - X B = C, and its QR
 * factorization gives the orthogonal change of basis.
 */
function swapBlocks(form: SchurForm, k: number, p: number, q: number): boolean {
  const { size, ld, t } = form;
  const n = p + q;
  const at = (i: number, j: number): number => t[(k + i) * ld + k + j]!;
  const x = solveSylvester(p, q, at);
  let largest = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) largest = Math.max(largest, Math.abs(at(i, j)));

  const reflections: Float64Array[] = [];
  const basis = new Float64Array(n * q);
  for (let j = 0; j < q; j++) {
    for (let i = 0; i < p; i++) basis[i * q + j] = -x[i * q + j]!;
    basis[(p + j) * q + j] = 1;
  }
  for (let j = 0; j < q; j++) {
    const v = new Float64Array(n);
    let norm = 0;
    for (let i = j; i < n; i++) {
      v[i] = basis[i * q + j]!;
      norm += v[i]! * v[i]!;
    }
    norm = Math.sqrt(norm);
    v[j] = v[j]! + (v[j]! < 0 ? -norm : norm);
    let square = 0;
    for (let i = j; i < n; i++) square += v[i]! * v[i]!;
    const scale = Math.sqrt(2 / square);
    for (let i = j; i < n; i++) v[i] = v[i]! * scale;
    reflect(v, basis, 0, q, 1, q);
    reflections.push(v);
  }

  const block = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) block[i * n + j] = at(i, j);
  for (const v of reflections) {
    reflect(v, block, 0, n, 1, n);
    reflect(v, block, 0, 1, n, n);
  }
  for (let i = q; i < n; i++) for (let j = 0; j < q; j++) if (Math.abs(block[i * n + j]!) > 1e-14 * largest) return false;

  for (const v of reflections) {
    reflect(v, t, k * ld + k, ld, 1, size - k);
    reflect(v, t, k, 1, ld, k + n);
    reflect(v, form.q, k, 1, ld, size);
  }
  for (let i = q; i < n; i++) for (let j = 0; j < q; j++) t[(k + i) * ld + k + j] = 0;
  return true;
}

/**
 * Applies I - v v^T to `count` vectors whose elements are `step` apart and which begin `next` apart
 * from `start`.
 */
function reflect(v: Float64Array, data: Float64Array, start: number, step: number, next: number, count: number): void {
  for (let c = 0; c < count; c++) {
    const from = start + c * next;
    let sum = 0;
    for (let i = 0; i < v.length; i++) sum += v[i]! * data[from + i * step]!;
    for (let i = 0; i < v.length; i++) data[from + i * step] = data[from + i * step]! - sum * v[i]!;
  }
}

/**
 * X (p x q, row-major) with A X - X B = C for the blocks A (p x p), B (q x q), C (p x q) of [A C; 0
 * B]; complete pivoting.
 */
function solveSylvester(p: number, q: number, at: (i: number, j: number) => number): Float64Array {
  const n = p * q;
  const m = new Float64Array(n * n);
  const right = new Float64Array(n);
  let largest = 0;
  for (let i = 0; i < p; i++) {
    for (let j = 0; j < q; j++) {
      const row = i * q + j;
      right[row] = at(i, p + j);
      for (let l = 0; l < p; l++) m[row * n + l * q + j] = at(i, l);
      for (let l = 0; l < q; l++) m[row * n + i * q + l] = m[row * n + i * q + l]! - at(p + l, p + j);
    }
  }
  for (let i = 0; i < n * n; i++) largest = Math.max(largest, Math.abs(m[i]!));
  const least = Math.max(largest * 2.220446049250313e-16, 2.2250738585072014e-308);
  const order = Array.from({ length: n }, (_, i) => i);
  for (let k = 0; k < n; k++) {
    let pr = k;
    let pc = k;
    for (let i = k; i < n; i++) for (let j = k; j < n; j++) if (Math.abs(m[i * n + j]!) > Math.abs(m[pr * n + pc]!)) [pr, pc] = [i, j];
    for (let j = 0; j < n; j++) [m[k * n + j], m[pr * n + j]] = [m[pr * n + j]!, m[k * n + j]!];
    [right[k], right[pr]] = [right[pr]!, right[k]!];
    for (let i = 0; i < n; i++) [m[i * n + k], m[i * n + pc]] = [m[i * n + pc]!, m[i * n + k]!];
    [order[k], order[pc]] = [order[pc]!, order[k]!];
    if (Math.abs(m[k * n + k]!) < least) m[k * n + k] = least;
    for (let i = k + 1; i < n; i++) {
      const factor = m[i * n + k]! / m[k * n + k]!;
      for (let j = k; j < n; j++) m[i * n + j] = m[i * n + j]! - factor * m[k * n + j]!;
      right[i] = right[i]! - factor * right[k]!;
    }
  }
  const x = new Float64Array(n);
  for (let k = n - 1; k >= 0; k--) {
    let sum = right[k]!;
    for (let j = k + 1; j < n; j++) sum -= m[k * n + j]! * x[order[j]!]!;
    x[order[k]!] = sum / m[k * n + k]!;
  }
  return x;
}
