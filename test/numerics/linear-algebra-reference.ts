// Rules 9 and 11 of docs/numerics.md as plain loops, and random matrices: what the linear algebra
// is held against.
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";

/** A reproducible T x N matrix with values in (-1, 1), binary32 or binary64. */
export function randomMatrix(rows: number, cols: number, seed: string | number, precision: "float32" | "float64" = "float64"): Matrix {
  const stream = new RandomStream(seedKeys(seed).weights, 99);
  const out = Matrix.zeros(rows, cols, precision);
  for (let i = 0; i < out.data.length; i++) out.data[i] = 2 * stream.uniform(0, i) - 1;
  return out;
}

/** Rule 9: block sums of 1024 rows, each from +0, added to a total from +0. */
export function plainGram(x: Matrix): Matrix<Float64Array> {
  const out = Matrix.zeros(x.cols, x.cols);
  for (let i = 0; i < x.cols; i++) {
    for (let j = 0; j < x.cols; j++) {
      let total = 0;
      for (let block = 0; block < x.rows; block += 1024) {
        let sum = 0;
        for (let t = block; t < Math.min(block + 1024, x.rows); t++) sum += x.data[t * x.cols + i]! * x.data[t * x.cols + j]!;
        total += sum;
      }
      out.data[i * x.cols + j] = total;
    }
  }
  return out;
}

/** Rule 11: L of A = L L^T. */
export function plainCholesky(a: Matrix): number[][] {
  const l: number[][] = [];
  for (let i = 0; i < a.rows; i++) {
    l.push([]);
    for (let j = 0; j <= i; j++) {
      let s = a.at(i, j);
      for (let k = 0; k < j; k++) s -= l[i]![k]! * l[j]![k]!;
      l[i]!.push(i === j ? Math.sqrt(s) : s / l[j]![j]!);
    }
  }
  return l;
}

/** Rule 11: forward and backward substitution for one right-hand side. */
export function plainSolve(l: number[][], c: ArrayLike<number>): { z: number[]; w: number[] } {
  const n = l.length;
  const z: number[] = [];
  for (let i = 0; i < n; i++) {
    let s = c[i]!;
    for (let k = 0; k < i; k++) s -= l[i]![k]! * z[k]!;
    z.push(s / l[i]![i]!);
  }
  const w = z.slice();
  for (let i = n - 1; i >= 0; i--) {
    let s = z[i]!;
    for (let k = n - 1; k > i; k--) s -= l[k]![i]! * w[k]!;
    w[i] = s / l[i]![i]!;
  }
  return { z, w };
}

/**
 * Rule 11, Householder: rows of features and targets, reflected into R (F rows of F + O values).
 */
export class PlainTriangle {
  readonly r: number[][];
  readonly features: number;
  constructor(features: number, targets: number) {
    this.features = features;
    this.r = Array.from({ length: features }, () => new Array<number>(features + targets).fill(0));
  }

  /** Takes in a block of at most 256 rows whose columns before `start` are 0. */
  add(block: readonly (readonly number[])[], start = 0): void {
    const b = block.map((row) => row.slice());
    const width = this.r[0]!.length;
    for (let j0 = Math.floor(start / 36) * 36; j0 < this.features; j0 += 36) {
      const end = Math.min(j0 + 36, this.features);
      const v: number[][] = [];
      const tau: number[] = [];
      for (let j = j0; j < end; j++) {
        const x = b.map((row) => row[j]!);
        let s = 0;
        for (const value of x) s += value * value;
        if (s === 0) {
          v.push(x.map(() => 0));
          tau.push(0);
          continue;
        }
        const a = this.r[j]![j]!;
        const root = Math.sqrt(a * a + s);
        const beta = a >= 0 ? -root : root;
        v.push(x.map((value) => value / (a - beta)));
        tau.push((beta - a) / beta);
        this.r[j]![j] = beta;
        for (let c = j + 1; c < end; c++) this.#reflect(b, v[j - j0]!, tau[j - j0]!, j, c);
      }
      const products = v.map((vk) => v.map((vi) => dot(vk, vi)));
      for (let c = end; c < width; c++) this.#reflectGroup(b, v, tau, products, j0, c);
    }
  }

  #reflect(b: number[][], v: number[], tau: number, j: number, c: number): void {
    let d = this.r[j]![c]!;
    b.forEach((row, t) => {
      d += row[c]! * v[t]!;
    });
    d *= tau;
    this.r[j]![c]! -= d;
    b.forEach((row, t) => {
      row[c]! -= d * v[t]!;
    });
  }

  #reflectGroup(b: number[][], v: number[][], tau: number[], products: number[][], j0: number, c: number): void {
    const d: number[] = [];
    v.forEach((vi, i) => {
      let w = this.r[j0 + i]![c]!;
      b.forEach((row, t) => {
        w += vi[t]! * row[c]!;
      });
      for (let k = 0; k < i; k++) w -= products[k]![i]! * d[k]!;
      d.push(w * tau[i]!);
    });
    d.forEach((value, i) => {
      this.r[j0 + i]![c]! -= value;
      b.forEach((row, t) => {
        row[c]! -= v[i]![t]! * value;
      });
    });
  }

  solve(target: number): number[] {
    const n = this.features;
    const w = new Array<number>(n).fill(0);
    for (let i = n - 1; i >= 0; i--) {
      let s = this.r[i]![n + target]!;
      for (let k = n - 1; k > i; k--) s -= this.r[i]![k]! * w[k]!;
      w[i] = s / this.r[i]![i]!;
    }
    return w;
  }
}

function dot(a: number[], b: number[]): number {
  let s = 0;
  a.forEach((value, t) => {
    s += value * b[t]!;
  });
  return s;
}

/** The 64 bits of every value: a comparison sees every one of them. */
export function bits(values: ArrayLike<number>): string[] {
  const view = new BigUint64Array(Float64Array.from(values).buffer);
  return Array.from(view, (word) => word.toString(16));
}
