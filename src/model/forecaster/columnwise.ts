// Members of a combination that follow each column of a series by itself, without what is known
// beforehand, from the rows that they start from.
import { Matrix } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import type { AnyReservoirComputer, WorkOptions } from "../../reservoir/index.js";
import { fitTransforms } from "../../series/transforms.js";
import type { Bound } from "./bounds.js";
import { type CheckedData, type CheckedSeries, checkColumns } from "./data.js";
import { checkShowsSeason, noRow } from "./known.js";
import type { ForecastMember, PredictedRows } from "./model.js";

/** What every such member is made of. */
export interface ColumnwiseParts {
  /** Rows of a season, which is looked for in each column. */
  readonly season: number;
  readonly columns: number;
  /** Columns that are known beforehand, which it does not take. */
  readonly known: number;
  readonly bounds: readonly Bound[] | undefined;
}

/** A position: what is known of each column; nothing after a reset. */
export interface ColumnwiseState<Column> {
  readonly followed: readonly Column[];
}

/** A member without a loop: it is fitted anew on rows that it starts from. */
export abstract class ColumnwiseMember<Column extends { readonly last: number }, Parts extends ColumnwiseParts>
  implements ForecastMember<ColumnwiseState<Column>>
{
  readonly parts: Parts;
  readonly preprocessing: ForecastMember["preprocessing"];
  readonly fedBack = 0;
  abstract readonly computers: readonly AnyReservoirComputer[];
  abstract readonly readouts: readonly TrainedReadout[];
  state: ColumnwiseState<Column> = { followed: [] };

  constructor(parts: Parts) {
    const { known, bounds } = parts;
    this.parts = parts;
    this.preprocessing = { transforms: fitTransforms([], []), known, bounds };
  }

  /** What errors call it. */
  protected abstract get name(): string;

  /** Rows that show a season. */
  protected abstract get seasonRows(): number;

  protected abstract isSeasonal(column: Column): boolean;

  /** @param isSeasonal the column has a season, as more rows have shown */
  protected abstract columnOf(values: Float64Array, isSeasonal: boolean | undefined): Column;

  /** Moves on over values. */
  protected abstract moved(column: Column, values: Float64Array): Column;

  /** Forecasts a column; values that are not finite are not used. */
  protected abstract ahead(column: Column, steps: number, signal: AbortSignal | undefined): ArrayLike<number> | Promise<ArrayLike<number>>;

  get columns(): number {
    return this.parts.columns;
  }

  get inputs(): number {
    return this.parts.columns;
  }

  get leastRows(): number {
    return this.state.followed.some((column) => this.isSeasonal(column)) ? this.seasonRows : 1;
  }

  isState(value: unknown): value is ColumnwiseState<Column> {
    return Array.isArray((value as Partial<ColumnwiseState<Column>> | undefined)?.followed);
  }

  reset(): void {
    this.state = { followed: [] };
  }

  /**
   * Rows of any series may be those that it starts from. A column that has had a season keeps it.
   * @throws ArgumentError if the rows are too few to show it
   */
  start({ series }: CheckedData): void {
    const { leastRows } = this;
    const areSeasonal = this.state.followed.map((column) => this.isSeasonal(column));
    this.reset();
    if (!series || series.rows === 0) return;
    checkColumns(series, "warmup", this.columns);
    checkShowsSeason(series.rows, leastRows, this.name, this.parts.season);
    this.state = { followed: columnsOf(series, this.columns).map((values, c) => this.columnOf(values, areSeasonal[c])) };
  }

  follow({ series }: CheckedSeries): void {
    const { followed } = this.state;
    if (followed.length === 0) this.start({ series });
    else this.state = { followed: columnsOf(series, this.columns).map((values, c) => this.moved(followed[c]!, values)) };
  }

  recall(history: Matrix): void {
    this.start({ series: history });
  }

  async predict({ series, known }: PredictedRows, work: WorkOptions): Promise<readonly Matrix<Float64Array>[]> {
    const out = Matrix.zeros(series.rows, this.columns);
    for (let t = 0; t < series.rows; t++) {
      // With known inputs a row is predicted from those before it, else from those up to it.
      if (!known) this.follow({ series: series.subarray(t, t + 1) });
      out.row(t).set((await this.forecast(1, undefined, work)).row(0));
      if (known) this.follow({ series: series.subarray(t, t + 1) });
    }
    return [out];
  }

  /** The last value in place of a forecast that is not finite. */
  async forecast(steps: number, _outside?: Matrix, { signal }: WorkOptions = {}): Promise<Matrix<Float64Array>> {
    const { followed } = this.state;
    if (followed.length === 0) throw noRow();
    const out = Matrix.zeros(steps, this.columns);
    for (const [c, column] of followed.entries()) {
      const made = Float64Array.from(await this.ahead(column, steps, signal));
      const areFinite = made.every(Number.isFinite);
      for (let k = 0; k < steps; k++) out.data[k * out.cols + c] = areFinite ? made[k]! : column.last;
    }
    return out;
  }
}

function columnsOf(series: Matrix, columns: number): readonly Float64Array[] {
  return Array.from({ length: columns }, (_, c) => Float64Array.from(series.column(c)));
}
