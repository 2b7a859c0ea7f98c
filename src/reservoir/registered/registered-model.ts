// A reservoir of a registered kind, as a kind and engines see it.
import type { FloatArray, Matrix, PhiloxKey, Precision, SparseMatrix } from "@spillway/numerics";
import type { RegisteredReservoirConfig } from "./options.js";

/** A matrix of a kind: dense, or in CSR form. */
export type KindMatrix = Matrix | SparseMatrix;

/**
 * A reservoir of a registered kind, ready to run. `Matrices` are those that the kind draws, by
 * name.
 */
export interface RegisteredModel<
  Config extends RegisteredReservoirConfig = RegisteredReservoirConfig,
  Matrices = Readonly<Record<string, KindMatrix>>,
> {
  readonly kind: "registered";
  /** Its description; `config.kind` is the name of its kind. */
  readonly config: Config;
  readonly precision: Precision;
  /** N: the values of a state that readouts see. */
  readonly size: number;
  /** I. */
  readonly inputSize: number;
  /** A registered kind feeds no outputs back. */
  readonly outputSize: 0;
  /** H: values that a step carries on and readouts do not see. */
  readonly below: number;
  /** The kind's matrices, by name, in the model's precision. */
  readonly matrices: {
    readonly [Name in keyof Matrices]: NonNullable<Matrices[Name]> extends Matrix
      ? Matrix
      : NonNullable<Matrices[Name]> extends SparseMatrix
        ? SparseMatrix
        : KindMatrix;
  };
  /** The states before the first step, N values. */
  readonly initialState: FloatArray;
  /** The hidden values before it, H values. */
  readonly initialBelow: FloatArray;
  /** Not 0 if steps draw noise. */
  readonly noiseLevel: number;
  readonly noiseKey: PhiloxKey;
}
