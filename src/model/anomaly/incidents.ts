// Rows of a detector gathered into incidents.
import type { AnomalyRow, Incident } from "./options.js";

type Open = { -readonly [Field in keyof Incident]: Incident[Field] };

/** Gathers incidents from rows in turn; memory grows with the incidents alone. */
export class Incidents {
  readonly list: Incident[] = [];
  readonly #rate: number;
  #open: Open | undefined;

  constructor(alarmRate: number) {
    this.#rate = alarmRate;
  }

  /** Takes a row. Its incident, if it belongs to one. */
  add(row: AnomalyRow): Incident | undefined {
    const { score, pValue, alarm, cause } = row;
    const at = row.time ?? row.row;
    if (alarm) {
      const columns = cause ? [cause.column] : [];
      this.#open = { start: row.row, end: row.row, oddest: row.row, startedAt: at, endedAt: at, by: alarm.by, score, pValue, columns };
      this.list.push(this.#open);
      return this.#open;
    }
    const open = this.#open;
    if (!row.ongoing || !open) return undefined;
    const bySurprise = open.by === "surprise";
    if (score < 1 && !(pValue <= this.#rate)) return open;
    open.end = row.row;
    open.endedAt = at;
    if (cause && !open.columns.includes(cause.column)) open.columns = [...open.columns, cause.column];
    if (bySurprise ? pValue < open.pValue : score > open.score) Object.assign(open, { oddest: row.row, score, pValue });
    return open;
  }
}
