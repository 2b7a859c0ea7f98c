// Streaming: a source that never ends, one chunk at a time, with a readout that learns online (recursive least squares).
import { Matrix, ReservoirComputer, recursiveLeastSquares } from "spillway";

/** A square wave, ten chunks of 200 samples. */
async function* source(): AsyncGenerator<Matrix> {
  for (let k = 0; k < 10; k++) {
    yield new Matrix(
      200,
      1,
      Float64Array.from({ length: 200 }, (_, t) => (Math.floor((200 * k + t) / 25) % 2 ? 1 : -1)),
    );
  }
}

await using computer = await ReservoirComputer.create({ size: 100, spectralRadius: 0.9, leakRate: 0.5, bias: 0.3, seed: 7 });
const learner = recursiveLeastSquares({ alpha: 1 });
let previous: Matrix | undefined;
let chunk = 0;
const chunks: Matrix[] = [];
for await (const states of computer.stream(remember(source(), chunks))) {
  // What the wave does now is the target of the state one step before.
  const wave = chunks.shift()!;
  let errors = 0;
  for (let t = 0; t < states.rows; t++) {
    const before = t > 0 ? states.row(t - 1) : previous?.row(previous.rows - 1);
    if (!before) continue;
    const [prediction] = learner.step(before, [wave.at(t, 0)]);
    if (Math.sign(prediction!) !== wave.at(t, 0)) errors++;
  }
  console.log(`chunk ${++chunk}: ${errors} of ${states.rows} signs wrong before learning them`);
  previous = states;
}

/** Passes chunks through and keeps them beside. */
async function* remember(from: AsyncIterable<Matrix>, kept: Matrix[]): AsyncGenerator<Matrix> {
  for await (const item of from) {
    kept.push(item);
    yield item;
  }
}
