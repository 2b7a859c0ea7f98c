// What drives spiking networks in the tests of engines, and the states that come out.
import { allocate, Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import type { Engine, SpikingModel } from "../../src/reservoir/index.js";

/** T x I inputs: spikes with this chance and amplitudes 1 or 0.75, or a current. */
export function inputsOf(model: SpikingModel, steps: number, chance: number, seed = 1): Matrix {
  const draws = new RandomStream(seedKeys(seed).weights, 77);
  const data = allocate(model.precision, steps * model.inputSize);
  const isCurrent = model.inputWeights !== undefined;
  for (let i = 0; i < data.length; i++) {
    const u = draws.uniform(0, i);
    data[i] = isCurrent ? 2 * u - 1 : u < chance ? (u < chance / 4 ? 0.75 : 1) : 0;
  }
  return new Matrix(steps, model.inputSize, data);
}

/** All states of one run from the initial state. */
export async function statesOf(engine: Engine, model: SpikingModel, inputs: Matrix): Promise<Matrix> {
  const session = await engine.open(model);
  const states = Matrix.zeros(inputs.rows, model.size, model.precision) as Matrix;
  await session.run({ inputs }, { into: states });
  await session.dispose();
  return states;
}
