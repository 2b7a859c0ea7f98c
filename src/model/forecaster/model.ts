// What a Forecaster asks of a model: how it is trained, run and saved. Rows come checked, without
// missing values, in the units of the data, and with the calendar among what is known of them.

import type { Matrix, Precision } from "@spillway/numerics";
import type { TrainedReadout } from "../../readout/index.js";
import type { AnyReservoirComputer, WorkOptions } from "../../reservoir/index.js";
import type { Transform } from "../../series/transform-kinds.js";
import type { MutableContent } from "../mutable-content.js";
import type { TableNames } from "../table-names.js";
import type { ForecasterChoice } from "./chosen.js";
import type { CalendarSetting } from "./clock.js";
import type { CheckedData, CheckedSeries } from "./data.js";
import type { AutonomousLoop } from "./exponents.js";
import type { MissingInSeries } from "./missing-option.js";
import type { Preprocessing } from "./preprocessing.js";
import type { RowKind, TrainingRows } from "./rows.js";

/** The settings of a model that a Forecaster reads. */
export interface SeriesSettings {
  readonly calendar?: CalendarSetting | undefined;
  readonly targets?: readonly number[] | undefined;
  readonly missing?: MissingInSeries | undefined;
  readonly table?: TableNames | undefined;
  readonly transforms?: readonly Transform[] | undefined;
}

/** Rows that are predicted one step ahead. */
export interface PredictedRows {
  /** T x D of a series, or T x I of inputs; with feedback what is known alone. */
  readonly series: Matrix;
  readonly low?: CheckedSeries["low"];
  readonly known?: Matrix | undefined;
  /** True outputs to feed back. */
  readonly teacher?: Matrix | undefined;
  readonly precision?: Precision | undefined;
}

/** Readouts by which one pass of a reservoir is predicted, one after the other. */
export interface ReadoutVariants {
  readonly count: number;
  /** Replaces the readout by number k. */
  use(k: number): void;
}

/** The readout as it is. */
export const oneReadout: ReadoutVariants = { count: 1, use: () => undefined };

/** What drives a reservoir, as it gets it: inputs, and the outputs that are forced. */
export interface Drive {
  readonly inputs: Matrix;
  readonly teacher: Matrix | undefined;
}

/** The reservoirs of a member, which are disposed with it. */
export const computersOf = ({ computers }: Pick<ForecastMember, "computers">): readonly AnyReservoirComputer[] => computers;

/** A trained model, with a position in its series. Several are an ensemble. */
export interface ForecastMember<State = unknown> {
  /** Reservoirs that it runs; none of a model without. */
  readonly computers: readonly AnyReservoirComputer[];
  /** One readout, or several of a field. */
  readonly readouts: readonly TrainedReadout[];
  readonly preprocessing: Pick<Preprocessing, "transforms" | "known" | "bounds">;
  /** Columns that it predicts. */
  readonly columns: number;
  /** Columns of its inputs, without those that are known beforehand. */
  readonly inputs: number;
  /** Columns that are fed back by weights of their own; 0 if none are. */
  readonly fedBack: number;
  /** Rows that it takes at least to start from. */
  readonly leastRows: number;
  /** Its position: setting it goes back there. */
  state: State;
  isState(value: unknown): value is State;
  /** To the initial state. */
  reset(): void;
  /** To the initial state, and from there over rows. */
  start(rows: CheckedData, signal: AbortSignal | undefined): void | Promise<void>;
  /** Moves on over rows. */
  follow(rows: CheckedSeries, signal: AbortSignal | undefined): void | Promise<void>;
  /** One-step predictions, one matrix for each of `variants`; moves on. */
  predict(rows: PredictedRows, work: WorkOptions, variants: ReadoutVariants): Promise<readonly Matrix<Float64Array>[]>;
  /** Closed loop; moves on, to anywhere. `outside` has one row a step, known or not. */
  forecast(steps: number, outside: Matrix | undefined, work: WorkOptions): Promise<Matrix<Float64Array>>;
  /** Replaces the last rows of the series that it keeps. @throws ArgumentError if they are too few */
  recall(history: Matrix): void;
  /** The loop of a forecast that nothing else drives. @throws ArgumentError if something does */
  autonomousLoop?(): AutonomousLoop;
  /** What drives its reservoir over rows from the initial state. */
  drive?(rows: CheckedData): Drive;
}

/** Trained members, and how they agree: the median of each group, then over the groups. */
export interface Trained<Member> {
  readonly members: readonly Member[];
  /** For each member its group. */
  readonly groups: readonly number[];
  /** What was chosen by forecasts; undefined without a horizon. */
  readonly choice: ForecasterChoice | undefined;
}

/** The rows that a model is trained on. */
export interface FitRows extends Omit<TrainingRows, "checked"> {
  readonly data: readonly CheckedData[];
  /** How many of the last columns of what is known are the calendar. */
  readonly calendarColumns: number;
}

/** Trains several series, each by itself beside what all of them train. */
export interface SeveralSeries<Member> {
  fit(all: readonly FitRows[], work: WorkOptions): Promise<readonly Trained<Member>[]>;
  /** Trains a series that is new, with what all the others trained; `like` is one of them. */
  further(rows: FitRows, like: Trained<Member>, work: WorkOptions): Promise<Trained<Member>>;
}

/** A model that is described, and how it is trained and saved. */
export interface ForecastModel<Settings extends SeriesSettings = SeriesSettings, Member extends ForecastMember = ForecastMember> {
  readonly kind: "forecaster" | "nvar" | "field";
  readonly settings: Settings;
  readonly rows: RowKind;
  /**
   * Trains members. @param previous members of an earlier fit, whose reservoirs it uses again or
   * disposes of
   */
  fit(rows: FitRows, previous: readonly Member[], work: WorkOptions): Promise<Trained<Member>>;
  /**
   * How several series are trained in one call, each a model of its own; undefined if they are
   * one's. @param areKeyed whether the user named them
   */
  several?(areKeyed: boolean): SeveralSeries<Member> | undefined;
  /** Puts the members into a model file. */
  encode(content: MutableContent, trained: Trained<Member>): void;
}
