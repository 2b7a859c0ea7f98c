// Whether input spikes have amplitudes that a network's sums can hold.
import { ArgumentError } from "@spillway/core/errors.js";
import type { FloatArray } from "@spillway/numerics";
import type { SpikingModel } from "../../reservoir/spiking-model.js";

/**
 * @throws ArgumentError naming step and channel of a spike that is too strong; `inputs` holds I
 * values a step.
 */
export function checkAmplitudes(model: SpikingModel, inputs: FloatArray, firstStep: number): void {
  if (!model.inputSynapses) return;
  const { largestAmplitude } = model.config.input;
  for (let i = 0; i < inputs.length; i++)
    if (!(Math.abs(inputs[i]!) <= largestAmplitude)) throw amplitudeError(model, i, inputs[i]!, firstStep);
}

/** The error for number `i` of inputs, I values a step from `firstStep` on. */
export function amplitudeError({ inputSize, config }: SpikingModel, i: number, value: number, firstStep: number): ArgumentError {
  return ArgumentError.because(
    `the input of channel ${i % inputSize} is ${value} at step ${firstStep + Math.floor(i / inputSize)}; this reservoir takes spikes of amplitudes up to ${config.input.largestAmplitude} (input.largestAmplitude)`,
  );
}
