// What becomes of a series whose time stamps have gaps.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { choice } from "@spillway/core/options.js";
import { Matrix } from "@spillway/numerics";
import { axisRows, describeStep, gridAt, type RowName, stampAt, stampText, type TimeAxis } from "./time-grid.js";

/**
 * `"error"` refuses a gap; `"interpolate"` fills it by a straight line between its ends; `"hold"`
 * repeats the last row before it; `"split"` makes the parts series of their own that do not touch.
 */
export type GapPolicy = "error" | "interpolate" | "hold" | "split";

/** The kinds of {@link GapPolicy}. */
export const gapKind = choice("error", "interpolate", "hold", "split");

/** A series (T x D) with the times of its rows. */
export interface TimedSeries {
  readonly series: Matrix<Float64Array>;
  readonly times: TimeAxis;
}

/**
 * Applies a policy to the gaps of a series: one series without gaps, or with "split" one or more.
 * @throws ArgumentError under "error", with the first row after a gap, its stamp and how many gaps
 * there are; and if there are more rows to fill in than the series has
 */
export function closeGaps(timed: TimedSeries, policy: GapPolicy, nameOf: RowName = (row) => `times[${row}]`): TimedSeries[] {
  const { series, times } = checkHas("timed", timed, "a series with its times", "series", "times");
  const { gaps, grid } = times;
  gapKind.read(policy, "gaps");
  if (times.wall.length !== series.rows)
    throw ArgumentError.shape(`times has ${times.wall.length} stamps and the series ${series.rows} rows; they take the same number`);
  const first = gaps[0];
  if (first === undefined) return [{ series, times }];
  const missing = gaps.reduce((sum, gap) => sum + gap.missing, 0);
  const rows = (count: number) => `${count} row${count === 1 ? "" : "s"}`;
  if (policy === "error") {
    const all = gaps.length === 1 ? "it is the only gap" : `there are ${gaps.length} gaps, of ${rows(missing)} in all`;
    throw ArgumentError.because(
      `${nameOf(first.row)} (${stampText(times, first.row)}): ${rows(first.missing)} before it ${first.missing === 1 ? "is" : "are"} missing, ` +
        `at a step of ${describeStep(grid.step)}; ${all}. Set \`gaps\` to "interpolate", "hold" or "split"`,
      { field: "gaps", value: policy },
    );
  }
  if (policy === "split") {
    const ends = [...gaps.map(({ row }) => row), series.rows];
    return ends.map((to, k) => {
      const from = k === 0 ? 0 : ends[k - 1]!;
      return { series: series.subarray(from, to), times: axisRows(times, from, to) };
    });
  }
  if (missing > series.rows)
    throw ArgumentError.because(
      `the gaps take ${rows(missing)} and the series has ${series.rows}; filling takes at most as many. Set \`gaps\` to "split", or cut the series`,
      { field: "gaps", value: policy },
    );
  return [filled({ series, times }, series.rows + missing, policy === "interpolate")];
}

function filled({ series, times }: TimedSeries, rows: number, isLine: boolean): TimedSeries {
  const { cols } = series;
  const out = Matrix.zeros(rows, cols);
  const wall = new Float64Array(rows);
  const offsets = times.offsets && new Int16Array(rows);
  let at = 0;
  let next = 0;
  for (let row = 0; row < series.rows; row++) {
    if (times.gaps[next]?.row === row) {
      const { missing } = times.gaps[next++]!;
      const before = gridAt(times, row - 1);
      for (let k = 1; k <= missing; k++, at++) {
        const stamp = stampAt(before, k);
        wall[at] = stamp.wall;
        if (offsets) offsets[at] = stamp.offset;
        for (let c = 0; c < cols; c++) {
          const from = series.data[(row - 1) * cols + c]!;
          const to = series.data[row * cols + c]!;
          out.data[at * cols + c] = isLine ? from + ((to - from) * k) / (missing + 1) : from;
        }
      }
    }
    wall[at] = times.wall[row]!;
    if (offsets) offsets[at] = times.offsets![row]!;
    out.data.set(series.row(row), at * cols);
    at++;
  }
  return { series: out, times: { form: times.form, zone: times.zone, wall, offsets, grid: times.grid, gaps: [] } };
}
