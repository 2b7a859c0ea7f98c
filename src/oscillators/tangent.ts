// The derivative of a step of phase oscillators, for Lyapunov exponents: small changes of the N
// phases. In binary64, at the states of the model's own precision.
import { allocate, type FloatArray, isSparse, type Matrix, type SparseMatrix } from "@spillway/numerics";
import type { KindTangent } from "../reservoir/index.js";
import { turn } from "./circle.js";
import type { OscillatorModel } from "./options.js";
import { OscillatorStep } from "./step.js";

/** The forces at (c, s), and how they change with phases. */
interface Linearised {
  readonly c: FloatArray;
  readonly s: FloatArray;
  readonly force: FloatArray;
  /** Change of a phase's force with that phase alone. */
  readonly own: Float64Array;
}

/** Follows small changes of phases through the Heun steps of an input. */
export function oscillatorTangent(model: OscillatorModel): KindTangent {
  const parts = new OscillatorStep(model);
  const { size, round, h, noise } = parts;
  const vector = () => allocate(model.precision, size);
  const state = (): Linearised => ({ c: vector(), s: vector(), force: vector(), own: new Float64Array(size) });
  const [first, second] = [state(), state()];
  const [p, q] = [vector(), vector()];
  const [change1, change2, moved] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  const linearise = (at: Linearised) => {
    parts.couple(at.c, at.s, p, q);
    parts.force(at.c, at.s, p, q, at.force);
    for (let i = 0; i < size; i++) at.own[i] = -at.s[i]! * (p[i]! + parts.field.x[i]!) - at.c[i]! * (q[i]! + parts.field.y[i]!);
  };
  const followOne = (v: Float64Array) => {
    forceChange(model, first, v, change1);
    for (let i = 0; i < size; i++) moved[i] = v[i]! + turnRate(h * first.force[i]! + noise[i]!) * h * change1[i]!;
    forceChange(model, second, moved, change2);
    for (let i = 0; i < size; i++) {
      const turned = 0.5 * h * (first.force[i]! + second.force[i]!) + noise[i]!;
      v[i] = v[i]! + turnRate(turned) * 0.5 * h * (change1[i]! + change2[i]!);
    }
  };
  return {
    directions: size,
    follow(x, input, step, sequence, vectors) {
      first.c.set(x.subarray(0, size));
      first.s.set(x.subarray(size, 2 * size));
      parts.setField(input);
      for (let n = 0; n < model.config.steps; n++) {
        parts.setNoise(step, sequence, n);
        linearise(first);
        for (let i = 0; i < size; i++) turn(first.c, first.s, i, round(round(h * first.force[i]!) + noise[i]!), second.c, second.s, round);
        linearise(second);
        for (const v of vectors) followOne(v);
        for (let i = 0; i < size; i++) {
          const d = round(round(round(0.5 * h) * round(first.force[i]! + second.force[i]!)) + noise[i]!);
          turn(first.c, first.s, i, d, first.c, first.s, round);
        }
      }
    },
  };
}

/** d(2 atan(m)) / dd of the turn by d that a step makes. */
function turnRate(d: number): number {
  const m = 0.5 * d * (1 + (d * d) / 12);
  return (1 + (d * d) / 4) / (1 + m * m);
}

/** own_i v_i + c_i sum_j W_ij c_j v_j + s_i sum_j W_ij s_j v_j. */
function forceChange({ config, matrices }: OscillatorModel, { c, s, own }: Linearised, v: Float64Array, out: Float64Array): void {
  const { size, strength, coupling } = config;
  if (coupling === "meanField") {
    let [alongC, alongS] = [0, 0];
    for (let j = 0; j < size; j++) {
      alongC += c[j]! * v[j]!;
      alongS += s[j]! * v[j]!;
    }
    const gain = strength / size;
    for (let i = 0; i < size; i++) out[i] = own[i]! * v[i]! + gain * (c[i]! * alongC + s[i]! * alongS);
    return;
  }
  const weights = matrices.weights!;
  for (let i = 0; i < size; i++) {
    let [alongC, alongS] = [0, 0];
    forEachOfRow(weights, i, (w, j) => {
      alongC += w * c[j]! * v[j]!;
      alongS += w * s[j]! * v[j]!;
    });
    out[i] = own[i]! * v[i]! + c[i]! * alongC + s[i]! * alongS;
  }
}

function forEachOfRow(weights: Matrix | SparseMatrix, row: number, visit: (w: number, column: number) => void): void {
  if (!isSparse(weights)) for (let j = 0; j < weights.cols; j++) visit(weights.data[row * weights.cols + j]!, j);
  else for (let m = weights.rowOffsets[row]!; m < weights.rowOffsets[row + 1]!; m++) visit(weights.values[m]!, weights.columns[m]!);
}
