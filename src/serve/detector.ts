// A detector of anomalies as routes: rows from the saved state, and from the state of a session.
import { ArgumentError } from "@spillway/core/errors.js";
import { anything, given, type JsonSchema, type Kind, list, optional, record } from "@spillway/core/options.js";
import { Incidents } from "../model/anomaly/incidents.js";
import type { AnomalyDetector, AnomalyRow, Incident } from "../model/index.js";
import { most } from "./limits.js";
import { tooMuch } from "./refused.js";
import { type Route, route } from "./route.js";
import { stampKind } from "./series.js";
import type { Sessions } from "./sessions.js";
import { closeRoute, listenRoute, noSession, openRoute } from "./step-by-step.js";
import type { Work } from "./work.js";

type Row = number | (number | null)[];

/** Rows that are taken between two looks at the signal. */
const chunk = 512;

/** Rows of numbers; what is in them is the detector's own check. */
function rowsOf(columns: number): Kind<readonly Row[]> {
  const takes = `a list of rows of ${columns} numbers, null if one is missing${columns === 1 ? ", or a list of numbers" : ""}`;
  const schema: JsonSchema = { type: "array", minItems: 1, items: { type: ["array", "number"], items: { type: ["number", "null"] } } };
  return {
    takes,
    schema,
    read(value, field) {
      if (!Array.isArray(value) || value.length === 0) throw new ArgumentError(field, value, takes);
      return value.map((row: unknown) => (row === null && columns === 1 ? [null] : row)) as Row[];
    },
  };
}

/** The routes of a detector. What a request leaves behind is no other request's. */
export function detectorRoutes(detector: AnomalyDetector, work: Work, sessions: Sessions<Float64Array>): readonly Route[] {
  const columns = detector.settings.columns.length;
  const saved = detector.state;
  const body = {
    rows: given(rowsOf(columns), "The rows, in order of time."),
    times: optional(
      list(stampKind, "a list of time stamps, one a row"),
      "Time stamps: texts in a form of ISO 8601, or milliseconds since 1970.",
    ),
  };
  const answer = {
    status: 200,
    description: "What the detector says of each row, and the incidents that began in these rows.",
    fields: {
      rows: given(list(record(anything, "what is said of a row"), "rows"), "Row, score, pValue, alarm, expected, lower, upper, cause."),
      incidents: given(list(record(anything, "an incident"), "incidents"), "First, last and oddest row, score, pValue, columns."),
    },
  };
  const detect = (
    state: () => Float64Array,
    { rows, times }: { readonly rows: readonly Row[]; readonly times?: readonly (string | number)[] | undefined },
    signal: AbortSignal,
  ) => {
    if (times && times.length !== rows.length)
      throw ArgumentError.shape(`times has ${times.length} stamps and rows ${rows.length}`, { field: "times" });
    if (rows.length * (6 + 3 * columns) > most.values) throw tooMuch(`${rows.length} rows are more than an answer holds; send fewer rows`);
    return work.take(signal, async (limited) => {
      let now = state();
      const incidents = new Incidents(detector.settings.alarmRate);
      const said: AnomalyRow[] = [];
      for (let first = 0; first < rows.length; first += chunk) {
        limited.throwIfAborted();
        detector.state = now;
        for (let t = first; t < Math.min(first + chunk, rows.length); t++) {
          said.push(detector.update(rows[t]!, times?.[t]));
          incidents.add(said[t]!);
        }
        now = detector.state;
        await new Promise((next) => setTimeout(next));
      }
      return { rows: said, incidents: incidents.list as readonly Incident[], state: now };
    });
  };
  return [
    route({
      method: "POST",
      path: "/detect",
      summary: "What the detector says of rows that follow those it was saved after.",
      body,
      answer,
      run: async ({ body: sent, signal, reserve }) => {
        await reserve(sent.rows.length * (6 + 3 * columns));
        const { rows, incidents } = await detect(() => saved, sent, signal);
        return { rows, incidents };
      },
    }),
    openRoute("a stream of its own, which begins where the detector was saved", {}, () => sessions.add(saved)),
    route({
      method: "POST",
      path: "/sessions/{session}/rows",
      summary: "The next rows of a session. If one is refused, none is taken.",
      body,
      answer,
      refusals: noSession,
      run: async ({ body: sent, id, signal, reserve }) => {
        const session = sessions.get(id);
        await reserve(sent.rows.length * (6 + 3 * columns));
        const { state, ...said } = await detect(() => session.state, sent, signal);
        session.state = state;
        session.tell(
          "alarm",
          said.rows.filter(({ alarm }) => alarm !== undefined),
        );
        return said;
      },
    }),
    listenRoute(sessions, "/sessions/{session}/alarms", "`alarm` for each alarm of the session", "of `alarm` is what is said of the row"),
    closeRoute(sessions),
  ];
}
