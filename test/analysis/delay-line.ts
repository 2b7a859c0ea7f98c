import { ReservoirComputer } from "../../src/index.js";

/**
 * Neuron k holds the input of k steps ago, so the state after a stream is its last `taps` inputs.
 */
export function delayLine(taps: number, precision: "float32" | "float64" = "float64"): Promise<ReservoirComputer> {
  const inputWeights = Float64Array.from({ length: taps }, (_, r) => (r === 0 ? 1 : 0));
  const config = { size: taps, activation: "identity", topology: "delayLine", leakRate: 1, precision } as const;
  return ReservoirComputer.create(config, { matrices: { inputWeights } });
}
