// Where the groups of a field lie: the columns that each predicts, those that it sees, and the
// readout that it has. It runs nothing.

import { ArgumentError } from "@spillway/core/errors.js";
import { tally } from "@spillway/core/text.js";
import { type FloatArray, Matrix } from "@spillway/numerics";
import { calendarColumns } from "../../series/calendar.js";
import type { FieldEdges, FieldSettings } from "./options.js";

/** What is written for a column beyond an open end. */
const beyond = -1;

/**
 * Columns of what is known beforehand, in their order: those of the user, whether a value was
 * filled (one a column of the field, or none), and the calendar.
 */
export interface KnownColumns {
  readonly given: number;
  readonly masks: number;
  readonly calendar: number;
}

/** The known columns that a forecaster makes itself. */
export function ownColumns({ missing, calendar = [] }: FieldSettings, columns: number): Omit<KnownColumns, "given"> {
  return { masks: missing === "mask" ? columns : 0, calendar: calendarColumns(calendar) };
}

/** The groups of a field on a line (one row) or a grid, row by row. */
export class FieldGeometry {
  /** Columns of the field: sites times channels, the channels of a site beside one another. */
  readonly columns: number;
  readonly known: KnownColumns;
  readonly groups: number;
  /** Columns that a group predicts. */
  readonly own: number;
  /**
   * Columns that a group sees: its own, and the halo around them; what is known of the whole field,
   * and whether values were filled of the same columns.
   */
  readonly inputs: number;
  /** For each group its readout: groups that look the same share one, if weights are shared. */
  readonly readouts: readonly number[];
  /** How many readouts there are. */
  readonly readoutCount: number;
  readonly #directions: readonly [Direction, Direction];
  readonly #channels: number;
  readonly #own: Int32Array[] = [];
  readonly #inputs: Int32Array[] = [];

  /** @throws ArgumentError if groups, halo or shape do not go with so many columns */
  constructor(settings: FieldSettings, columns: number, known: KnownColumns = { given: 0, masks: 0, calendar: 0 }) {
    const { channels, shared } = settings;
    const [down, along] = directionsOf(settings, columns);
    this.#directions = [down, along];
    this.#channels = channels;
    this.columns = columns;
    this.groups = down.groups * along.groups;
    this.own = down.own * along.own * channels;
    const around = (down.own + 2 * down.halo) * (along.own + 2 * along.halo) * channels;
    this.known = known;
    this.inputs = around * (known.masks > 0 ? 2 : 1) + known.given + known.calendar;
    const looks = Array.from(
      { length: this.groups },
      (_, g) => `${look(down, Math.floor(g / along.groups))} ${look(along, g % along.groups)}`,
    );
    const kinds = new Map([...new Set(looks)].map((kind, k) => [kind, k]));
    this.readoutCount = shared ? kinds.size : this.groups;
    this.readouts = looks.map((kind, g) => (shared ? kinds.get(kind)! : g));
  }

  /** What a group sees of a row of the field, known columns after it; 0 beyond an open end. */
  writeInputs(g: number, row: FloatArray, out: FloatArray): void {
    this.#inputs[g] ??= this.#inputColumnsOf(g);
    const from = this.#inputs[g];
    for (let i = 0; i < from.length; i++) out[i] = from[i] === beyond ? 0 : row[from[i]!]!;
  }

  /** What a group predicts, put into a row of the field. */
  writeOwn(g: number, own: FloatArray, row: FloatArray): void {
    this.#own[g] ??= this.#columnsOf(g, "own");
    const to = this.#own[g];
    for (let i = 0; i < to.length; i++) row[to[i]!] = own[i]!;
  }

  /** What a group sees of rows of the field, known columns after them: T x `inputs`. */
  inputsOf(field: Matrix, g: number): Matrix<Float64Array> {
    const out = Matrix.zeros(field.rows, this.inputs);
    for (let t = 0; t < field.rows; t++) this.writeInputs(g, field.row(t), out.row(t));
    return out;
  }

  /** What a group predicts, T x `own`. */
  ownOf(field: Matrix, g: number): Matrix<Float64Array> {
    this.#own[g] ??= this.#columnsOf(g, "own");
    const from = this.#own[g];
    const out = Matrix.zeros(field.rows, this.own);
    for (let t = 0; t < field.rows; t++) for (let i = 0; i < from.length; i++) out.data[t * this.own + i] = field.at(t, from[i]!);
    return out;
  }

  #inputColumnsOf(g: number): Int32Array {
    const { given, masks, calendar } = this.known;
    const around = this.#columnsOf(g, "around");
    const from = (first: number, count: number) => Array.from({ length: count }, (_, k) => first + k);
    const filled = masks > 0 ? around.map((c) => (c === beyond ? beyond : this.columns + given + c)) : [];
    return Int32Array.from([...around, ...from(this.columns, given), ...filled, ...from(this.columns + given + masks, calendar)]);
  }

  #columnsOf(g: number, which: "own" | "around"): Int32Array {
    const [down, along] = this.#directions;
    const sites = (direction: Direction, group: number): number[] => {
      const halo = which === "own" ? 0 : direction.halo;
      return sitesFrom(direction, group * direction.own - halo, direction.own + 2 * halo);
    };
    const across = sites(along, g % along.groups);
    const channels = this.#channels;
    return Int32Array.from(
      sites(down, Math.floor(g / along.groups)).flatMap((r) =>
        across.flatMap((s) =>
          Array.from({ length: channels }, (_, c) => (r === beyond || s === beyond ? beyond : (r * along.sites + s) * channels + c)),
        ),
      ),
    );
  }
}

/** One direction of a field. */
interface Direction {
  readonly sites: number;
  readonly groups: number;
  /** Sites of one group. */
  readonly own: number;
  readonly halo: number;
  readonly isOpen: boolean;
}

/** The sites from one on; beyond an open end `beyond`. */
function sitesFrom({ sites, isOpen }: Direction, from: number, length: number): number[] {
  return Array.from({ length }, (_, i) => {
    const site = from + i;
    return isOpen ? (site < 0 || site >= sites ? beyond : site) : (site + sites) % sites;
  });
}

/** The same for groups that see as many sites beyond an open end. */
function look({ groups, own, halo, isOpen }: Direction, g: number): string {
  return isOpen ? `${Math.max(0, halo - g * own)},${Math.max(0, halo - (groups - 1 - g) * own)}` : "";
}

/** The directions of a field: down its rows, of which a line has one, and along them. */
function directionsOf(settings: FieldSettings, columns: number): readonly [Direction, Direction] {
  const { groups, halo, edges, channels, shape } = settings;
  if (columns % channels !== 0)
    throw ArgumentError.because(`channels is ${channels} and the series has ${tally(columns, "column")}; it takes a divisor of that`, {
      field: "channels",
      value: channels,
    });
  const sites = columns / channels;
  if (shape === undefined) {
    if (typeof groups !== "number" || typeof halo !== "number" || typeof edges !== "string") {
      const field = typeof groups !== "number" ? "groups" : typeof halo !== "number" ? "halo" : "edges";
      throw ArgumentError.because(`${field} has one value for each direction, and the field is a line; give shape for a grid`, { field });
    }
    return [line, direction({ sites, groups, halo, edges, unit: "sites", at: "" })];
  }
  const [rows, width] = shape;
  if (rows * width !== sites)
    throw ArgumentError.because(`shape is ${rows} x ${width}, which is ${rows * width} sites; the field has ${sites}`, {
      field: "shape",
      value: shape,
    });
  if (typeof groups === "number")
    throw ArgumentError.because(`groups is ${groups} and the field is a grid; give one number for each direction, such as [${groups}, 1]`, {
      field: "groups",
      value: groups,
    });
  const halos = typeof halo === "number" ? ([halo, halo] as const) : halo;
  const ends = typeof edges === "string" ? ([edges, edges] as const) : edges;
  return [
    direction({ sites: rows, groups: groups[0], halo: halos[0], edges: ends[0], unit: "rows", at: "[0]" }),
    direction({ sites: width, groups: groups[1], halo: halos[1], edges: ends[1], unit: "columns", at: "[1]" }),
  ];
}

/** The one row of a line. */
const line: Direction = { sites: 1, groups: 1, own: 1, halo: 0, isOpen: false };

interface Asked {
  readonly sites: number;
  readonly groups: number;
  readonly halo: number;
  readonly edges: FieldEdges;
  /** What sites are called in this direction, and which of two values is theirs. */
  readonly unit: string;
  readonly at: string;
}

function direction({ sites, groups, halo, edges, unit, at }: Asked): Direction {
  if (sites % groups !== 0)
    throw ArgumentError.because(`groups${at} is ${groups} and the field has ${sites} ${unit}; it takes a divisor of that`, {
      field: `groups${at}`,
      value: groups,
    });
  const own = sites / groups;
  const isOpen = edges === "open";
  const most = isOpen ? sites - own : Math.floor((sites - own) / 2);
  if (halo > most) {
    const sees = isOpen
      ? `there are ${sites - own} of ${sites} ${unit} beside a group`
      : `a group of ${own} sees ${own + 2 * halo} of ${sites} ${unit}`;
    throw ArgumentError.because(`halo${at} is ${halo}, ${isOpen ? "and" : "so that"} ${sees}; it takes at most ${most}`, {
      field: `halo${at}`,
      value: halo,
    });
  }
  return { sites, groups, own, halo, isOpen };
}
