// Ensembles for engines that run one reservoir at a time: the members one after the other.
import { Matrix } from "../numerics/index.js";
import type { Engine, EnsembleOptions, SequenceInput } from "../reservoir/engine.js";
import type { EngineModel } from "../reservoir/spiking-model.js";
import { WorkPacer } from "../reservoir/work.js";

/** Opens, runs and disposes one session a member. */
export async function ensembleOneByOne(
  engine: Engine,
  models: readonly EngineModel[],
  sequences: SequenceInput | readonly SequenceInput[],
  options: EnsembleOptions,
): Promise<Matrix[]> {
  const of = (r: number): SequenceInput => ("inputs" in sequences ? sequences : sequences[r]!);
  const total = models.reduce((sum, _, r) => sum + of(r).inputs.rows, 0);
  const pacer = new WorkPacer(options, total);
  const results: Matrix[] = [];
  let done = 0;
  for (const [r, model] of models.entries()) {
    const sequence = of(r);
    const session = await engine.open(model);
    const work = { signal: options.signal, onProgress: (steps: number) => options.onProgress?.(done + steps, total) };
    try {
      const steps = sequence.inputs.rows;
      const states = options.keep === "states" ? Matrix.zeros(steps, model.size, model.precision) : undefined;
      const { training } = options;
      const sink = training?.sinks[r];
      if (training && sink && !states) {
        await session.accumulate(sequence, { ...work, targets: training.targets, washout: training.washout, sink });
      } else {
        await session.run(sequence, { ...work, states });
        if (training && sink && states) {
          const { targets, washout } = training;
          sink.add(states.subarray(washout), sequence.inputs.subarray(washout), targets.subarray(washout));
        }
      }
      if (states) results.push(states);
      if (options.keep === "last") results.push(new Matrix(1, model.size, session.getState().values));
    } finally {
      await session.dispose();
    }
    done += sequence.inputs.rows;
    await pacer.pause(done);
  }
  pacer.finish();
  return results;
}
