// A combination of members as a program: of a file its members, and what of the runtime those need
// that are no closed loops.
import { disposeQuietlyAsync } from "@spillway/core/disposal.js";
import { Matrix } from "@spillway/numerics";
import type { WeightedMember } from "../forecaster/choice.js";
import { ClassicalMember } from "../forecaster/classical.js";
import { type CombinedMember, decodeCombined, isCombined } from "../forecaster/combined-file.js";
import { DirectMember } from "../forecaster/direct.js";
import { decodeForecaster, type ForecasterParts, memberFile } from "../forecaster/file.js";
import type { Forecaster } from "../forecaster/forecaster.js";
import { ForecasterMember } from "../forecaster/member.js";
import { decodeModelFile } from "../model-file.js";
import { NvarMember } from "../nvar/member.js";
import { type Constants, type Field, nowhere } from "./constants.js";
import { checkOneSeries, partsOf, unheld } from "./refuse.js";
import type { Reservoirs } from "./reservoir.js";
import type { Shape } from "./shape.js";

/** A member of a combination: its weights, and what it is; of the loop nothing, which `members` of the parts are. */
interface Entry extends Pick<WeightedMember, "weights"> {
  readonly member: ClassicalMember | DirectMember | NvarMember | undefined;
}

/** A forecaster as an exported program holds it. */
export interface ExportedParts extends ForecasterParts {
  /** Its members are then those of the loop, of which there may be none. */
  readonly combination?: { readonly entries: readonly Entry[]; readonly columns: number; readonly known: number } | undefined;
}

/** @throws ArgumentError for a combination that a program does not hold */
export async function exportedParts(model: Forecaster): Promise<ExportedParts> {
  checkOneSeries(model);
  const source = "forecaster";
  const file = await decodeModelFile(await model.toBytes(), source, "forecaster");
  if (!isCombined(file)) return decodeForecaster(file, source);
  const { settings, trained, ...common } = await decodeCombined(file, source, { engine: "reference" });
  const { members, groups } = trained;
  try {
    const loops: [ForecasterMember, number][] = [];
    let first = 0;
    const entries = common.choice!.members!.map(({ weights, groups: count }): Entry => {
      const from = first;
      first += count;
      const own = members.filter((_, m) => groups[m]! >= from && groups[m]! < first);
      if (!own.every((member) => member instanceof ForecasterMember)) return { weights, member: checked(own[0]!) };
      const ofLoop = groups.filter((group) => group >= from && group < first);
      loops.push(...own.map((member, k) => [member, ofLoop[k]! - from] as [ForecasterMember, number]));
      return { weights, member: undefined };
    });
    const { columns, preprocessing } = members[0]!;
    return {
      ...{ ...common, settings, groups: loops.map(([, group]) => group) },
      members: loops.map(([member]) => {
        const one = memberFile(member);
        return { ...one, preprocessing: { ...one.preprocessing, bounds: common.bounds } };
      }),
      combination: { entries, columns, known: preprocessing.known },
    };
  } finally {
    await disposeQuietlyAsync(members.flatMap(({ computers }) => computers));
  }
}

/** @throws ArgumentError */
function checked(member: CombinedMember): Entry["member"] {
  const noPosition = () => unheld("is a combination that was reset", "model", "one with rows before it");
  if (member instanceof ClassicalMember) {
    if (member.state.followed.length === 0) throw noPosition();
    return member;
  }
  if (member instanceof DirectMember) {
    if (member.state.recent.rows === 0) throw noPosition();
    return member;
  }
  if (!(member instanceof NvarMember)) throw unheld("has the member pooled", "members");
  const { delays, stride, degrees, target, neighbours, arithmetic, hold } = member.settings;
  const isDefault = delays === 2 && stride === 1 && String(degrees) === "2" && target === "increment" && neighbours === null && hold;
  if (!isDefault || arithmetic !== "float64") throw unheld("has the member nvar with options of yours", "members");
  if (member.state.high.length === 0) throw noPosition();
  return member;
}

/** The reservoir of the member of windows. */
export const directParts = ({ combination }: Pick<ExportedParts, "combination">) =>
  (combination?.entries ?? []).flatMap(({ member }) => (member instanceof DirectMember ? [partsOf(member.computers[0].model)] : []));

/** What a program holds of the members that are no loop. */
export interface CombinedTables {
  readonly flags: readonly string[];
  readonly numbers: Readonly<Record<string, number>>;
  readonly first: Field;
  readonly beside: Shape["beside"];
}

/** @param widths neurons of each loop */
export function combinedTables(
  parts: ExportedParts,
  widths: readonly number[],
  reservoirs: Reservoirs,
  constants: Constants,
): CombinedTables {
  const { combination } = parts;
  if (!combination)
    return { flags: ["RESETS"], numbers: { COMBINED: 0, ENTRIES: 0, KEPT: 0, LOOP_WIDTH: 0 }, first: nowhere, beside: undefined };
  const columns: (readonly Field[])[] = [];
  const kept: number[] = [];
  const flags = new Set<string>();
  let work = 0;
  const rows = combination.entries.map(({ member, weights }, k): readonly Field[] => {
    const at = kept.length;
    const double = (name: string, values: ArrayLike<number>) => constants.to("float64", `${name}_of_${k}`, values);
    const row = (kind: number, window: number, season: number, horizon: number, fields: readonly Field[]) => [
      ...[kind, at, window, season, horizon, double("weights", weights), ...fields],
      ...Array.from({ length: 9 - fields.length }, () => nowhere),
    ];
    if (member === undefined) return row(0, 0, 0, 0, []);
    if (member instanceof ClassicalMember) {
      flags.add("CLASSICAL");
      const first = columns.length;
      columns.push(...member.state.followed.map((column, c) => smoothingRow(column, `${k}_${c}`, constants)));
      kept.push(...member.state.followed.flatMap(smoothingNumbers));
      return row(1, 0, 0, 0, [{ to: "smoothings", row: first }]);
    }
    if (member instanceof DirectMember) {
      const { shape, scales, readouts } = member.parts;
      const { window, season, horizon } = shape;
      const { model } = member.computers[0];
      flags.add("WINDOWS").add("ROOT");
      if (scales.some(({ least }) => least > 0)) for (const flag of ["WINDOW_LOG", "LOG", "EXP"]) flags.add(flag);
      kept.push(...lastRowsOf(member.state.recent, window).data, ...new Float64Array(horizon * scales.length));
      work = Math.max(work, 2 * window + 2 * model.size);
      const readout = readouts.flatMap(({ weights: each }) => [...each.data]);
      const intercept = readouts.flatMap((each) => [...each.intercept]);
      const least = scales.map((each) => each.least);
      const [own] = directParts(parts);
      const fields = [nowhere, double("windows_readout", readout), double("windows_intercept", intercept), double("least", least)];
      return row(2, window, season, horizon, [...fields, ...reservoirs.add(own!, model.size, "windows")]);
    }
    const { scale, range, readout, features } = member.fit;
    flags.add("LAW");
    kept.push(...member.state.high);
    work = Math.max(work, features.count);
    const numbers = [...scale.mean, ...scale.deviation, ...range.lower, ...range.upper];
    return row(3, features.history, 0, 0, [
      nowhere,
      double("law", readout.weights.data),
      double("law_intercept", readout.intercept),
      double("law_numbers", numbers),
    ]);
  });
  if (columns.length > 0) constants.tables.push({ name: "smoothings", type: "smoothing", rows: columns });
  constants.tables.push({ name: "entries", type: "entry", rows });
  return {
    flags: [...flags],
    numbers: { COMBINED: 1, ENTRIES: rows.length, KEPT: kept.length, LOOP_WIDTH: widths.reduce((sum, width) => sum + width, 0) },
    first: constants.to("float64", "first_beside", kept),
    beside: {
      // At least one: C has no arrays of none.
      numbers: Math.max(1, kept.length + work),
      neurons: directParts(parts)
        .flat()
        .reduce((sum, { model }) => sum + model.size, 0),
    },
  };
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
