// Models that take rows one by one, forecasters and reservoirs: predictions from the saved state,
// and from the state of a session.
import { ArgumentError } from "../core/errors.js";
import { given, type OptionTable, optional, type Resolved, text, whole } from "../core/options.js";
import { checkedPrefix, noInputs } from "../model/forecaster/data.js";
import { roundedInputs } from "../model/forecaster/training.js";
import type { Forecaster, ForecasterPrefix, LoadedReservoir, NvarForecaster } from "../model/index.js";
import { Matrix } from "../numerics/index.js";
import type { AnyReservoirComputer, WorkOptions } from "../reservoir/index.js";
import { most } from "./limits.js";
import { RequestError } from "./refused.js";
import { type Call, type Route, route, taken } from "./route.js";
import { prefixKind, rowsKind, seriesOf, stepsOf } from "./series.js";
import type { Session, Sessions } from "./sessions.js";
import type { Work } from "./work.js";

/** Rows for a model, or a number of steps for one without inputs. */
interface Rows {
  readonly inputs?: Matrix | undefined;
  readonly known?: Matrix | undefined;
  readonly steps?: number | undefined;
  readonly teacher?: Matrix | undefined;
}

/** What comes from outside in a closed loop. */
type Outside = Pick<Rows, "inputs" | "known">;

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
  /** A closed loop from the present state; undefined if the model has no readout. */
  readonly forecast?: ((steps: number, outside: Outside, work: WorkOptions) => Promise<Matrix>) | undefined;
}

/** A forecaster as its routes see it. */
export function forecasterSteps(forecaster: Forecaster): StepByStep<Forecaster["state"]> {
  return {
    get state() {
      return forecaster.state;
    },
    set state(state) {
      forecaster.state = state;
    },
    ...sizesOf(forecaster.computer),
    outputs: forecaster.readout.outputSize,
    known: forecaster.known,
    warmUp: (prefix, work) => forecaster.warmUp(prefix, work),
    predict: ({ inputs, steps, known, teacher }, work) => forecaster.predict(inputs ?? { steps: steps! }, { known, teacher, ...work }),
    forecast: (steps, outside, work) => forecaster.forecast(steps, { ...outside, ...work }),
  };
}

/** A forecaster without a reservoir as its routes see it. */
export function nvarSteps(forecaster: NvarForecaster): StepByStep<NvarForecaster["state"]> {
  return {
    get state() {
      return forecaster.state;
    },
    set state(state) {
      forecaster.state = state;
    },
    engine: "host",
    inputs: forecaster.columns,
    outputs: forecaster.columns,
    fedBack: 0,
    known: 0,
    warmUp: (prefix) => forecaster.warmUp(prefix as Matrix),
    predict: ({ inputs }, work) => forecaster.predict(inputs!, work),
    forecast: (steps, _, work) => forecaster.forecast(steps, work),
  };
}

function sizesOf({ engine, model }: AnyReservoirComputer): Pick<StepByStep<unknown>, "engine" | "inputs" | "fedBack"> {
  return { engine: engine.name, inputs: model.inputSize, fedBack: model.outputSize };
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
    ...sizesOf(computer),
    outputs: readout?.outputSize ?? size,
    known: 0,
    async warmUp(prefix, { signal }) {
      const checked = checkedPrefix(prefix, fed);
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

/** The routes of a model with a state. */
export function stepByStepRoutes<State>(model: StepByStep<State>, work: Work, sessions: Sessions<State>): readonly Route[] {
  const { outputs, known } = model;
  const saved = model.state;
  const { inputs: inputSize, fedBack: outputSize } = model;
  const fed = outputSize > 0;
  /** Columns of the rows that drive it, beside those that are known beforehand. */
  const driven = fed ? inputSize : inputSize - known;

  /** Work from a state; what it leaves behind is no other request's. */
  const from = <T>(state: () => State, signal: AbortSignal, piece: (work: WorkOptions) => Promise<T>): Promise<T> =>
    work.take(signal, async (limited) => {
      model.state = state();
      return piece({ signal: limited });
    });

  const warmUp = async (warmup: ForecasterPrefix | undefined, options: WorkOptions): Promise<void> => {
    if (warmup) await model.warmUp(warmup, options);
  };

  /** @throws ArgumentError if there are no rows, RequestError for more outputs than one answer holds */
  const rowsOf = ({ inputs, known: beforehand, steps, teacher }: Rows): Rows => {
    if (driven > 0 && !inputs) throw new ArgumentError("inputs", undefined, `rows of finite numbers, T x ${driven}`);
    if (driven === 0 && steps === undefined && !teacher)
      throw new ArgumentError("steps", undefined, "a whole number of at least 1, or a teacher");
    if (driven === 0 && teacher && steps !== undefined && steps !== teacher.rows)
      throw ArgumentError.shape(`steps is ${steps} and teacher has ${teacher.rows} rows; leave steps out`, {
        field: "steps",
        value: steps,
      });
    const count = inputs?.rows ?? teacher?.rows ?? steps!;
    if (count * outputs > most.values)
      throw new RequestError(422, "limit", `${count} rows of ${outputs} outputs are more than an answer's ${most.values}; send fewer rows`);
    return { inputs, known: beforehand, steps: count, teacher };
  };

  const rowFields = {
    ...(driven > 0 && { inputs: optional(seriesOf(driven), "Rows that drive the model.") }),
    ...(driven === 0 && { steps: optional(stepsOf(outputs), "Steps to run, if there is no teacher.") }),
    ...(known > 0 && !fed && { known: optional(seriesOf(known), "What was known beforehand of each row.") }),
    ...(fed && { teacher: optional(seriesOf(outputSize), "The true outputs, which are fed back in place of the predicted ones.") }),
  } satisfies OptionTable;
  const warmup = optional(
    prefixKind({ inputs: driven, fedBack: outputSize, known }),
    "Rows that the model sees first, from its initial state; left out, it goes on from where it was saved.",
  );
  const outside = fed ? inputSize : inputSize - outputs;
  const forecastFields = {
    steps: given(stepsOf(outputs), "How many rows to forecast."),
    ...(outside > 0 && { [known > 0 ? "known" : "inputs"]: optional(seriesOf(outside), "What comes from outside, one row a step.") }),
  };
  const outputRows = given(rowsKind, "A row of outputs for each row.");
  const noSession = { 404: "There is no such session." };
  const forecastTable = { ...forecastFields, warmup };
  const predictTable = { ...rowFields, warmup };
  type Forecasting = Outside & { readonly steps: number; readonly warmup?: ForecasterPrefix };

  const forecasts =
    model.forecast === undefined || outside < 0
      ? []
      : [
          route({
            method: "POST",
            path: "/forecast",
            summary: "The closed loop: each output is the next input.",
            body: forecastTable,
            answer: { status: 200, description: "Row 0 follows the last row that the model saw.", fields: { outputs: outputRows } },
            run: ({ body, signal }) => {
              const { steps, warmup, ...others } = body as Forecasting;
              return from(
                () => saved,
                signal,
                async (options) => {
                  await warmUp(warmup, options);
                  return { outputs: (await model.forecast!(steps, others, options)).toArrays() };
                },
              );
            },
          }),
          route({
            method: "POST",
            path: "/sessions/{session}/forecast",
            summary: "The closed loop from where a session stands. The session stays there.",
            body: forecastFields,
            answer: { status: 200, description: "Row 0 follows the session's last row.", fields: { outputs: outputRows } },
            refusals: noSession,
            run: ({ body, id, signal }) => {
              const { steps, ...others } = body as Forecasting;
              const session = sessions.get(id);
              return from(
                () => session.state,
                signal,
                async (options) => ({ outputs: (await model.forecast!(steps, others, options)).toArrays() }),
              );
            },
          }),
        ];

  const advance = (session: Session<State>, rows: Rows, signal: AbortSignal) =>
    from(
      () => session.state,
      signal,
      async (options) => {
        const made = (await model.predict(rows, options)).toArrays();
        session.state = model.state;
        const row = session.rows;
        session.add(made);
        return { row, outputs: made };
      },
    );

  return [
    ...forecasts,
    route({
      method: "POST",
      path: "/predict",
      summary: model.forecast ? "One step ahead: an output for each row." : "The state after each row: this reservoir has no readout.",
      body: predictTable,
      answer: { status: 200, description: "One row for each row.", fields: { outputs: outputRows } },
      run: ({ body, signal }) => {
        const { warmup, ...rest } = body as Rows & { readonly warmup?: ForecasterPrefix };
        const rows = rowsOf(rest);
        return from(
          () => saved,
          signal,
          async (options) => {
            await warmUp(warmup, options);
            return { outputs: (await model.predict(rows, options)).toArrays() };
          },
        );
      },
    }),
    route({
      method: "POST",
      path: "/sessions",
      summary: "Opens a session: a place in a series of its own, which rows move on.",
      body: { warmup },
      answer: {
        status: 201,
        description: "The session is open.",
        fields: { session: given(text(), "Its name, for the paths of sessions.") },
      },
      refusals: { 429: "As many sessions are open as may be." },
      run: async ({ body, signal }) => {
        const { warmup } = body as { readonly warmup?: ForecasterPrefix };
        sessions.checkRoom();
        const state = await from(
          () => saved,
          signal,
          async (options) => {
            await warmUp(warmup, options);
            return model.state;
          },
        );
        return { session: sessions.add(state).id };
      },
    }),
    route({
      method: "POST",
      path: "/sessions/{session}/rows",
      summary: "Moves a session on by some rows.",
      body: rowFields,
      answer: {
        status: 200,
        description: "What came out; event streams of the session get it too.",
        fields: { row: given(whole(), "The number of the first of these rows, from 0."), outputs: outputRows },
      },
      refusals: noSession,
      run: ({ body, id, signal }: Call<Resolved<OptionTable>>) => advance(sessions.get(id), rowsOf(body as Rows), signal),
    }),
    route({
      method: "GET",
      path: "/sessions/{session}/events",
      summary: "Server-sent events: `row` for each row that the session takes, `end` when it is closed.",
      answer: {
        status: 200,
        description: "A stream of events; the data of `row` is {row, output}, of `end` {reason}.",
        type: "text/event-stream",
        schema: { type: "string" },
      },
      refusals: { ...noSession, 429: "As many streams of the session are open as may be." },
      run: ({ id, response }) => {
        sessions.get(id).listen(response);
        return taken;
      },
    }),
    route({
      method: "DELETE",
      path: "/sessions/{session}",
      summary: "Closes a session.",
      answer: { status: 204, description: "The session is closed." },
      refusals: noSession,
      run: ({ id }) => sessions.close(id),
    }),
  ];
}
