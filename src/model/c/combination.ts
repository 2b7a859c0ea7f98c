// A combination of members as a program: what of the runtime those need that are no closed loops.
import { Matrix } from "@spillway/numerics";
import { ClassicalMember } from "../forecaster/classical.js";
import { DirectMember } from "../forecaster/direct.js";
import type { NvarMember } from "../nvar/member.js";
import { type Constants, type Field, nowhere } from "./constants.js";
import { directParts, type Entry, type ExportedParts } from "./parts.js";
import { partsOf } from "./refuse.js";
import type { Reservoirs } from "./reservoir.js";
import { type Shape, total } from "./shape.js";

/** What the table of entries says of a member. */
interface EntryRow {
  readonly flags: readonly string[];
  readonly kind: number;
  /** Rows that it looks back over, those of a season, and the steps that it forecasts at once. */
  readonly window?: number;
  readonly season?: number;
  readonly horizon?: number;
  readonly fields: readonly Field[];
  /** The numbers that it keeps in a state, where the model is. */
  readonly kept: readonly number[];
  /** Numbers that a call of it works in. */
  readonly work?: number;
}

/** Adds an array of a member. */
type AddArray = (name: string, values: ArrayLike<number>) => Field;

const loop: EntryRow = { flags: [], kind: 0, fields: [], kept: [] };

/** The tables of a combination. A forecaster by itself has none. */
export function combinedTables(parts: ExportedParts, { widths }: Pick<Shape, "widths">, reservoirs: Reservoirs, constants: Constants) {
  const { combination } = parts;
  if (!combination)
    return { flags: ["RESETS"], numbers: { COMBINED: 0, ENTRIES: 0, KEPT: 0, LOOP_WIDTH: 0 }, first: nowhere, beside: undefined };
  const smoothings: (readonly Field[])[] = [];
  const kept: number[] = [];
  const flags: string[] = [];
  let work = 0;
  const entryOf = (member: Entry["member"], k: number, add: AddArray): EntryRow => {
    if (member === undefined) return loop;
    if (member instanceof ClassicalMember) return smoothedEntry(member, smoothings, String(k), constants);
    return member instanceof DirectMember ? windowedEntry(member, add, reservoirs) : polynomialEntry(member, add);
  };
  const rows = combination.entries.map(({ member, weights }, k): readonly Field[] => {
    const add: AddArray = (name, values) => constants.to("float64", `${name}_of_${k}`, values);
    const entry = entryOf(member, k, add);
    const { kind, window = 0, season = 0, horizon = 0, fields } = entry;
    const row = [kind, kept.length, window, season, horizon, add("weights", weights), ...fields];
    kept.push(...entry.kept);
    flags.push(...entry.flags);
    work = Math.max(work, entry.work ?? 0);
    return [...row, ...Array.from({ length: entryFields - row.length }, () => nowhere)];
  });
  if (smoothings.length > 0) constants.tables.push({ name: "smoothings", type: "smoothing", rows: smoothings });
  constants.tables.push({ name: "entries", type: "entry", rows });
  const neurons = directParts(parts)
    .flat()
    .map(({ model }) => model.size);
  return {
    flags,
    numbers: { COMBINED: 1, ENTRIES: rows.length, KEPT: kept.length, LOOP_WIDTH: total(widths) },
    first: constants.to("float64", "first_beside", kept),
    // At least one number: C has no arrays of none.
    beside: { numbers: Math.max(1, kept.length + work), neurons: total(neurons) },
  };
}

/** Fields of `entry` in combination-types.c. */
const entryFields = 15;

/** Theta, exponential smoothing and the naive methods: a row of `smoothings` a column. */
function smoothedEntry({ state }: ClassicalMember, smoothings: (readonly Field[])[], name: string, constants: Constants): EntryRow {
  const first = smoothings.length;
  smoothings.push(...state.followed.map((column, c) => smoothingRow(column, `${name}_${c}`, constants)));
  return { flags: ["CLASSICAL"], kind: 1, fields: [{ to: "smoothings", row: first }], kept: state.followed.flatMap(smoothingNumbers) };
}

/** A reservoir over windows of the series, whose readouts give all steps of a forecast. */
function windowedEntry(member: DirectMember, add: AddArray, reservoirs: Reservoirs): EntryRow {
  const { shape, scales, readouts } = member.parts;
  const { window, horizon } = shape;
  const { model } = member.computers[0];
  const isLogarithmic = scales.some(({ least }) => least > 0);
  const arrays = [
    add(
      "windows_readout",
      readouts.flatMap(({ weights }) => [...weights.data]),
    ),
    add(
      "windows_intercept",
      readouts.flatMap(({ intercept }) => [...intercept]),
    ),
    add(
      "least",
      scales.map(({ least }) => least),
    ),
  ];
  return {
    flags: ["WINDOWS", "ROOT", ...(isLogarithmic ? ["WINDOW_LOG", "LOG", "EXP"] : [])],
    ...{ kind: 2, ...shape },
    fields: [nowhere, ...arrays, ...reservoirs.add(partsOf(model), model.size, "windows")],
    kept: [...lastRowsOf(member.state.recent, window).data, ...new Float64Array(horizon * scales.length)],
    work: 2 * window + 2 * model.size,
  };
}

/** Polynomials of delays. */
function polynomialEntry({ fit: { scale, range, readout, features }, state }: NvarMember, add: AddArray): EntryRow {
  const law = [add("law", readout.weights.data), add("law_intercept", readout.intercept)];
  const numbers = add("law_numbers", [...scale.mean, ...scale.deviation, ...range.lower, ...range.upper]);
  const fields = [nowhere, ...law, numbers];
  return { flags: ["LAW"], kind: 3, window: features.history, fields, kept: [...state.high], work: features.count };
}

type Column = ClassicalMember["state"]["followed"][number];

function smoothingRow({ smoothing }: Column, name: string, constants: Constants): readonly Field[] {
  const { season, indices, least, damping, alpha, beta, gamma } = smoothing;
  const isFloored = Number.isFinite(least);
  const numbers = [damping, alpha, beta, gamma, isFloored ? least : 0];
  const kind = ["none", "additive", "multiplicative"].indexOf(season);
  return [kind, kind > 0 ? indices.length : 0, Number(isFloored), constants.to("float64", `smoothing_${name}`, numbers)];
}

/** Level, trend, last value, the least and the largest, three numbers of a forecast, and the season. */
function smoothingNumbers({ smoothing: { season, level, trend, indices }, last, ends }: Column): readonly number[] {
  // Files of earlier versions have no ends: their range has no end either.
  const [low, high] = ends ?? [-Number.MAX_VALUE / 2, Number.MAX_VALUE / 2];
  return [level, trend, last, low!, high!, 1, 0, 0, ...(season === "none" ? [] : indices)];
}

/** The last rows, before the first of which its values are repeated. */
function lastRowsOf(recent: Matrix, window: number): Matrix {
  const out = Matrix.zeros(window, recent.cols);
  for (let t = 0; t < window; t++) out.row(t).set(recent.row(Math.max(0, recent.rows - window + t)));
  return out;
}
