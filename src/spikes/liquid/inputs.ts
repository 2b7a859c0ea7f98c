// Spike patterns as the inputs of a reservoir: spikes counted in its steps. It runs nothing.
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import type { AnyReservoirComputer } from "../../reservoir/index.js";
import { drivingRows } from "../drive.js";
import { checkPattern, type SpikePattern } from "../pattern/pattern.js";
import { type InputOptions, inputTable } from "./input-options.js";

/**
 * A pattern as T x I inputs, one row a step: the number of spikes of each neuron, or the sum of
 * their amplitudes if it has some. Row t holds the spikes from t to t + 1 steps; one at the very
 * end belongs to the last row.
 * @throws ArgumentError if the pattern has another number of neurons than the reservoir has
 * inputs
 */
export function patternInputs(
  computer: Pick<AnyReservoirComputer, "model">,
  pattern: SpikePattern,
  options: InputOptions = {},
): Matrix<Float32Array> {
  return drivingRows(checkPattern(pattern), { bins: { binMs: stepFor(computer, pattern, options) } });
}

/** Length of a step in ms. @throws ArgumentError for what does not go with the reservoir */
export function stepFor(
  { model }: Pick<AnyReservoirComputer, "model">,
  pattern: { readonly neuronCount: number },
  options: InputOptions,
): number {
  const { stepMs } = resolve(inputTable, options);
  if (pattern.neuronCount !== model.inputSize) {
    throw new ArgumentError("the number of neurons of the pattern", pattern.neuronCount, `${model.inputSize}, the reservoir's inputSize`, {
      code: "shape",
    });
  }
  const own = model.kind === "spiking" ? model.config.timeStep : undefined;
  if (own !== undefined && stepMs !== undefined && stepMs !== own)
    throw new ArgumentError("stepMs", stepMs, `${own} ms, the reservoir's timeStep, or nothing`);
  const binMs = own ?? stepMs;
  if (binMs === undefined)
    throw new ArgumentError("stepMs", stepMs, "the length of a step in ms, since a rate reservoir has none of its own");
  return binMs;
}
