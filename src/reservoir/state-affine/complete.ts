// What of a description of the kind "stateAffine" follows from other fields.
import { ArgumentError } from "@spillway/core/errors.js";
import type { Resolved } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import type { RegisteredModel } from "../registered/model.js";
import type { RegisteredReservoirConfig } from "../registered/options.js";
import type { InputFunction, StateAffineReservoirOptions, stateAffineTable } from "./options.js";

/** A description with its defaults, some of which follow from others. */
export type StateAffineConfig = RegisteredReservoirConfig &
  Omit<Resolved<typeof stateAffineTable>, "size" | "functions"> & { readonly functions: readonly InputFunction[] };

/** Blocks of rows and what is added to each; of an output, if the system has one. */
export interface StateAffineMatrices {
  readonly transition: Matrix;
  readonly transitionOffset: Matrix;
  readonly output?: Matrix;
  readonly outputOffset?: Matrix;
}

/** A model of the kind. */
export type StateAffineModel = RegisteredModel<StateAffineConfig, StateAffineMatrices>;

/** Of two functions, the second multiplies what only a coherent state of the first qubit has. */
const quantumFunctions = ["u", "sqrt(u(1-u))"] as const;

/**
 * Fills in the size and the functions. @throws ArgumentError for a size that is missing or not that
 * of the qubits, functions twice, a range that does not rise, more inputs than qubits take
 */
export function completeStateAffine(given: RegisteredReservoirConfig): StateAffineConfig {
  const config = given as Omit<StateAffineConfig, "size" | "functions"> & StateAffineReservoirOptions;
  const { range, quantum, functions = quantum ? quantumFunctions : (["u"] as const), size, inputSize } = config;
  if (!(range[0] < range[1])) throw new ArgumentError("range", range, "two numbers that rise");
  const twice = functions.findIndex((name, k) => functions.indexOf(name) !== k);
  if (twice >= 0) throw new ArgumentError(`functions[${twice}]`, functions[twice], "each function once");
  if (!quantum) {
    if (size === undefined) throw new ArgumentError("size", size, "a whole number from 1 to 16384");
    return { ...config, size, functions };
  }
  const coordinates = 4 ** (quantum.qubits - 1) - 1;
  if (size !== undefined && size !== coordinates)
    throw new ArgumentError("size", size, `${coordinates}, or nothing: it follows from quantum.qubits ${quantum.qubits}`);
  if (functions.join() !== quantumFunctions.join())
    throw new ArgumentError("functions", functions, `nothing if quantum is given, whose matrices have ${quantumFunctions.join(" and ")}`);
  if (inputSize !== 1) throw new ArgumentError("inputSize", inputSize, "1 if quantum is given: one qubit takes the input");
  return { ...config, size: coordinates, functions };
}
