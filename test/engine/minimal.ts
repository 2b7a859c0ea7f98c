// The least that is an engine: what every engine has, written from the domain's step alone, as a
// user's package would. It has no model of costs and no device.
import {
  type BatchOptions,
  DisposedError,
  type Engine,
  type EngineModel,
  type EnginePlan,
  type EngineSession,
  EngineUnavailableError,
  evaluateReadout,
  type GenerateOptions,
  Matrix,
  NonFiniteStateError,
  type ReservoirModel,
  type RunOptions,
  reservoirStep,
  type SequenceInput,
  type SessionState,
  type WorkOptions,
  WorkPacer,
  writeFeatures,
} from "../../src/reservoir/index.js";

type Values = SessionState["values"];

/** An engine of the five members that each must have. */
export const minimalEngine: Engine = {
  name: "minimal",
  supports: new Set(),
  probe: async () => ({ available: true, reason: "a loop over the step" }),
  plan: (model) => ({ engine: "minimal", summary: "one step at a time", bytes: 8 * model.size, details: {} }),
  open: async (model) => new MinimalSession(rateModel(model), minimalEngine.plan(model)),
};

function rateModel(model: EngineModel): ReservoirModel {
  if (model.kind === undefined) return model;
  throw new EngineUnavailableError("minimal", "it runs rate reservoirs only");
}

class MinimalSession implements EngineSession {
  readonly model: ReservoirModel;
  readonly plan: EnginePlan;
  #state: SessionState;
  #disposed = false;

  constructor(model: ReservoirModel, plan: EnginePlan) {
    this.model = model;
    this.plan = plan;
    this.#state = this.#initial();
  }

  step(input: Values, teacher?: Values): Values {
    return this.#advance(input, teacher, 0);
  }

  async run({ inputs, teacher }: SequenceInput, { every = 1, into, ...work }: RunOptions): Promise<void> {
    await this.#paced(work, inputs.rows, (t) => {
      const x = this.#advance((inputs as Matrix).row(t), teacher?.row(t), 0);
      if ((t + 1) % every === 0) (into as Matrix | undefined)?.row((t + 1) / every - 1).set(x);
    });
  }

  async batch(sequences: readonly SequenceInput[], { keep, firstSequence = 0, ...work }: BatchOptions): Promise<Matrix[]> {
    const saved = this.getState();
    const all: Matrix[] = [];
    try {
      for (const [b, { inputs, teacher }] of sequences.entries()) {
        const states = Matrix.zeros(keep === "last" ? 1 : inputs.rows, this.model.size, this.model.precision) as Matrix;
        this.reset();
        await this.#paced(work, inputs.rows, (t) => {
          states.row(keep === "last" ? 0 : t).set(this.#advance((inputs as Matrix).row(t), teacher?.row(t), firstSequence + b));
        });
        all.push(states);
      }
    } finally {
      this.#state = saved;
    }
    return all;
  }

  async generate({ readout, steps, inputs, into, ...work }: GenerateOptions): Promise<Matrix> {
    const { inputSize, outputSize, precision } = this.model;
    const made = Matrix.zeros(steps, readout.weights.rows, precision) as Matrix;
    const features = new Float64Array(readout.weights.cols);
    const input = Matrix.zeros(1, inputSize, precision).row(0);
    const answer = (t: number): Values => {
      writeFeatures(readout.features, this.#state.values, this.#state.input, features);
      evaluateReadout(readout, features, made.row(t));
      if (made.row(t).some((y) => !Number.isFinite(y))) throw new NonFiniteStateError(this.#state.step, -1);
      return made.row(t);
    };
    await this.#paced(work, steps, (t) => {
      const y = outputSize > 0 ? undefined : answer(t);
      input.set(y ?? []);
      if (inputs) input.set(inputs.row(t), y?.length ?? 0);
      this.step(input);
      if (!y) this.#state = { ...this.#state, output: answer(t) };
      into?.row(t).set(this.#state.values);
    });
    return made;
  }

  getState(): SessionState {
    this.#alive();
    const { values, output, input, step } = this.#state;
    return { values: values.slice(), output: output.slice(), input: input.slice(), step };
  }

  setState(state: SessionState): void {
    this.#alive();
    this.#state = state;
  }

  reset(): void {
    this.#alive();
    this.#state = this.#initial();
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
  }

  #initial(): SessionState {
    const { initialState, inputSize, outputSize, precision } = this.model;
    const zeros = (length: number): Values => Matrix.zeros(1, length, precision).row(0);
    return { values: initialState, input: zeros(inputSize), output: zeros(outputSize), step: 0 };
  }

  #advance(input: Values, teacher: Values | undefined, sequence: number): Values {
    this.#alive();
    const { values: before, output, step } = this.#state;
    const values = reservoirStep(this.model, before, input, output, step, sequence);
    const bad = values.findIndex((x) => !Number.isFinite(x));
    if (bad >= 0) throw new NonFiniteStateError(step, bad);
    this.#state = { values, input: input.slice(), output: teacher?.slice() ?? output, step: step + 1 };
    return values;
  }

  async #paced(work: WorkOptions, steps: number, step: (t: number) => void): Promise<void> {
    this.#alive();
    const pacer = new WorkPacer(work, steps);
    for (let t = 0; t < steps; t++) {
      step(t);
      if (pacer.due()) await pacer.pause(t + 1);
      this.#alive();
    }
    pacer.finish();
  }

  #alive(): void {
    if (this.#disposed) throw new DisposedError("this reservoir");
  }
}
