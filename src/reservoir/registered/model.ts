// A reservoir of a registered kind as data: its description, its matrices and where it starts.
import { checkHas, checkWhole } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { allocate, checkSparse, firstNonFinite, isSparse, Matrix, type Precision, seedKeys } from "@spillway/numerics";
import { type KindDraw, type KindSizes, kindTable, reservoirKinds } from "./kind.js";
import type { RegisteredReservoirConfig, RegisteredReservoirOptions } from "./options.js";
import type { KindMatrix, RegisteredModel } from "./registered-model.js";

export type * from "./registered-model.js";

/**
 * Whether a description is one of a registered kind, known or not: it has another `kind` than
 * spiking.
 */
export function isRegistered(options: object): options is RegisteredReservoirOptions {
  return typeof options === "object" && options !== null && "kind" in options && options.kind !== undefined && options.kind !== "spiking";
}

/** Fills in defaults and checks every field. @throws ArgumentError */
export function resolveRegistered(options: object): RegisteredReservoirConfig {
  const { kind: name } = options as { readonly kind: string };
  const kind = reservoirKinds.get(name, "kind");
  const { feedback: _, ...checked } = resolve(kindTable(name), options);
  const config = checked as unknown as RegisteredReservoirConfig;
  return kind.complete?.(config) ?? config;
}

/** @throws ArgumentError for sizes that no state has */
function checkedSizes(sizes: KindSizes, kind: string): KindSizes {
  const field = `sizes of the kind "${kind}"`;
  checkHas(field, sizes, "an object with states and matrices", "states", "matrices");
  checkWhole(`${field}, states`, sizes.states, 1);
  checkWhole(`${field}, hidden`, sizes.hidden ?? 0, 0);
  return sizes;
}

/**
 * A model of a checked description: of what was drawn before, or of what its seed draws.
 * @throws ArgumentError for matrices that are not those of the description
 */
export function registeredModel(config: RegisteredReservoirConfig, drawn?: KindDraw): RegisteredModel {
  const kind = reservoirKinds.get(config.kind, "kind");
  const { states, hidden = 0, noisy = false, matrices: shapes } = checkedSizes(kind.sizes(config), config.kind);
  const { initial, matrices } = drawn ?? kind.draw(config);
  const { precision, inputSize, seed } = config;
  if (initial?.length !== states + hidden)
    throw ArgumentError.shape(`the kind "${config.kind}" starts with ${initial?.length} values; it takes ${states + hidden} by its sizes`);
  const start = allocate(precision, states + hidden);
  start.set(initial);
  const bad = firstNonFinite(start);
  if (bad >= 0) throw new ArgumentError(`the initial state of the kind ${config.kind}`, start[bad], "finite numbers");
  return {
    kind: "registered",
    config,
    precision,
    size: states,
    inputSize,
    outputSize: 0,
    below: hidden,
    matrices: Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [
        name,
        checkedMatrix(`${name} of the kind ${config.kind}`, matrices[name], shape, precision),
      ]),
    ),
    initialState: start.subarray(0, states),
    initialBelow: start.subarray(states),
    noiseLevel: noisy ? 1 : 0,
    noiseKey: seedKeys(seed).noise,
  };
}

function checkedMatrix(
  name: string,
  matrix: KindMatrix | undefined,
  [rows, cols]: readonly [number, number],
  precision: Precision,
): KindMatrix {
  if (matrix?.rows !== rows || matrix.cols !== cols)
    throw new ArgumentError(name, matrix && `${matrix.rows} x ${matrix.cols}`, `a matrix of ${rows} x ${cols}`, { code: "shape" });
  if (isSparse(matrix)) checkSparse(matrix, name);
  const values = allocate(precision, isSparse(matrix) ? matrix.values.length : matrix.data.length);
  values.set(isSparse(matrix) ? matrix.values : matrix.data);
  const bad = firstNonFinite(values);
  if (bad >= 0) throw new ArgumentError(name, values[bad], "finite numbers");
  return isSparse(matrix) ? { ...matrix, values } : new Matrix(rows, cols, values);
}
