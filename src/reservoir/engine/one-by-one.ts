// Ensembles on any engine: beside one another if the engine can, else one after the other.
import { DisposedError } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import type { Engine, EngineOptions, EnginePlan, SequenceInput } from "../engine.js";
import { hostInputs } from "../inputs.js";
import { addMeasurements, type EngineProfile } from "../profile.js";
import type { EngineModel } from "../spiking-model.js";
import { WorkPacer } from "../work.js";
import { accumulate, addRows } from "./accumulate.js";
import type { EnsembleOptions, EnsembleSession } from "./device.js";

/**
 * Loads an ensemble by the engine if it can, else for one after the other. @throws as `Engine.open`
 */
export async function openEnsemble(engine: Engine, models: readonly EngineModel[], options: EngineOptions = {}): Promise<EnsembleSession> {
  return (await engine.device?.openEnsemble(models, options)) ?? new OneByOne(engine, models, options);
}

/**
 * An ensemble that opens and disposes one session a member in each run: no more than one of them is
 * in memory at a time.
 */
class OneByOne implements EnsembleSession {
  readonly plan: EnginePlan;
  readonly #engine: Engine;
  readonly #models: readonly EngineModel[];
  readonly #options: EngineOptions;
  #measured: EngineProfile | undefined;
  #disposed = false;

  constructor(engine: Engine, models: readonly EngineModel[], options: EngineOptions) {
    this.#engine = engine;
    this.#models = models;
    this.#options = options;
    // A plan's name may suit some members alone.
    const planned = (options.plan === undefined ? models.slice(0, 1) : models).map((model) => engine.plan(model, options));
    const first = planned[0]!;
    this.plan = {
      engine: engine.name,
      summary: `${models.length} reservoirs one after the other, the first: ${first.summary}`,
      bytes: first.bytes,
      details: { plan: "one by one", reservoirs: models.length, ...(options.plan && { planOfEach: options.plan }) },
    };
    if (options.profile) this.#measured = { phases: [] };
  }

  async run(sequences: SequenceInput | readonly SequenceInput[], options: EnsembleOptions): Promise<Matrix[]> {
    const of = (r: number): SequenceInput => ("inputs" in sequences ? sequences : sequences[r]!);
    const total = this.#models.reduce((sum, _, r) => sum + of(r).inputs.rows, 0);
    const pacer = new WorkPacer(options, total);
    const results: Matrix[] = [];
    let done = 0;
    for (const [r, model] of this.#models.entries()) {
      if (this.#disposed) throw new DisposedError("this ensemble");
      const sequence = of(r);
      const steps = sequence.inputs.rows;
      const session = await this.#engine.open(model, this.#options);
      const work = { signal: options.signal, onProgress: (some: number) => options.onProgress?.(done + some, total) };
      try {
        const states = options.keep === "all" ? Matrix.zeros(steps, model.size, model.precision) : undefined;
        const { training } = options;
        const sink = training?.sinks[r];
        const rows = training && sink && { ...work, targets: training.targets, washout: training.washout, sink };
        if (rows && !states) await accumulate(session, sequence, rows);
        else await session.run(sequence, { ...work, into: states });
        if (rows && states) addRows(states, 0, hostInputs(sequence), rows);
        if (states) results.push(states);
        if (options.keep === "last") results.push(new Matrix(1, model.size, session.getState().values));
        const measured = session.profile?.();
        if (this.#measured && measured) this.#measured = addMeasurements([this.#measured, measured]);
      } finally {
        await session.dispose();
      }
      done += steps;
      await pacer.pause(done);
    }
    pacer.finish();
    return results;
  }

  profile(): EngineProfile | undefined {
    return this.#measured;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
  }
}
