// A reservoir with a readout that an experiment trains and asks: Forecaster for ridge regression, and the same for readouts that learn
// row by row, which Forecaster does not have.
import { noInputs } from "../model/forecaster-options.js";
import { Forecaster, type ForecasterData, saveReservoir } from "../model/index.js";
import { SaturationCount, warnWhereSaturated } from "../model/saturation.js";
import { Matrix, type Seed } from "../numerics/index.js";
import {
  leastMeanSquares,
  type ReadoutTraining,
  recursiveLeastSquares,
  ridge,
  softmaxRegression,
  type TrainedReadout,
} from "../readout/index.js";
import { type AnyReservoirComputer, ReservoirComputer, type WorkOptions } from "../reservoir/index.js";
import { ExperimentError } from "./errors.js";
import type { Experiment } from "./description.js";

/** Where a prediction starts: from the present state, or from the initial state after these rows. */
export interface Start extends WorkOptions {
  readonly warmup?: Matrix | undefined;
}

/** What an experiment on a series needs of a model. */
export interface Learner extends AsyncDisposable {
  readonly computer: AnyReservoirComputer;
  readonly training: ReadoutTraining | undefined;
  /** Outputs for inputs, one row each; `teacher` is fed back where there is feedback, else the outputs are. */
  predict(inputs: Matrix, teacher: Matrix | undefined, work: WorkOptions): Promise<Matrix>;
  /** Closed loop. */
  forecast(steps: number, start: Start): Promise<Matrix>;
  reset(): void;
  save(path: string): Promise<void>;
}

/** Which engine a learner runs on. */
export interface EngineChoiceOptions {
  /** An engine by name; default "auto". */
  readonly engine?: string | undefined;
  /** Worker threads of the CPU engine. Default 1. */
  readonly threads?: number | undefined;
  /** Measure phases: the learner's `computer.profile`. */
  readonly profile?: boolean | undefined;
}

/** Checks the readout's options before anything runs. @throws ExperimentError */
export function checkReadout({ readout, transforms }: Experiment): void {
  const { type, ...options } = readout;
  try {
    if (type === "ridge") ridge(options);
    if (type === "rls") recursiveLeastSquares(options);
    if (type === "lms") leastMeanSquares(options);
    if (type === "softmax") softmaxRegression(options);
  } catch (error) {
    throw new ExperimentError(`readout: ${(error as Error).message}`, { cause: error });
  }
  if ((type === "rls" || type === "lms") && transforms.includes("standardise")) {
    throw new ExperimentError(`transforms: standardise takes a ridge readout; with ${type} scale the inputs with reservoir.inputScaling`);
  }
}

/** Makes and trains the model of an experiment for one seed. */
export async function train(
  experiment: Experiment,
  seed: Seed,
  data: ForecasterData,
  { engine, threads, profile }: EngineChoiceOptions,
  work: WorkOptions,
): Promise<Learner> {
  const { readout, washout, transforms } = experiment;
  const reservoir = { ...experiment.reservoir, seed };
  const { type, ...options } = readout;
  if (type === "ridge") {
    const standardise = transforms.includes("standardise");
    return new RidgeLearner(
      await Forecaster.fit(data, { reservoir, readout: options, washout, standardise, engine, threads, profile, ...work }),
    );
  }
  return OnlineLearner.train({ ...experiment, reservoir }, data as OnlineData, { engine, threads, profile }, work);
}

class RidgeLearner implements Learner {
  readonly #forecaster: Forecaster;
  constructor(forecaster: Forecaster) {
    this.#forecaster = forecaster;
  }

  get computer(): AnyReservoirComputer {
    return this.#forecaster.computer;
  }

  get training(): ReadoutTraining | undefined {
    return this.#forecaster.readout.training;
  }

  predict(inputs: Matrix, teacher: Matrix | undefined, work: WorkOptions): Promise<Matrix> {
    return this.#forecaster.predict(inputs.cols === 0 ? { steps: inputs.rows } : inputs, { ...work, teacher });
  }

  forecast(steps: number, start: Start): Promise<Matrix> {
    return this.#forecaster.forecast(steps, start);
  }

  reset(): void {
    this.#forecaster.reset();
  }

  save(path: string): Promise<void> {
    return this.#forecaster.save(path);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#forecaster.dispose();
  }
}

type OnlineData = Matrix | { readonly inputs: Matrix; readonly targets: Matrix };

/** Rows that are run and learned at a time. */
const chunk = 1024;

class OnlineLearner implements Learner {
  readonly computer: AnyReservoirComputer;
  readonly #readout: TrainedReadout;

  private constructor(computer: AnyReservoirComputer, readout: TrainedReadout) {
    this.computer = computer;
    this.#readout = readout;
  }

  static async train(
    { reservoir, readout, washout }: Experiment,
    data: OnlineData,
    engine: EngineChoiceOptions,
    work: WorkOptions,
  ): Promise<OnlineLearner> {
    const hasFeedback = reservoir.feedback !== undefined && reservoir.feedback !== null;
    const series = data instanceof Matrix ? data : undefined;
    const inputs = series ? (hasFeedback ? noInputs(series.rows) : series.subarray(0, -1)) : (data as { inputs: Matrix }).inputs;
    const targets = series ? (hasFeedback ? series : series.subarray(1)) : (data as { targets: Matrix }).targets;
    const feedback = hasFeedback ? { ...reservoir.feedback, size: targets.cols } : null;
    const computer = await ReservoirComputer.create({ ...reservoir, inputSize: inputs.cols, feedback }, engine);
    try {
      const { type, ...options } = readout;
      const trainer = type === "rls" ? recursiveLeastSquares(options) : leastMeanSquares(options);
      const seen = new SaturationCount();
      for (let from = 0; from < inputs.rows; from += chunk) {
        const [u, y] = [inputs.subarray(from, from + chunk), targets.subarray(from, from + chunk)];
        const states = await computer.run(u, { signal: work.signal, teacher: hasFeedback ? y : undefined });
        if (from + chunk > washout) {
          const left = Math.max(0, washout - from);
          seen.add(states.subarray(left).data);
          trainer.partialFit(states.subarray(left), y.subarray(left), { inputs: u.subarray(left) });
        }
        work.onProgress?.(Math.min(from + chunk, inputs.rows), inputs.rows);
      }
      warnWhereSaturated(computer.model, seen.share);
      if (series && !hasFeedback) await computer.run(series.subarray(-1));
      return new OnlineLearner(computer, trainer.readout());
    } catch (error) {
      await computer.dispose();
      throw error;
    }
  }

  get training(): ReadoutTraining | undefined {
    return this.#readout.training;
  }

  async predict(inputs: Matrix, teacher: Matrix | undefined, work: WorkOptions): Promise<Matrix> {
    if (this.computer.model.outputSize > 0 && !teacher) return this.computer.generate(inputs.rows, this.#readout, { ...work, inputs });
    const out = Matrix.zeros(inputs.rows, this.#readout.outputSize);
    for (let from = 0; from < inputs.rows; from += chunk) {
      const u = inputs.subarray(from, from + chunk);
      const states = await this.computer.run(u, { signal: work.signal, teacher: teacher?.subarray(from, from + chunk) });
      out.data.set(this.#readout.predict(states, u, { precision: "float64" }).data, from * out.cols);
      work.onProgress?.(Math.min(from + chunk, inputs.rows), inputs.rows);
    }
    return out;
  }

  async forecast(steps: number, { warmup, signal }: Start): Promise<Matrix> {
    const hasFeedback = this.computer.model.outputSize > 0;
    if (warmup) this.reset();
    if (warmup && warmup.rows > 0) {
      if (hasFeedback) await this.computer.run(noInputs(warmup.rows), { signal, teacher: warmup });
      else await this.computer.run(warmup, { signal });
    }
    return this.computer.generate(steps, this.#readout, { signal });
  }

  reset(): void {
    this.computer.reset();
  }

  save(path: string): Promise<void> {
    return saveReservoir(path, this.computer, this.#readout);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.computer.dispose();
  }
}
