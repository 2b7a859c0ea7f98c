// Whether input spikes have amplitudes that a network's sums leave room for.
import type { FloatArray } from "../../numerics/index.js";
import { DataError } from "../../reservoir/inputs.js";
import type { SpikingModel } from "../../reservoir/spiking-model.js";

/** @throws DataError naming step and channel of a spike that is too strong; `inputs` holds I values a step. */
export function checkAmplitudes({ inputSynapses, inputSize, config }: SpikingModel, inputs: FloatArray, firstStep: number): void {
  if (!inputSynapses) return;
  const { largestAmplitude } = config.input;
  for (let i = 0; i < inputs.length; i++) {
    if (Math.abs(inputs[i]!) <= largestAmplitude) continue;
    throw new DataError(
      `the input of channel ${i % inputSize} is ${inputs[i]} at step ${firstStep + Math.floor(i / inputSize)}; this reservoir takes spikes of amplitudes up to ${largestAmplitude} (input.largestAmplitude)`,
    );
  }
}
