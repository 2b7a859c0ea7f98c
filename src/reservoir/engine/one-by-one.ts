// Ensembles on any engine: beside one another if the engine can, else one after the other.
import { DisposedError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import type { Engine, EngineOptions, SequenceInput } from "../engine.js";
import { hostInputs } from "../inputs.js";
import { addMeasurements, type EngineProfile } from "../profile.js";
import type { EngineModel } from "../spiking-model.js";
import { WorkPacer } from "../work.js";
import { accumulate, addRows } from "./accumulate.js";
import type { EnsembleSession } from "./device.js";

/**
 * Loads an ensemble by the engine if it can, else for one after the other. @throws as `Engine.open`
 */
export async function openEnsemble(engine: Engine, models: readonly EngineModel[], options: EngineOptions = {}): Promise<EnsembleSession> {
  return (await engine.device?.openEnsemble(models, options)) ?? oneByOne(engine, models, options);
}

/**
 * An ensemble that opens and disposes one session a member in each run: no more than one of them is
 * in memory at a time.
 */
function oneByOne(engine: Engine, models: readonly EngineModel[], options: EngineOptions): EnsembleSession {
  // A plan's name may suit some members alone.
  const [first] = (options.plan === undefined ? models.slice(0, 1) : models).map((model) => engine.plan(model, options));
  let measured: EngineProfile | undefined = options.profile ? { phases: [] } : undefined;
  let disposed = false;
  return {
    plan: {
      engine: engine.name,
      summary: `${models.length} reservoirs one after the other, the first: ${first!.summary}`,
      bytes: first!.bytes,
      details: { plan: "one by one", reservoirs: models.length, ...(options.plan && { planOfEach: options.plan }) },
    },
    async run(sequences, { keep, training, signal, onProgress }) {
      const of = (r: number): SequenceInput => ("inputs" in sequences ? sequences : sequences[r]!);
      const total = models.reduce((sum, _, r) => sum + of(r).inputs.rows, 0);
      const pacer = new WorkPacer({ signal, onProgress }, total);
      const results: Matrix[] = [];
      let done = 0;
      for (const [r, model] of models.entries()) {
        if (disposed) throw new DisposedError("this ensemble");
        const sequence = of(r);
        const steps = sequence.inputs.rows;
        const session = await engine.open(model, options);
        const work = { signal, onProgress: (some: number) => onProgress?.(done + some, total) };
        try {
          const states = keep === "all" ? Matrix.zeros(steps, model.size, model.precision) : undefined;
          const sink = training?.sinks[r];
          const rows = training && sink && { ...work, targets: training.targets, washout: training.washout, sink };
          if (rows && !states) await accumulate(session, sequence, rows);
          else await session.run(sequence, { ...work, into: states });
          if (rows && states) addRows(states, 0, hostInputs(sequence), rows);
          if (states) results.push(states);
          if (keep === "last") results.push(new Matrix(1, model.size, session.getState().values));
          const found = session.profile?.();
          if (measured && found) measured = addMeasurements([measured, found]);
        } finally {
          await session.dispose();
        }
        done += steps;
        await pacer.pause(done);
      }
      pacer.finish();
      return results;
    },
    profile: () => measured,
    async dispose() {
      disposed = true;
    },
  };
}
