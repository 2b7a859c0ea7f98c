// Models that take rows one by one, forecasters and reservoirs: predictions from the saved state,
// and from the state of a session.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, given, type Kind, type OptionTable, option, optional, type Resolved, text, whole } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import type { ForecasterPrefix } from "../model/index.js";
import type { WorkOptions } from "../reservoir/index.js";
import { gridText } from "../series/time-grid.js";
import { most } from "./limits.js";
import { tooMuch } from "./refused.js";
import { type Call, type Route, route } from "./route.js";
import {
  bandsKind,
  intervalsKind,
  knownKind,
  levelsKind,
  prefixKind,
  quantilesKind,
  rowsKind,
  seriesOf,
  stampsKind,
  stepsOf,
} from "./series.js";
import type { Session, Sessions } from "./sessions.js";
import type { Forecasted, Outside, Rows, StepByStep } from "./steps.js";
import type { Work } from "./work.js";

/** The routes of a model with a state. */
export function stepByStepRoutes<State>(model: StepByStep<State>, work: Work, sessions: Sessions<State>): readonly Route[] {
  const served = new Served(model, work, sessions);
  return [...forecastRoutes(served), predictRoute(served), ...updateRoutes(served), ...sessionRoutes(served)];
}

type Forecasting = Outside & { readonly steps: number };
type Updating = { readonly rows: ForecasterPrefix; readonly weights: "fit" | "keep" };

/** How many rows a request sends; as they were read they are matrices. */
function rowsIn(rows: ForecasterPrefix): number {
  const { series, targets, inputs } = rows as { readonly [part in "series" | "targets" | "inputs"]?: Matrix };
  return (series ?? targets ?? inputs ?? (rows as Matrix)).rows;
}

const outputRows = given(rowsKind, "A row of outputs for each row.");
export const noSession = { 404: "There is no such session." };

/** A model, its sessions, the fields of its requests, and its work from a state. */
class Served<State> {
  readonly model: StepByStep<State>;
  readonly sessions: Sessions<State>;
  /** Columns that come from outside in a closed loop. */
  readonly outside: number;
  readonly #work: Work;
  /** Columns of the rows that drive it, beside those that are known beforehand. */
  readonly #driven: number;
  /** Where requests begin. */
  #saved: State;

  constructor(model: StepByStep<State>, work: Work, sessions: Sessions<State>) {
    const { inputs, known, fedBack, outputs } = model;
    this.model = model;
    this.sessions = sessions;
    this.#work = work;
    this.#driven = inputs - known;
    this.#saved = model.state;
    this.outside = fedBack > 0 ? this.#driven : this.#driven - outputs;
  }

  /**
   * Work from where a session is, or from the saved state; what it leaves behind is no other
   * request's. @throws RequestError if the session is over when the work begins
   */
  from<T>(session: string | undefined, signal: AbortSignal, piece: (work: WorkOptions) => Promise<T>): Promise<T> {
    return this.#work.take(signal, async (limited) => {
      this.model.state = session === undefined ? this.#saved : this.sessions.get(session).state;
      return piece({ signal: limited });
    });
  }

  /** Work from the saved state, or from the end of rows that warm the model up. */
  fromSaved<T>(warmup: ForecasterPrefix | undefined, signal: AbortSignal, piece: (work: WorkOptions) => Promise<T>): Promise<T> {
    return this.from(undefined, signal, async (options) => {
      if (warmup) await this.model.warmUp(warmup, options);
      return piece(options);
    });
  }

  /**
   * Takes in rows for all requests to come; what fails leaves the model as it was. Sessions end if
   * it was trained again. @throws RequestError for more rows than a model is trained on
   */
  update({ rows, weights }: Updating, signal: AbortSignal) {
    const { model } = this;
    return this.from(undefined, signal, async (options) => {
      const { rows: kept } = model;
      const count = kept === undefined ? undefined : kept + rowsIn(rows);
      const columns = model.outputs + model.known;
      if (count !== undefined && count * columns > most.trainedNumbers)
        throw tooMuch(
          `the model would have ${count} rows of ${columns} columns, more than ${most.trainedNumbers} numbers; train one on fewer rows and serve that`,
        );
      await model.update!(rows, { weights, ...options });
      this.#saved = model.state;
      if (weights === "fit") this.sessions.closeAll("the model was trained on more rows");
      return { ...(model.rows !== undefined && { rows: model.rows }), ...(model.now && { time: gridText(model.now) }) };
    });
  }

  /**
   * @throws ArgumentError if there are no rows, RequestError for more outputs than one answer holds
   */
  rowsOf({ inputs, known, steps, teacher }: Rows): Rows {
    const driven = this.#driven;
    const { outputs } = this.model;
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
      throw tooMuch(`${count} rows of ${outputs} outputs are more than an answer's ${most.values}; send fewer rows`);
    return { inputs, known, steps: count, teacher };
  }

  /** The numbers of a forecast, with a stamp for each row. @throws RequestError if they are too many */
  numbersOf(steps: number, { intervals = [], quantiles = [] }: Outside): number {
    const { outputs, grid } = this.model;
    const matrices = 1 + 2 * intervals.length + quantiles.length;
    if (steps * outputs * matrices > most.values)
      throw tooMuch(
        `${steps} steps of ${outputs} outputs with ${intervals.length} bands${quantiles.length > 0 ? ` and ${quantiles.length} quantiles` : ""} are more than an answer's ${most.values} numbers; ask for fewer`,
      );
    return steps * (outputs * matrices + (grid ? 2 : 0));
  }

  get rowFields() {
    const { known, fedBack, outputs } = this.model;
    const driven = this.#driven;
    return {
      ...(driven > 0 && { inputs: optional(seriesOf(driven), "Rows that drive the model.") }),
      ...(driven === 0 && { steps: optional(stepsOf(outputs), "Steps to run, if there is no teacher.") }),
      ...(known > 0 && { known: optional(seriesOf(known), "What was known beforehand of each row.") }),
      ...(fedBack > 0 && { teacher: optional(seriesOf(fedBack), "The true outputs, which are fed back in place of the predicted ones.") }),
    } satisfies OptionTable;
  }

  /** Rows of the series, as they drive the model. */
  get #rows(): Kind<ForecasterPrefix> {
    const { known, fedBack, grid } = this.model;
    return prefixKind({ inputs: this.#driven, fedBack, known, grid });
  }

  get updateFields() {
    return {
      rows: given(this.#rows, "Rows that follow those that the model was trained on."),
      // A model that keeps no rows cannot be trained again.
      weights: option(
        choice("fit", "keep"),
        this.model.rows === undefined ? "keep" : "fit",
        "Train again on all rows, or go on with the model as it is.",
      ),
    };
  }

  get warmup() {
    return optional(this.#rows, "Rows that the model sees first, from its initial state; left out, it goes on from where it was saved.");
  }

  get #hasBands(): boolean {
    return this.model.horizon !== undefined || (this.model.members ?? 1) > 1;
  }

  get isSeveral(): boolean {
    return (this.model.keys ?? []).length > 0;
  }

  get forecastFields() {
    const { outputs, known, grid, horizon, isCombined = false, members = 1 } = this.model;
    const limit = horizon === undefined || isCombined ? "" : `, of at most ${horizon} steps from errors`;
    return {
      steps: given(stepsOf(outputs), "How many rows to forecast."),
      ...(this.isSeveral && { key: optional(text(), "Which of the series is forecast; left out, warmup has the rows of a new one.") }),
      ...(known > 0
        ? { known: optional(knownKind(known, grid), "What is known of the steps to come, one row a step.") }
        : this.outside > 0 && { inputs: optional(seriesOf(this.outside), "What comes from outside, one row a step.") }),
      ...(this.#hasBands && {
        intervals: optional(intervalsKind, `Shares of the values to come that bands hold${limit}.`),
        quantiles: optional(levelsKind, `Levels of quantiles of each step${limit}.`),
      }),
      ...(members > 1 && {
        bandsFrom: optional(choice("errors", "members"), "Bands from what forecasts were off by (errors), or from what members differ by."),
      }),
    };
  }

  get forecastAnswer() {
    return {
      outputs: outputRows,
      ...(this.model.grid && { times: optional(stampsKind, "The time stamp of each row, if that of the last row is known.") }),
      ...(this.#hasBands && {
        bands: optional(bandsKind, "A band for each of the intervals."),
        quantiles: optional(quantilesKind, "The quantile of each of the levels."),
      }),
    };
  }
}

/** Closed loops, from the saved state and from a session; none for a model without a readout. */
function forecastRoutes<State>(served: Served<State>): readonly Route[] {
  const { model, sessions, forecastFields, forecastAnswer: fields } = served;
  if (model.forecast === undefined || served.outside < 0) return [];
  return [
    route({
      method: "POST",
      path: "/forecast",
      summary: "The closed loop: each output is the next input.",
      body: { ...forecastFields, warmup: served.warmup },
      answer: { status: 200, description: "Row 0 follows the last row that the model saw.", fields },
      run: async ({ body, signal, reserve }) => {
        const { steps, warmup, ...others } = body as Forecasting;
        await reserve(served.numbersOf(steps, others));
        // Of several series the forecast itself goes to the one that is meant.
        const [before, asked] = served.isSeveral ? [undefined, { ...others, warmup }] : [warmup, others];
        return served.fromSaved(before, signal, async (options) => answerOf(await model.forecast!(steps, asked, options)));
      },
    }),
    route({
      method: "POST",
      path: "/sessions/{session}/forecast",
      summary: "The closed loop from where a session stands. The session stays there.",
      body: forecastFields,
      answer: { status: 200, description: "Row 0 follows the session's last row.", fields },
      refusals: noSession,
      run: async ({ body, id, signal, reserve }) => {
        const { steps, ...others } = body as Forecasting;
        await reserve(served.numbersOf(steps, others));
        sessions.get(id);
        return served.from(id, signal, async (options) => answerOf(await model.forecast!(steps, others, options)));
      },
    }),
  ];
}

function predictRoute<State>(served: Served<State>): Route {
  const { model } = served;
  return route({
    method: "POST",
    path: "/predict",
    summary: model.forecast ? "One step ahead: an output for each row." : "The state after each row: this reservoir has no readout.",
    body: { ...served.rowFields, warmup: served.warmup },
    answer: { status: 200, description: "One row for each row.", fields: { outputs: outputRows } },
    run: async ({ body, signal, reserve }) => {
      const { warmup, ...rest } = body as Rows & { readonly warmup?: ForecasterPrefix };
      const rows = served.rowsOf(rest);
      await reserve(rows.steps! * model.outputs);
      return served.fromSaved(warmup, signal, async (options) => ({ outputs: (await model.predict(rows, options)).toArrays() }));
    },
  });
}

/** New rows, for every client; none for a reservoir or several series. */
function updateRoutes<State>(served: Served<State>): readonly Route[] {
  const { model, updateFields } = served;
  if (model.update === undefined) return [];
  return [
    route({
      method: "POST",
      path: "/update",
      summary: "Takes in rows that follow, for every client: the model is then trained on all rows, and sessions end.",
      body: updateFields,
      answer: {
        status: 200,
        description: "The model took them in; its file stays as it was.",
        fields: {
          rows: optional(whole(), "How many rows it is trained on, if it keeps them."),
          time: optional(text(), "The time stamp of the last row."),
        },
      },
      run: ({ body, signal }) => served.update(body as Updating, signal),
    }),
  ];
}

/** Sessions: opened, moved on, listened to and closed. */
function sessionRoutes<State>(served: Served<State>): readonly Route[] {
  const { model, sessions } = served;
  const advance = (session: Session<State>, rows: Rows, signal: AbortSignal) =>
    served.from(session.id, signal, async (options) => {
      const made = (await model.predict(rows, options)).toArrays();
      session.state = model.state;
      const row = session.rows;
      session.add(made);
      return { row, outputs: made };
    });
  return [
    openRoute("a position in a series of its own, which rows advance", { warmup: served.warmup }, ({ body, signal }) => {
      const { warmup } = body as { readonly warmup?: ForecasterPrefix };
      sessions.checkNotFull();
      return served.fromSaved(warmup, signal, async () => sessions.add(model.state));
    }),
    route({
      method: "POST",
      path: "/sessions/{session}/rows",
      summary: "Moves a session on by some rows.",
      body: served.rowFields,
      answer: {
        status: 200,
        description: "What came out; event streams of the session get it too.",
        fields: { row: given(whole(), "The number of the first of these rows, from 0."), outputs: outputRows },
      },
      refusals: noSession,
      run: async ({ body, id, signal, reserve }: Call<Resolved<OptionTable>>) => {
        const [session, rows] = [sessions.get(id), served.rowsOf(body as Rows)];
        await reserve(rows.steps! * model.outputs);
        return advance(session, rows, signal);
      },
    }),
    listenRoute(sessions, "/sessions/{session}/events", "`row` for each row that the session takes", "of `row` is {row, output}"),
    closeRoute(sessions),
  ];
}

/** Opens a session, which is `what` in words. */
export function openRoute(
  what: string,
  body: OptionTable,
  open: (call: Call<Resolved<OptionTable>>) => Pick<Session<unknown>, "id"> | Promise<Pick<Session<unknown>, "id">>,
): Route {
  return route({
    method: "POST",
    path: "/sessions",
    summary: `Opens a session: ${what}.`,
    body,
    answer: {
      status: 201,
      description: "The session is open.",
      fields: { session: given(text(), "Its name, for the paths of sessions.") },
    },
    refusals: { 429: "As many sessions are open as may be." },
    run: async (call) => ({ session: (await open(call)).id }),
  });
}

/** Event streams of sessions. @param events what they say, in words @param data what is in them */
export function listenRoute<State>(sessions: Sessions<State>, path: string, events: string, data: string): Route {
  return route({
    method: "GET",
    path,
    summary: `Server-sent events: ${events}, \`end\` when it is closed.`,
    answer: {
      status: 200,
      description: `A stream of events; the data ${data}, of \`end\` {reason}.`,
      type: "text/event-stream; charset=utf-8",
      schema: { type: "string" },
    },
    refusals: { ...noSession, 429: "As many streams of the session are open as may be." },
    run: ({ id }) => sessions.get(id).listen(),
  });
}

export function closeRoute<State>(sessions: Sessions<State>): Route {
  return route({
    method: "DELETE",
    path: "/sessions/{session}",
    summary: "Closes a session.",
    answer: { status: 204, description: "The session is closed." },
    refusals: noSession,
    run: ({ id }) => sessions.close(id),
  });
}

/** What a forecast says, as JSON has it. */
function answerOf(made: Forecasted) {
  const { times, bands, quantiles } = made;
  return {
    outputs: made.toArrays(),
    ...(times && { times }),
    ...(bands && { bands: bands.map(({ level, lower, upper }) => ({ level, lower: lower.toArrays(), upper: upper.toArrays() })) }),
    ...(quantiles && { quantiles: quantiles.map(({ level, values }) => ({ level, values: values.toArrays() })) }),
  };
}
