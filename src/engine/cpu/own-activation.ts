// A reservoir whose activation function is the user's own: a WebAssembly instance, with any number
// of threads, makes the pre-activations, step by step; f and the leak are done here.
import { allocate, type FloatArray, rowDot } from "@spillway/numerics";
import { activationOf } from "../../reservoir/activations.js";
import { keepOf } from "../../reservoir/cell.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import { HostStepper, type Stepper } from "../host-steps.js";

/** The model whose states are the pre-activations: f(z) = z, and no leak. */
export function preactivationsOf(model: ReservoirModel): ReservoirModel {
  return { ...model, cell: undefined, activation: "identity", leakRate: model.leakRate.map(() => 1) as FloatArray };
}

export class OwnActivationStepper extends HostStepper<ReservoirModel> implements Stepper {
  readonly #inner: Stepper;
  readonly #values: FloatArray;
  readonly #before: FloatArray;
  readonly #keep: FloatArray;
  readonly #round: (value: number) => number;
  readonly #f: (z: number) => number;

  /** @param inner runs `preactivationsOf(model)` */
  constructor(model: ReservoirModel, inner: Stepper) {
    super(model, inner.capacity);
    const { precision, size } = model;
    this.#inner = inner;
    this.#values = allocate(precision, size);
    this.#before = allocate(precision, size);
    this.#keep = keepOf(model);
    this.#round = precision === "float32" ? Math.fround : (value) => value;
    this.#f = activationOf(model);
  }

  getValues(): FloatArray {
    return this.#values;
  }

  setValues(values: FloatArray): void {
    this.#values.set(values);
    this.#inner.setValues(values);
  }

  advance(steps: number, step: number, sequence: number): number {
    const { size } = this.model;
    this.#before.set(this.#values);
    try {
      for (let t = 0; t < steps; t++) {
        const [input, output] = this.given(t);
        this.#inner.inputs.set(input);
        this.#inner.outputs.set(output);
        // A pre-activation may be infinite: the state counts, which is made here.
        this.#inner.advance(1, step + t, sequence);
        const finite = this.#integrate(this.#inner.getValues());
        this.#inner.setValues(this.#values);
        this.states.set(this.#values, t * size);
        if (!finite) return t;
      }
    } catch (error) {
      this.setValues(this.#before);
      throw error;
    }
    return steps;
  }

  override async dispose(): Promise<void> {
    await this.#inner.dispose();
  }

  /** x = (1 - a) x + a f(z), in the order of docs/numerics.md, rule 5; whether all are finite. */
  #integrate(z: FloatArray): boolean {
    const x = this.#values;
    const leak = this.model.leakRate;
    const keep = this.#keep;
    const round = this.#round;
    const f = this.#f;
    const matrix = this.model.cell?.orthogonal;
    const before = matrix ? (x.slice() as FloatArray) : x;
    let finite = true;
    for (let r = 0; r < x.length; r++) {
      const next = round(round(keep[r]! * (matrix ? rowDot(matrix, r, before, round) : x[r]!)) + round(leak[r]! * f(z[r]!)));
      x[r] = next;
      if (!(Math.abs(next) < Infinity)) finite = false;
    }
    return finite;
  }
}
