// Models that take rows one by one, forecasters and reservoirs: predictions from the saved state,
// and from the state of a session.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, given, type OptionTable, optional, type Resolved, text, whole } from "@spillway/core/options.js";
import type { ForecasterPrefix } from "../model/index.js";
import type { WorkOptions } from "../reservoir/index.js";
import { most } from "./limits.js";
import { RequestError } from "./refused.js";
import { type Call, type Route, route, taken } from "./route.js";
import { bandsKind, intervalsKind, knownKind, prefixKind, rowsKind, seriesOf, stampsKind, stepsOf } from "./series.js";
import type { Session, Sessions } from "./sessions.js";
import type { Forecasted, Outside, Rows, StepByStep } from "./steps.js";
import type { Work } from "./work.js";

/** The routes of a model with a state. */
export function stepByStepRoutes<State>(model: StepByStep<State>, work: Work, sessions: Sessions<State>): readonly Route[] {
  const { outputs, known, grid, horizon, members = 1 } = model;
  const hasBands = horizon !== undefined || members > 1;
  const saved = model.state;
  const { inputs: inputSize, fedBack: outputSize } = model;
  const fed = outputSize > 0;
  /** Columns of the rows that drive it, beside those that are known beforehand. */
  const driven = inputSize - known;

  /** Work from a state; what it leaves behind is no other request's. */
  const from = <T>(state: () => State, signal: AbortSignal, piece: (work: WorkOptions) => Promise<T>): Promise<T> =>
    work.take(signal, async (limited) => {
      model.state = state();
      return piece({ signal: limited });
    });

  const warmUp = async (warmup: ForecasterPrefix | undefined, options: WorkOptions): Promise<void> => {
    if (warmup) await model.warmUp(warmup, options);
  };

  /**
   * @throws ArgumentError if there are no rows, RequestError for more outputs than one answer holds
   */
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

  /** The numbers of a forecast, with a stamp for each row. @throws RequestError if they are too many */
  const numbersOf = (steps: number, { intervals = [] }: Outside): number => {
    const matrices = 1 + 2 * intervals.length;
    if (steps * outputs * matrices > most.values)
      throw new RequestError(
        422,
        "limit",
        `${steps} steps of ${outputs} outputs with ${intervals.length} bands are more than an answer's ${most.values} numbers; ask for fewer`,
      );
    return steps * (outputs * matrices + (grid ? 2 : 0));
  };

  const rowFields = {
    ...(driven > 0 && { inputs: optional(seriesOf(driven), "Rows that drive the model.") }),
    ...(driven === 0 && { steps: optional(stepsOf(outputs), "Steps to run, if there is no teacher.") }),
    ...(known > 0 && { known: optional(seriesOf(known), "What was known beforehand of each row.") }),
    ...(fed && { teacher: optional(seriesOf(outputSize), "The true outputs, which are fed back in place of the predicted ones.") }),
  } satisfies OptionTable;
  const warmup = optional(
    prefixKind({ inputs: driven, fedBack: outputSize, known, grid }),
    "Rows that the model sees first, from its initial state; left out, it goes on from where it was saved.",
  );
  const outside = fed ? driven : driven - outputs;
  const forecastFields = {
    steps: given(stepsOf(outputs), "How many rows to forecast."),
    ...(known > 0
      ? { known: optional(knownKind(known, grid), "What is known of the steps to come, one row a step.") }
      : outside > 0 && { inputs: optional(seriesOf(outside), "What comes from outside, one row a step.") }),
    ...(hasBands && {
      intervals: optional(
        intervalsKind,
        `Shares of the values to come that bands hold${horizon === undefined ? "" : `, of at most ${horizon} steps from errors`}.`,
      ),
    }),
    ...(members > 1 && {
      bandsFrom: optional(choice("errors", "members"), "Bands from what forecasts were off by (errors), or from what members differ by."),
    }),
  };
  const outputRows = given(rowsKind, "A row of outputs for each row.");
  const noSession = { 404: "There is no such session." };
  const forecastTable = { ...forecastFields, warmup };
  const predictTable = { ...rowFields, warmup };
  const forecastAnswer = {
    outputs: outputRows,
    ...(grid && { times: optional(stampsKind, "The time stamp of each row, if that of the last row seen is known.") }),
    ...(hasBands && { bands: optional(bandsKind, "A band for each of the intervals.") }),
  };
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
            answer: { status: 200, description: "Row 0 follows the last row that the model saw.", fields: forecastAnswer },
            run: async ({ body, signal, reserve }) => {
              const { steps, warmup, ...others } = body as Forecasting;
              await reserve(numbersOf(steps, others));
              return from(
                () => saved,
                signal,
                async (options) => {
                  await warmUp(warmup, options);
                  return answerOf(await model.forecast!(steps, others, options));
                },
              );
            },
          }),
          route({
            method: "POST",
            path: "/sessions/{session}/forecast",
            summary: "The closed loop from where a session stands. The session stays there.",
            body: forecastFields,
            answer: { status: 200, description: "Row 0 follows the session's last row.", fields: forecastAnswer },
            refusals: noSession,
            run: async ({ body, id, signal, reserve }) => {
              const { steps, ...others } = body as Forecasting;
              await reserve(numbersOf(steps, others));
              const session = sessions.get(id);
              return from(
                () => session.state,
                signal,
                async (options) => answerOf(await model.forecast!(steps, others, options)),
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
      run: async ({ body, signal, reserve }) => {
        const { warmup, ...rest } = body as Rows & { readonly warmup?: ForecasterPrefix };
        const rows = rowsOf(rest);
        await reserve(rows.steps! * outputs);
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
      run: async ({ body, id, signal, reserve }: Call<Resolved<OptionTable>>) => {
        const [session, rows] = [sessions.get(id), rowsOf(body as Rows)];
        await reserve(rows.steps! * outputs);
        return advance(session, rows, signal);
      },
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

/** What a forecast says, as JSON has it. */
function answerOf(made: Forecasted) {
  const { times, bands } = made;
  return {
    outputs: made.toArrays(),
    ...(times && { times }),
    ...(bands && { bands: bands.map(({ level, lower, upper }) => ({ level, lower: lower.toArrays(), upper: upper.toArrays() })) }),
  };
}
