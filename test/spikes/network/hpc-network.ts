// NEST's benchmark of plasticity with spikes from outside that are given, not drawn: what Brian2
// can be given too (bench/cpu/hpc-benchmark-brian.ts).
import { philox4x32 } from "../../../packages/numerics/src/index.js";
import { hpcBenchmark, type NetworkOptions } from "../../../src/spikes/index.js";

/**
 * The benchmark with a channel of inputs for each neuron, and the rate in Hz that it is made for.
 */
export function hpcBenchmarkWithInputs(scale: number): { readonly description: NetworkOptions; readonly rate: number } {
  const drawn = hpcBenchmark({ scale, seed: 1 });
  const { E, I } = drawn.populations as { readonly [name in "E" | "I"]: (typeof drawn.populations)[string] };
  const { rate, weight } = E.background!;
  const [excitatory, inhibitory] = [E.size!, I.size!];
  const outside = { connect: "oneToOne", weight, delay: 0 } as const;
  const description: NetworkOptions = {
    ...drawn,
    precision: "float64",
    // Delivered weights are rounded to units: the finer, the nearer to Brian2's.
    fractionBits: 15,
    populations: { outside: { size: excitatory + inhibitory, neuron: null }, E: { ...E, background: null }, I },
    projections: [
      ...drawn.projections!,
      { from: `outside[0:${excitatory}]`, to: "E", ...outside },
      { from: `outside[${excitatory}:]`, to: "I", ...outside },
    ],
  };
  return { description, rate };
}

/** Poisson spikes of every channel in every step. */
export function givenSpikes(channels: number, rate: number, steps: number, timeStep: number) {
  const offsets = new Uint32Array(steps + 1);
  const neurons: number[] = [];
  const block = new Uint32Array(4);
  const none = Math.exp((-rate * timeStep) / 1000);
  for (let t = 0; t < steps; t++) {
    for (let c = 0; c < channels; c++) {
      philox4x32([1, 2], t, c, 0, 0, block);
      // Spikes of a step: as many as the term of the Poisson distribution that the number falls in.
      let [left, term] = [block[0]! / 2 ** 32, none];
      for (let k = 1; left >= term && k < 20; k++) {
        neurons.push(c);
        left -= term;
        term *= (rate * timeStep) / 1000 / k;
      }
    }
    offsets[t + 1] = neurons.length;
  }
  return { offsets, neurons: Uint32Array.from(neurons) };
}
