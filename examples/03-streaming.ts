// Streaming: a source that never ends, one chunk at a time, and a readout that learns online to say
// what comes next (recursive least squares).
import { type Matrix, mackeyGlass, ReservoirComputer, recursiveLeastSquares } from "spillway";

/** Ten chunks of 200 samples, as they might come from a sensor. */
async function* source(): AsyncGenerator<Matrix> {
  const series = mackeyGlass(2000, { tau: 17 });
  for (let k = 0; k < 10; k++) yield series.slice(200 * k, 200 * (k + 1));
}

await using computer = await ReservoirComputer.create({ size: 100, spectralRadius: 0.9, leakRate: 0.5, bias: 0.3, seed: 7 });
const learner = recursiveLeastSquares({ alpha: 1e-4 });
const waiting: Matrix[] = [];
let before: Float64Array | undefined;
let chunk = 0;

/** Keeps what the reservoir is given: it is the target of the state before it. */
async function* watched(): AsyncGenerator<Matrix> {
  for await (const samples of source()) {
    waiting.push(samples);
    yield samples;
  }
}

for await (const states of computer.stream(watched())) {
  const samples = waiting.shift()!;
  let squares = 0;
  for (let t = 0; t < states.rows; t++) {
    if (before) squares += learner.step(before, [samples.at(t, 0)]).error[0]! ** 2;
    before = Float64Array.from(states.row(t));
  }
  console.log(
    `chunk ${String(++chunk).padStart(2)}: rms error before learning each sample ${Math.sqrt(squares / states.rows).toExponential(1)}`,
  );
}
