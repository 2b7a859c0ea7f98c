// Columns of stamps that a local clock shows, through its changes to daylight saving time and back.
import { minuteMs } from "./civil.js";
import { saysInstant } from "./time-form.js";
import { mostFrequentDifference, type RowName, stampError, stampText, type TimeColumn } from "./time-grid.js";
import { offsetAt, offsetsShowing } from "./time-zone.js";

/**
 * A column as the clock of a zone shows it. Of an hour that is repeated a stamp is the one that is
 * a step after the row before it, else the first that is later. Stamps that say their instant are
 * brought to the zone.
 * @throws ArgumentError for a stamp in an hour that the clock left out
 */
export function inZone(column: TimeColumn, zone: string, nameOf: RowName): TimeColumn {
  const { form } = column;
  const rows = column.wall.length;
  const wall = column.wall.slice();
  const offsets = new Int16Array(rows);
  const step = mostFrequentDifference(wall);
  let before = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < rows; row++) {
    if (saysInstant(form)) {
      const instant = wall[row]! - (column.offsets?.[row] ?? 0) * minuteMs;
      offsets[row] = offsetAt(zone, instant);
      wall[row] = instant + offsets[row]! * minuteMs;
      continue;
    }
    const found = offsetsShowing(zone, wall[row]!);
    if (found.length === 0)
      throw stampError(
        nameOf(row),
        stampText(column, row),
        `is no time of ${zone}: its clock left that hour out. Give the zone whose clock the column shows; UTC needs no timeZone`,
      );
    const after = (each: number) => wall[row]! - each * minuteMs - before;
    const offset = found.find((each) => after(each) === step) ?? found.find((each) => after(each) > 0) ?? found[0]!;
    offsets[row] = offset;
    before = wall[row]! - offset * minuteMs;
  }
  return { form, wall, offsets, zone };
}

const hoursLookedAt = 3 * 60 * minuteMs;
/** Rows about a change that are looked at; steps below a second have more within the hours. */
const mostRowsLookedAt = 2000;

/**
 * The zones whose clock explains what is wrong with the order of stamps without a zone: with each
 * of them every row that comes too early is one step after the row before it; empty if there is
 * none. Those alone that explain the most hours left out, the one of this machine first.
 */
export function zonesExplaining({ form, wall, offsets }: TimeColumn, step: number): string[] {
  if (offsets || saysInstant(form) || !("supportedValuesOf" in Intl)) return [];
  const back: number[] = [];
  const ahead: number[] = [];
  for (let row = 1; row < wall.length; row++) {
    const difference = wall[row]! - wall[row - 1]!;
    if (difference <= 0) back.push(row);
    else if (difference > step && difference <= step + hoursLookedAt) ahead.push(row);
  }
  if (back.length + ahead.length === 0 || back.length > 200) return [];
  const explains = (zone: string, row: number): boolean => {
    let from = row - 1;
    const fewest = Math.max(0, row - mostRowsLookedAt);
    while (from > fewest && wall[from - 1]! > wall[row]! - hoursLookedAt) from--;
    try {
      const { wall: shown, offsets: own } = inZone({ form, wall: wall.subarray(from, row + 1) }, zone, () => "");
      const instant = (k: number) => shown[k]! - own![k]! * minuteMs;
      return instant(row - from) - instant(row - from - 1) === step;
    } catch {
      return false;
    }
  };
  const fits = Intl.supportedValuesOf("timeZone").flatMap((zone) => {
    if (!back.every((row) => explains(zone, row))) return [];
    const count = ahead.slice(0, 200).filter((row) => explains(zone, row)).length;
    return back.length + count > 0 ? [{ zone, count }] : [];
  });
  const most = Math.max(0, ...fits.map(({ count }) => count));
  const best = fits.filter(({ count }) => count === most).map(({ zone }) => zone);
  const area = (zone: string) => best.filter((other) => other.split("/")[0] === zone.split("/")[0]).length;
  const here = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return best.sort((a, b) => Number(b === here) - Number(a === here) || area(b) - area(a) || (a < b ? -1 : 1));
}
