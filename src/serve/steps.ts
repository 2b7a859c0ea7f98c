// Models that take rows one by one, as their routes see them: forecasters and reservoirs.

import { Matrix, type MatrixLike } from "@spillway/numerics";
import type { UpdateOptions } from "../model/forecaster/call-options.js";
import { checkedPrefix, noInputs } from "../model/forecaster/data.js";
import { roundedInputs } from "../model/forecaster/training.js";
import type {
  Forecast,
  Forecaster,
  ForecasterData,
  ForecasterPrefix,
  ForecastModel,
  LoadedReservoir,
  TableNames,
  TimedRows,
} from "../model/index.js";
import type { AnyReservoirComputer, WorkOptions } from "../reservoir/index.js";
import type { TimeGrid } from "../series/index.js";

/** Rows for a model, or a number of steps for one without inputs. */
export interface Rows {
  readonly inputs?: Matrix | undefined;
  readonly known?: Matrix | undefined;
  readonly steps?: number | undefined;
  readonly teacher?: Matrix | undefined;
}

/** What comes from outside in a closed loop. */
export interface Outside extends Pick<Rows, "inputs"> {
  readonly known?: MatrixLike | TimedRows | undefined;
  /** Shares of the values to come that bands hold. */
  readonly intervals?: readonly number[] | undefined;
  /** Which of several series is forecast, and rows of it, or of a new one. */
  readonly key?: string | undefined;
  readonly warmup?: ForecasterPrefix | undefined;
  /** Levels of quantiles. */
  readonly quantiles?: readonly number[] | undefined;
  /** What bands are made of. */
  readonly bandsFrom?: "errors" | "members" | undefined;
}

/** A forecast, with time stamps and bands if it has them. */
export type Forecasted = Matrix & Partial<Pick<Forecast, "times" | "bands" | "quantiles">>;

/** A model with a state, as its routes see it. */
export interface StepByStep<State> {
  /** Where it stands; setting it goes back there. */
  state: State;
  /** The engine's name. */
  readonly engine: string;
  /** Columns of its inputs, known ones included. */
  readonly inputs: number;
  /** Columns that are fed back; 0 if there is no feedback. */
  readonly fedBack: number;
  /** Columns of an output row. */
  readonly outputs: number;
  /** Columns of inputs that are known beforehand. */
  readonly known: number;
  /** To the initial state, and over rows that are not predicted. */
  warmUp(prefix: ForecasterPrefix, work: WorkOptions): Promise<void>;
  /** An output for each row; the state moves on. */
  predict(rows: Rows, work: WorkOptions): Promise<Matrix>;
  /** Takes in rows that follow those it was trained on; undefined if it cannot. */
  readonly update?: ((rows: ForecasterPrefix, how: UpdateOptions) => Promise<void>) | undefined;
  /** The rows that it was trained on and keeps to train on again; undefined if it keeps none. */
  readonly rows?: number | undefined;
  /** The time of the last row that it took in; undefined if it has no time stamps. */
  readonly now?: TimeGrid | undefined;
  /** The grid of its time stamps; undefined if it has none. */
  readonly grid?: TimeGrid | undefined;
  /** The most steps that it has bands for; undefined if it has none. */
  readonly horizon?: number | undefined;
  /** Whether it has bands of any number of steps, which is what combinations have. */
  readonly isCombined?: boolean | undefined;
  /** The keys of several series that it was trained on. */
  readonly keys?: readonly string[] | undefined;
  /** Reservoirs whose median its forecasts are, if bands can be made of what they differ by. */
  readonly members?: number | undefined;
  /** Rows that a forecast is warmed up on at least; undefined if any number does. */
  readonly leastRows?: number | undefined;
  /** What its file says of its columns. */
  readonly table?: TableNames | undefined;
  /** A closed loop from the present state; undefined if the model has no readout. */
  readonly forecast?: ((steps: number, outside: Outside, work: WorkOptions) => Promise<Forecasted>) | undefined;
}

/** A forecaster as its routes see it. */
export function forecasterSteps<Model extends ForecastModel>(forecaster: Forecaster<Model>): StepByStep<Forecaster<Model>["state"]> {
  const [first] = forecaster.members;
  return {
    get state() {
      return forecaster.state;
    },
    set state(state) {
      forecaster.state = state;
    },
    engine: first!.computers[0]?.engine.name ?? "host",
    inputs: first!.inputs + forecaster.known,
    fedBack: first!.fedBack,
    outputs: forecaster.columns,
    known: forecaster.known,
    ...(forecaster.keys.length === 0 && {
      update: async (rows: ForecasterPrefix, how: UpdateOptions) => {
        await forecaster.update(rows as ForecasterData, how);
      },
    }),
    get rows() {
      return forecaster.rows;
    },
    get now() {
      return forecaster.state.time;
    },
    get grid() {
      return forecaster.grid;
    },
    horizon: forecaster.choice?.horizon,
    keys: forecaster.keys,
    isCombined: forecaster.choice?.members !== undefined,
    members: forecaster.members.length,
    get leastRows() {
      return forecaster.leastRows > 1 ? forecaster.leastRows : undefined;
    },
    get table() {
      return forecaster.settings.table;
    },
    warmUp: (prefix, work) => forecaster.warmUp(prefix, work),
    predict: ({ inputs, steps, known, teacher }, work) => forecaster.predict(inputs ?? { steps: steps! }, { known, teacher, ...work }),
    forecast: (steps, outside, work) => forecaster.forecast(steps, { ...outside, ...work }),
  };
}

/** A reservoir as its routes see it; without a readout its outputs are its states. */
export function reservoirSteps({ computer, readout }: LoadedReservoir): StepByStep<AnyReservoirComputer["state"]> {
  const { size, outputSize } = computer.model;
  const fed = outputSize > 0;
  return {
    get state() {
      return computer.state;
    },
    set state(state) {
      computer.state = state;
    },
    engine: computer.engine.name,
    inputs: computer.model.inputSize,
    fedBack: outputSize,
    outputs: readout?.outputSize ?? size,
    known: 0,
    async warmUp(prefix, { signal }) {
      const checked = checkedPrefix(prefix as ForecasterPrefix<MatrixLike>, fed);
      const [inputs, teacher] = checked.series ? [checked.series] : [checked.inputs, checked.targets];
      computer.reset();
      await computer.run(inputs, { teacher, every: inputs.rows, signal });
    },
    async predict({ inputs, steps, teacher }, { signal }) {
      const u = inputs ?? noInputs(steps!);
      if (fed && !teacher && readout) return computer.generate(u.rows, readout, { inputs, signal });
      if (!readout) return computer.run(u, { teacher, signal });
      const out = Matrix.zeros(u.rows, readout.outputSize);
      for (let row = 0; row < u.rows; row += chunk) {
        const part = u.subarray(row, row + chunk);
        const states = await computer.run(part, { teacher: teacher?.subarray(row, row + chunk), signal });
        out.data.set(readout.predict(states, roundedInputs(computer, part)).data, row * out.cols);
      }
      return out;
    },
    forecast: readout && ((steps, { inputs }, { signal }) => computer.generate(steps, readout, { inputs, signal })),
  };
}

/** Rows of states that a reservoir holds at a time. */
const chunk = 1024;
