// Eigenvalues and vectors of a small symmetric matrix by cyclic Jacobi rotations (Golub and Van
// Loan, section 8.5). Plain arithmetic in one order: the same bits everywhere.

/** The eigenvalues, and the eigenvectors as columns of a d x d matrix by rows. */
export function symmetricEigen(matrix: Float64Array, d: number): { readonly values: Float64Array; readonly vectors: Float64Array } {
  const a = matrix.slice();
  const vectors = new Float64Array(d * d);
  for (let j = 0; j < d; j++) vectors[j * d + j] = 1;
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    let on = 0;
    for (const [i, value] of a.entries()) {
      if (i % (d + 1) === 0) on += value * value;
      else off += value * value;
    }
    if (off <= 1e-32 * on) break;
    for (let p = 0; p < d - 1; p++) for (let q = p + 1; q < d; q++) rotate(a, vectors, d, p, q);
  }
  return { values: Float64Array.from({ length: d }, (_, j) => a[j * d + j]!), vectors };
}

/** One rotation, which makes a[p][q] zero. */
function rotate(a: Float64Array, vectors: Float64Array, d: number, p: number, q: number): void {
  const apq = a[p * d + q]!;
  if (apq === 0) return;
  const theta = (a[q * d + q]! - a[p * d + p]!) / (2 * apq);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < d; k++) {
    const akp = a[k * d + p]!;
    const akq = a[k * d + q]!;
    a[k * d + p] = c * akp - s * akq;
    a[k * d + q] = s * akp + c * akq;
  }
  for (let k = 0; k < d; k++) {
    const apk = a[p * d + k]!;
    const aqk = a[q * d + k]!;
    a[p * d + k] = c * apk - s * aqk;
    a[q * d + k] = s * apk + c * aqk;
    const vkp = vectors[k * d + p]!;
    const vkq = vectors[k * d + q]!;
    vectors[k * d + p] = c * vkp - s * vkq;
    vectors[k * d + q] = s * vkp + c * vkq;
  }
}
