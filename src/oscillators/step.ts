// One step of coupled phase oscillators: the Heun steps of one input. docs/numerics.md, rule 15.
import {
  allocate,
  type FloatArray,
  isSparse,
  type Matrix,
  philox4x32,
  portableCos,
  portableSin,
  type SparseMatrix,
} from "@spillway/numerics";
import type { KindStep } from "../reservoir/index.js";
import { portableSum, type Round, roundFor, turn } from "./circle.js";
import type { OscillatorModel } from "./options.js";

/**
 * Row i of W times x into `p[i]` and times y into `q[i]`, in the order of docs/numerics.md, rules 1
 * and 2.
 */
type RowDots = (i: number, x: FloatArray, y: FloatArray, p: FloatArray, q: FloatArray) => void;

/** The products of a matrix with two vectors of its precision. */
export function rowDots(weights: Matrix | SparseMatrix): RowDots {
  if (isSparse(weights)) return sparseDots(weights);
  return weights.data instanceof Float32Array ? denseDots32(weights, weights.data) : denseDots64(weights, weights.data);
}

function denseDots32({ cols }: Matrix, data: Float32Array): RowDots {
  const sums = [new Float32Array(32), new Float32Array(32)] as const;
  return (i, x, y, p, q) => {
    const row = i * cols;
    for (let l = 0; l < 32; l++) {
      let a = 0;
      let b = 0;
      for (let k = l; k < cols; k += 32) {
        const w = data[row + k]!;
        a = Math.fround(a + Math.fround(w * x[k]!));
        b = Math.fround(b + Math.fround(w * y[k]!));
      }
      sums[0][l] = a;
      sums[1][l] = b;
    }
    p[i] = folded(sums[0]);
    q[i] = folded(sums[1]);
  };
}

function denseDots64({ cols }: Matrix, data: Float64Array | Float32Array): RowDots {
  const sums = [new Float64Array(32), new Float64Array(32)] as const;
  return (i, x, y, p, q) => {
    const row = i * cols;
    for (let l = 0; l < 32; l++) {
      let a = 0;
      let b = 0;
      for (let k = l; k < cols; k += 32) {
        const w = data[row + k]!;
        a += w * x[k]!;
        b += w * y[k]!;
      }
      sums[0][l] = a;
      sums[1][l] = b;
    }
    p[i] = folded(sums[0]);
    q[i] = folded(sums[1]);
  };
}

function sparseDots({ rowOffsets, columns, values }: SparseMatrix): RowDots {
  const isSingle = values instanceof Float32Array;
  const sums = isSingle ? [new Float32Array(8), new Float32Array(8)] : [new Float64Array(8), new Float64Array(8)];
  const [first, second] = sums as [FloatArray, FloatArray];
  return (i, x, y, p, q) => {
    first.fill(0);
    second.fill(0);
    const start = rowOffsets[i]!;
    for (let m = start; m < rowOffsets[i + 1]!; m++) {
      const l = (m - start) & 7;
      const k = columns[m]!;
      const [a, b] = [values[m]! * x[k]!, values[m]! * y[k]!];
      // A sum is rounded as it is stored.
      first[l] = first[l]! + (isSingle ? Math.fround(a) : a);
      second[l] = second[l]! + (isSingle ? Math.fround(b) : b);
    }
    p[i] = folded(first);
    q[i] = folded(second);
  };
}

/** The butterfly over partial sums; each sum is rounded as it is stored. */
function folded(sums: FloatArray): number {
  for (let half = sums.length / 2; half >= 1; half /= 2) for (let l = 0; l < half; l++) sums[l] = sums[l]! + sums[l + half]!;
  return sums[0]!;
}

/** What pulls at each phase while an input lasts. */
interface Field {
  readonly x: FloatArray;
  readonly y: FloatArray;
}

/** What a step adds to phases besides the force: one row of N values for each Heun step. */
type Noise = (step: number, sequence: number, substep: number, out: FloatArray) => void;

/** The parts of a step of one model, each with memory of its own. */
export class OscillatorStep {
  readonly model: OscillatorModel;
  /** The number of oscillators. */
  readonly size: number;
  readonly round: Round;
  /** The length of a Heun step. */
  readonly h: number;
  readonly field: Field;
  readonly noise: FloatArray;
  readonly omega: FloatArray;
  /** What the drive of an input begins with: b, or sin b for the input "field". */
  readonly drive: FloatArray;
  /** Y of the input "field": F cos b. */
  readonly fieldY: FloatArray;
  readonly halfStep: number;
  /** K / N. */
  readonly meanGain: number;
  /** What the sum of four random bytes is multiplied by; 0 without noise. */
  readonly noiseScale: number;
  readonly #drawNoise: Noise | undefined;
  readonly #dots: RowDots | undefined;

  constructor(model: OscillatorModel) {
    const { config, precision, matrices } = model;
    const { size, pull, tau, steps, strength, noise, input } = config;
    const round = roundFor(precision);
    this.model = model;
    this.size = size;
    this.round = round;
    this.h = round(tau / steps);
    this.halfStep = round(0.5 * this.h);
    this.omega = matrices.frequencies.data;
    const bias = matrices.bias.data;
    this.drive = input === "phase" ? bias : (bias.map((b) => portableSin(b)) as FloatArray);
    this.fieldY = bias.map((b) => pull * portableCos(b)) as FloatArray;
    this.meanGain = round(strength / size);
    this.#dots = matrices.weights && rowDots(matrices.weights);
    this.field = { x: allocate(precision, size), y: allocate(precision, size) };
    this.noise = allocate(precision, size);
    // The deviation of a sum of four random bytes is sqrt(21845).
    this.noiseScale = round(Math.sqrt((2 * noise * (tau / steps)) / 21845));
    this.#drawNoise = noise === 0 ? undefined : noiseOf(model, this.noiseScale);
  }

  /** Sets the field that pulls while this input lasts. */
  setField(input: FloatArray): void {
    const { pull, input: mode } = this.model.config;
    const { data, cols } = this.model.matrices.inputWeights;
    const { round, field } = this;
    const isPhase = mode === "phase";
    for (let i = 0; i < this.size; i++) {
      let sum = this.drive[i]!;
      for (let k = 0; k < cols; k++) sum = round(sum + round(data[i * cols + k]! * input[k]!));
      field.x[i] = isPhase ? pull * portableSin(sum) : pull * sum;
      field.y[i] = isPhase ? pull * portableCos(sum) : this.fieldY[i]!;
    }
  }

  /** Sets the noise of a Heun step, if there is any. */
  setNoise(step: number, sequence: number, substep: number): void {
    this.#drawNoise?.(step, sequence, substep, this.noise);
  }

  /** W s and W c, or the mean field's two sums, into p and q. */
  couple(c: FloatArray, s: FloatArray, p: FloatArray, q: FloatArray): void {
    const { size, round } = this;
    if (this.model.config.coupling === "meanField") {
      p.fill(round(this.meanGain * portableSum(s, size, round)));
      q.fill(round(this.meanGain * portableSum(c, size, round)));
      return;
    }
    for (let i = 0; i < size; i++) this.#dots!(i, s, c, p, q);
  }

  /** The velocity of each phase at (c, s): (omega + c (p + X)) - s (q + Y). */
  force(c: FloatArray, s: FloatArray, p: FloatArray, q: FloatArray, out: FloatArray): void {
    const { round, field } = this;
    for (let i = 0; i < this.size; i++) {
      const along = round(c[i]! * round(p[i]! + field.x[i]!));
      const across = round(s[i]! * round(q[i]! + field.y[i]!));
      out[i] = round(round(this.omega[i]! + along) - across);
    }
  }
}

/**
 * Normal enough: four random bytes of the noise key's words at (step, i / 4, sequence, substep).
 */
function noiseOf({ noiseKey, config }: OscillatorModel, scale: number): Noise {
  const block = new Uint32Array(4);
  return (step, sequence, substep, out) => {
    for (let i = 0; i < config.size; i++) {
      if ((i & 3) === 0) philox4x32(noiseKey, step, i >>> 2, sequence, substep, block);
      const word = block[i & 3]!;
      out[i] = scale * ((word & 255) + ((word >>> 8) & 255) + ((word >>> 16) & 255) + (word >>> 24) - 510);
    }
  };
}

/**
 * The step of a model: `steps` Heun steps on the circle, then the higher harmonics and R of the
 * phases they end at.
 */
export function oscillatorStep(model: OscillatorModel): KindStep {
  const parts = new OscillatorStep(model);
  const { size, round, h, halfStep, noise } = parts;
  const { steps, harmonics, order } = model.config;
  const vector = () => allocate(model.precision, size);
  const [c, s, c1, s1] = [vector(), vector(), vector(), vector()];
  const [p, q, k1, k2] = [vector(), vector(), vector(), vector()];
  return (x, input, next, step, sequence) => {
    c.set(x.subarray(0, size));
    s.set(x.subarray(size, 2 * size));
    parts.setField(input);
    for (let n = 0; n < steps; n++) {
      parts.setNoise(step, sequence, n);
      parts.couple(c, s, p, q);
      parts.force(c, s, p, q, k1);
      for (let i = 0; i < size; i++) turn(c, s, i, round(round(h * k1[i]!) + noise[i]!), c1, s1, round);
      parts.couple(c1, s1, p, q);
      parts.force(c1, s1, p, q, k2);
      for (let i = 0; i < size; i++) turn(c, s, i, round(round(halfStep * round(k1[i]! + k2[i]!)) + noise[i]!), c, s, round);
    }
    next.set(c);
    next.set(s, size);
    for (let m = 1; m < harmonics; m++) {
      const [from, to] = [2 * size * (m - 1), 2 * size * m];
      for (let i = 0; i < size; i++) {
        const [cm, sm] = [next[from + i]!, next[from + size + i]!];
        next[to + i] = round(cm * c[i]!) - round(sm * s[i]!);
        next[to + size + i] = round(sm * c[i]!) + round(cm * s[i]!);
      }
    }
    if (order) next[2 * size * harmonics] = orderOf(c, s, size, round);
  };
}

/** R = |sum of (c, s)| / N. */
export function orderOf(c: ArrayLike<number>, s: ArrayLike<number>, size: number, round: Round): number {
  const x = portableSum(c, size, round);
  const y = portableSum(s, size, round);
  return round(round(Math.sqrt(round(round(x * x) + round(y * y)))) / size);
}
