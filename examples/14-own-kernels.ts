// A reservoir's step by its three kernels, in your own program: captured into a graph, and
// held against the same kernels on the host. Then the spectral radius by power iteration. It runs
// on the simulated device; with openDevice() it runs on the first GPU.
import { HostNeuromorphicKernels, NeuromorphicKernels, openDevice } from "spillway/gpu";
import "spillway/gpu";

const size = 100;
const steps = 20;

/** Numbers in [-1, 1) that are the same each time. */
let seed = 1;
function numbers(count: number, scale = 1): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length: count }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return scale * (seed / 2 ** 31 - 1);
  });
}

const weights = numbers(size * size, 0.15);
const inputWeights = numbers(size);
const leak = new Float32Array(size).fill(0.3);
const inputs = Float32Array.from({ length: steps }, (_, t) => Math.sin(0.3 * t));

using context = openDevice("sim");
using kernels = new NeuromorphicKernels(context);
const there = { weights: context.upload(weights), leak: context.upload(leak), state: context.zeros("f32", size) };
const given = { weights: context.upload(inputWeights), inputs: context.upload(inputs) };
const drive = kernels.matvecInput({ size, steps, ...given });
const now = context.zeros("f32", size);
const recurrent = context.zeros("f32", size);

// Two launches a step, recorded once: what comes from outside is copied to the same buffer before
// each.
const graph = kernels.stream.capture((stream) => {
  const { state } = there;
  const captured = kernels.on(stream);
  captured.matvecReservoir({ weights: there.weights, state, out: recurrent });
  captured.leakyIntegration({ state, drive: now, recurrent, leak: there.leak, out: state });
});
for (let t = 0; t < steps; t++) {
  kernels.stream.copy(now, drive.slice(t * size, (t + 1) * size) as typeof now);
  graph.launch(kernels.stream);
}
const state = await kernels.stream.download(there.state);

const host = new HostNeuromorphicKernels();
const expected = new Float32Array(size);
const hostDrive = host.matvecInput({ size, steps, weights: inputWeights, inputs });
for (let t = 0; t < steps; t++) {
  const product = host.matvecReservoir({ weights, state: expected });
  host.leakyIntegration({ state: expected, drive: hostDrive.subarray(t * size, (t + 1) * size), recurrent: product, leak, out: expected });
}
console.log(`bits of the host: ${state.every((x, i) => Object.is(x, expected[i]))}`);

// |x| comes to the largest eigenvalue of a matrix whose elements are positive.
const positive = context.upload(weights.map(Math.abs));
const length = context.zeros("f32", 1);
let [x, y] = [context.upload(new Float32Array(size).fill(1)), context.zeros("f32", size)];
for (let i = 0; i < 20; i++) {
  kernels.powerIteration({ weights: positive, state: x, out: y, length });
  [x, y] = [y, x];
}
console.log(`spectral radius of |W|: ${(await kernels.stream.download(length))[0]!.toFixed(4)}`);
graph.dispose();
