// Models that take rows one by one, forecasters and reservoirs: predictions from the saved state,
// and from the state of a session.
import { ArgumentError } from "../core/errors.js";
import { optional, type OptionTable, type Resolved, text, whole, given } from "../core/options.js";
import type { Forecaster, LoadedReservoir } from "../model/index.js";
import { roundedInputs } from "../model/forecaster-training.js";
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
  readonly steps?: number | undefined;
  readonly teacher?: Matrix | undefined;
}

/** A model with a state, as its routes see it. */
export interface StepByStep {
  readonly computer: AnyReservoirComputer;
  /** Columns of an output row. */
  readonly outputs: number;
  /** An output for each row; the state moves on. */
  predict(rows: Rows, work: WorkOptions): Promise<Matrix>;
  /** A closed loop from the present state; undefined if the model has no readout. */
  readonly forecast?: ((steps: number, inputs: Matrix | undefined, work: WorkOptions) => Promise<Matrix>) | undefined;
}

/** Rows of states that a reservoir holds at a time. */
const chunk = 1024;

/** Where a model stands in a series. */
export type ModelState = AnyReservoirComputer["state"];

/** A forecaster as its routes see it. */
export function forecasterSteps(forecaster: Forecaster): StepByStep {
  return {
    computer: forecaster.computer,
    outputs: forecaster.readout.outputSize,
    predict: ({ inputs, steps, teacher }, work) => forecaster.predict(inputs ?? { steps: steps! }, { teacher, ...work }),
    forecast: (steps, inputs, work) => forecaster.forecast(steps, { inputs, ...work }),
  };
}

/** A reservoir as its routes see it; without a readout its outputs are its states. */
export function reservoirSteps({ computer, readout }: LoadedReservoir): StepByStep {
  const { size, outputSize } = computer.model;
  return {
    computer,
    outputs: readout?.outputSize ?? size,
    predict: async ({ inputs, steps, teacher }, { signal }) => {
      const u = inputs ?? new Matrix(steps!, 0, new Float64Array(0));
      if (outputSize > 0 && !teacher && readout) return computer.generate(u.rows, readout, { inputs, signal });
      if (!readout) return computer.run(u, { teacher, signal });
      const out = Matrix.zeros(u.rows, readout.outputSize);
      for (let row = 0; row < u.rows; row += chunk) {
        const part = u.subarray(row, row + chunk);
        const states = await computer.run(part, { teacher: teacher?.subarray(row, row + chunk), signal });
        out.data.set(readout.predict(states, roundedInputs(computer, part)).data, row * out.cols);
      }
      return out;
    },
    forecast: readout && ((steps, inputs, { signal }) => computer.generate(steps, readout, { inputs, signal })),
  };
}

/** The routes of a model with a state. */
export function stepByStepRoutes(model: StepByStep, work: Work, sessions: Sessions<ModelState>): readonly Route[] {
  const { computer, outputs } = model;
  const saved = computer.state;
  const { inputSize, outputSize } = computer.model;
  const fed = outputSize > 0;

  /** Work from a state; what it leaves behind is no other request's. */
  const from = <T>(state: () => ModelState, signal: AbortSignal, piece: (work: WorkOptions) => Promise<T>): Promise<T> =>
    work.take(signal, async (limited) => {
      computer.state = state();
      return piece({ signal: limited });
    });

  const warmUp = async (warmup: Rows | undefined, options: WorkOptions): Promise<void> => {
    if (!warmup) return;
    computer.reset();
    try {
      await model.predict(rowsOf(warmup), options);
    } catch (error) {
      throw error instanceof ArgumentError ? error.at("warmup") : error;
    }
  };

  /** @throws ArgumentError if there are no rows, or more outputs than one answer holds */
  const rowsOf = ({ inputs, steps, teacher }: Rows): Rows => {
    if (inputSize > 0 && steps !== undefined)
      throw ArgumentError.because(`steps is ${steps}; this model has inputs, whose rows are its steps`, { field: "steps", value: steps });
    if (inputSize > 0 && !inputs) throw new ArgumentError("inputs", undefined, `rows of finite numbers, T x ${inputSize}`);
    if (inputSize === 0 && inputs)
      throw ArgumentError.because("inputs was given; this model has none, so give steps or teacher", { field: "inputs" });
    if (inputs) return { inputs, teacher };
    if (steps === undefined && !teacher) throw new ArgumentError("steps", undefined, "a whole number of at least 1, or a teacher");
    if (teacher && steps !== undefined && steps !== teacher.rows)
      throw ArgumentError.shape(`steps is ${steps} and teacher has ${teacher.rows} rows; leave steps out`, {
        field: "steps",
        value: steps,
      });
    return { steps: teacher?.rows ?? steps, teacher };
  };

  const answerable = (rows: Rows): Rows => {
    const checked = rowsOf(rows);
    const count = checked.inputs?.rows ?? checked.steps!;
    if (count * outputs > most.values)
      throw new RequestError(422, "limit", `${count} rows of ${outputs} outputs are more than an answer's ${most.values}; send fewer rows`);
    return checked;
  };

  const rowFields = {
    ...(inputSize > 0 && { inputs: optional(seriesOf(inputSize), "Rows that drive the model.") }),
    ...(inputSize === 0 && { steps: optional(stepsOf(outputs), "Steps to run, if there is no teacher.") }),
    ...(fed && { teacher: optional(seriesOf(outputSize), "The true outputs, which are fed back in place of the predicted ones.") }),
  } satisfies OptionTable;
  const warmup = optional(
    prefixKind(inputSize, outputSize),
    "Rows that the model sees first, from its initial state; left out, it goes on from where it was saved.",
  );
  const outside = fed ? inputSize : inputSize - outputs;
  const forecastFields = {
    steps: given(stepsOf(outputs), "How many rows to forecast."),
    ...(outside > 0 && { inputs: optional(seriesOf(outside), "Inputs from outside, one row a step.") }),
  };
  const outputRows = given(rowsKind, "A row of outputs for each row.");
  const noSession = { 404: "There is no such session." };
  const forecastTable = { ...forecastFields, warmup };
  const predictTable = { ...rowFields, warmup };
  type Forecasting = { readonly steps: number; readonly inputs?: Matrix; readonly warmup?: Rows };

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
              const { steps, inputs, warmup } = body as Forecasting;
              return from(
                () => saved,
                signal,
                async (options) => {
                  await warmUp(warmup, options);
                  return { outputs: (await model.forecast!(steps, inputs, options)).toArrays() };
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
              const { steps, inputs } = body as Forecasting;
              const session = sessions.get(id);
              return from(
                () => session.state,
                signal,
                async (options) => ({ outputs: (await model.forecast!(steps, inputs, options)).toArrays() }),
              );
            },
          }),
        ];

  const advance = (session: Session<ModelState>, rows: Rows, signal: AbortSignal) =>
    from(
      () => session.state,
      signal,
      async (options) => {
        const made = (await model.predict(rows, options)).toArrays();
        session.state = computer.state;
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
        const { warmup, ...rest } = body as Rows & { readonly warmup?: Rows };
        const rows = answerable(rest);
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
        const { warmup } = body as { readonly warmup?: Rows };
        sessions.checkRoom();
        const state = await from(
          () => saved,
          signal,
          async (options) => {
            await warmUp(warmup, options);
            return computer.state;
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
      run: ({ body, id, signal }: Call<Resolved<OptionTable>>) => advance(sessions.get(id), answerable(body as Rows), signal),
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
