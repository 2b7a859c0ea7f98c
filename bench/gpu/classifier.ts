// Classification on a GPU from sequences on the host to shares of classes: features, scores and
// softmax where the states are, beside states that come to the host and are read there. Usage: npx
// tsx bench/gpu/classifier.ts
import "../../src/index.js";
import { resolve } from "../../packages/core/src/options.js";
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import { classifierTable } from "../../src/model/classifier/options.js";
import { classify } from "../../src/model/classifier/representation.js";
import { SoftmaxReadout } from "../../src/readout/index.js";
import { plainFeatures, ReservoirComputer } from "../../src/reservoir/index.js";

function uniform(rows: number, cols: number, seed: number, scale: number): Matrix<Float64Array> {
  const stream = new RandomStream(seedKeys(seed).weights, 77);
  const out = Matrix.zeros(rows, cols);
  for (let i = 0; i < out.data.length; i++) out.data[i] = scale * (2 * stream.uniform(0, i) - 1);
  return out;
}

async function median(work: () => Promise<unknown>, times: number): Promise<number> {
  await work();
  const taken: number[] = [];
  for (let k = 0; k < times; k++) {
    const start = performance.now();
    await work();
    taken.push(performance.now() - start);
  }
  return taken.sort((a, b) => a - b)[times >> 1]!;
}

const [channels, classes] = [12, 10];
for (const [size, count, steps] of [
  [200, 1000, 100],
  [1000, 256, 100],
  [1000, 32, 250],
] as const) {
  await using computer = await ReservoirComputer.create({ size, inputSize: channels, seed: 1 }, { engine: "cuda", profile: true });
  const sequences = Array.from({ length: count }, (_, b) => uniform(steps, channels, b, 1));
  const data = { features: plainFeatures, stateSize: 2 * size, inputSize: 0, weights: uniform(classes, 2 * size, 1, 0.1) };
  const readout = new SoftmaxReadout({ ...data, intercept: new Float64Array(classes) });
  const settings = resolve(classifierTable, { representation: "last+mean", layerNorm: true });
  const there = () => classify({ computers: [computer] }, readout, { inputs: sequences }, settings, {});
  const host = {
    model: computer.model,
    engine: computer.engine,
    summarise: () => undefined,
    batch: computer.batch.bind(computer),
  } as unknown as typeof computer;
  const here = () => classify({ computers: [host] }, readout, { inputs: sequences }, settings, {});
  const counted = async (work: () => ReturnType<typeof there>) => {
    const before = computer.profile!.device!.bytesToHost;
    const { shares, computedOn } = await work();
    return { shares, computedOn, bytes: computer.profile!.device!.bytesToHost - before };
  };
  const [a, b] = [await counted(there), await counted(here)];
  const [onDevice, onHost] = [await median(there, 7), await median(here, 7)];
  console.log(
    `${count} sequences of ${steps} steps through N=${size}, ${classes} classes, layer norm and softmax: on ${a.computedOn} ${onDevice.toFixed(1)} ms ` +
      `(${a.bytes} bytes to the host), on the ${b.computedOn} ${onHost.toFixed(1)} ms (${(b.bytes / 2 ** 20).toFixed(0)} MiB); ` +
      `the same bits: ${Buffer.from(a.shares.data.buffer).equals(Buffer.from(b.shares.data.buffer))}`,
  );
}
