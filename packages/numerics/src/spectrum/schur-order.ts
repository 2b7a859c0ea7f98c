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

/** What a swap works with: small arrays made thousands of times keep the collector busy. */
const solution = new Float64Array(4);
const equations = new Float64Array(16);
const right = new Float64Array(4);
const order = new Uint8Array(4);
const basis = new Float64Array(8);
const block = new Float64Array(16);
const reflections = [new Float64Array(4), new Float64Array(4)] as const;

/**
 * Swaps the block of p rows at row k with the block of q rows after it. False, and nothing changed,
 * if rounding would spoil T. Bai and Demmel 1993, "On swapping diagonal blocks in real Schur
 * form": [-X; I] spans the invariant subspace of the second block where A X - X B = C, and its QR
 * factorization gives the orthogonal change of basis.
 */
function swapBlocks({ size, ld, t, q: changes }: SchurForm, k: number, p: number, q: number): boolean {
  const n = p + q;
  const corner = k * ld + k;
  let largest = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const value = t[corner + i * ld + j]!;
      block[i * n + j] = value;
      largest = Math.max(largest, Math.abs(value));
    }
  }
  solveSylvester(p, q);
  for (let j = 0; j < q; j++) {
    for (let i = 0; i < p; i++) basis[i * q + j] = -solution[i * q + j]!;
    for (let i = 0; i < q; i++) basis[(p + i) * q + j] = i === j ? 1 : 0;
  }
  const used = q === 1 ? reflections.slice(0, 1) : reflections;
  for (const [j, v] of used.entries()) {
    v.fill(0);
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
    reflect(v, n, basis, 0, q, 1, q);
  }

  for (const v of used) {
    reflect(v, n, block, 0, n, 1, n);
    reflect(v, n, block, 0, 1, n, n);
  }
  for (let i = q; i < n; i++) for (let j = 0; j < q; j++) if (Math.abs(block[i * n + j]!) > 1e-14 * largest) return false;

  for (const v of used) {
    reflect(v, n, t, corner, ld, 1, size - k);
    reflect(v, n, t, k, 1, ld, k + n);
    reflect(v, n, changes, k, 1, ld, size);
  }
  for (let i = q; i < n; i++) for (let j = 0; j < q; j++) t[corner + i * ld + j] = 0;
  return true;
}

/**
 * Applies I - v v^T to `count` vectors of n elements, 2 to 4, whose elements are `step` apart and
 * which begin `next` apart from `start`.
 */
function reflect(v: Float64Array, n: number, data: Float64Array, start: number, step: number, next: number, count: number): void {
  const [v0, v1, v2, v3] = [v[0]!, v[1]!, v[2]!, v[3]!];
  for (let c = 0, at = start; c < count; c++, at += next) {
    const [first, second] = [data[at]!, data[at + step]!];
    let sum = 0 + v0 * first + v1 * second;
    if (n > 2) sum += v2 * data[at + 2 * step]!;
    if (n > 3) sum += v3 * data[at + 3 * step]!;
    data[at] = first - sum * v0;
    data[at + step] = second - sum * v1;
    if (n > 2) data[at + 2 * step] = data[at + 2 * step]! - sum * v2;
    if (n > 3) data[at + 3 * step] = data[at + 3 * step]! - sum * v3;
  }
}

/**
 * X (p x q, row-major) in `solution` with A X - X B = C for the blocks A (p x p), B (q x q), C (p x
 * q) of [A C; 0 B] in `block`; complete pivoting.
 */
function solveSylvester(p: number, q: number): void {
  const n = p * q;
  const m = equations.fill(0, 0, n * n);
  const at = (i: number, j: number): number => block[i * (p + q) + j]!;
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
  for (let i = 0; i < n; i++) order[i] = i;
  for (let k = 0; k < n; k++) {
    let best = k * n + k;
    for (let i = k; i < n; i++) for (let j = k; j < n; j++) if (Math.abs(m[i * n + j]!) > Math.abs(m[best]!)) best = i * n + j;
    const pr = Math.floor(best / n);
    const pc = best % n;
    for (let j = 0; j < n; j++) swap(m, k * n + j, pr * n + j);
    swap(right, k, pr);
    for (let i = 0; i < n; i++) swap(m, i * n + k, i * n + pc);
    swap(order, k, pc);
    if (Math.abs(m[k * n + k]!) < least) m[k * n + k] = least;
    for (let i = k + 1; i < n; i++) {
      const factor = m[i * n + k]! / m[k * n + k]!;
      for (let j = k; j < n; j++) m[i * n + j] = m[i * n + j]! - factor * m[k * n + j]!;
      right[i] = right[i]! - factor * right[k]!;
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    let sum = right[k]!;
    for (let j = k + 1; j < n; j++) sum -= m[k * n + j]! * solution[order[j]!]!;
    solution[order[k]!] = sum / m[k * n + k]!;
  }
}

function swap(values: Float64Array | Uint8Array, a: number, b: number): void {
  const value = values[a]!;
  values[a] = values[b]!;
  values[b] = value;
}
