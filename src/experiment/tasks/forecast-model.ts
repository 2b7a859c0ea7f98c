import { orErrorLater } from "@spillway/core/errors.js";
import { Matrix } from "@spillway/numerics";
import type { MeasuredErrors } from "../../model/forecaster/bands.js";
import type { Forecaster, ForecasterData, ForecasterSequences, ForecastModel, TableNames, TimesOption } from "../../model/index.js";
import type { Figure } from "../../plot/index.js";
import type { TrainedReadout } from "../../readout/index.js";
import { type AnyReservoirComputer, NonFiniteStateError, type WorkOptions } from "../../reservoir/index.js";
import { asKnownAt, describedRows, type PreparedSeries } from "../data/prepare.js";
import type { Experiment, ForecastTask } from "../description/description.js";
import { underModel } from "../description/model-options.js";
import type { RunFile } from "../runs/output-folder.js";
import { choiceOf, weighedOf } from "./forecast-choice.js";
import { stateFigures, streamStates } from "./states.js";
import { radiusOf, type Trial } from "./trial.js";

/** A series, and how many of its first rows train. */
export type TrainingRows = Pick<PreparedSeries, "whole" | "facts" | "trainRows" | "group">;

/** A row of a series, from which on it is forecast. */
export interface RowPoint extends Pick<PreparedSeries, "whole" | "facts" | "group"> {
  readonly at: number;
}

/** What beside the rows a training has. */
interface FitWork {
  /** What a model file keeps of a CSV file's columns. */
  readonly table?: TableNames | undefined;
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** How a model is trained. */
export interface ModelPlan {
  /** Rows that drive it before each forecast, at most. */
  readonly warmup: number;
  /** Rows before a forecast, at least. */
  readonly fewest: number;
  fit(series: readonly TrainingRows[], work: FitWork): Promise<RunModel>;
}

export type ForecastExperiment = Experiment & { readonly task: ForecastTask };

/** A forecaster of any model, and the rows that it is trained on. */
interface Fitting<Model extends ForecastModel> {
  readonly warmup: number;
  /** Left out, as many as `warmup`. */
  readonly fewest?: number | undefined;
  /** The first row that trains. */
  readonly from: number;
  readonly signal: AbortSignal | undefined;
  train(
    data: ForecasterData | ForecasterSequences,
    work: TimesOption & { readonly table?: TableNames | undefined } & WorkOptions,
  ): Promise<Forecaster<Model>>;
}

export function modelPlan<Model extends ForecastModel>(
  experiment: ForecastExperiment,
  { warmup, fewest = warmup, from, signal, train }: Fitting<Model>,
): ModelPlan {
  return {
    warmup,
    fewest,
    async fit(series, { table, onProgress }) {
      const sequences = series.map(({ whole: { measured, lost }, facts, trainRows }) =>
        describedRows(measured, facts, from, lost + trainRows),
      );
      const keys = keysOf(series);
      const rows = sequences.length === 1 ? sequences[0]! : { sequences: new Map(sequences.map((one, s) => [keys[s]!, one])) };
      const forecaster = await train(rows, { table, onProgress }).catch((error: unknown) => {
        throw underModel(error, experiment);
      });
      const keyOf = (group: string | undefined) => (forecaster.keys.includes(group ?? "0") ? (group ?? "0") : undefined);
      const stateAtEnd = forecaster.state;
      const computer: AnyReservoirComputer | undefined = forecaster.computers[0];
      const rowsOf = ({ whole: { measured, lost }, facts }: Omit<RowPoint, "at">, first: number, last: number) =>
        describedRows(measured, facts, Math.max(0, first), lost + last);
      const weighed = weighedOf(forecaster);
      // A field has several reservoirs, none of which shows its states.
      const shown = forecaster.kind === "forecaster" && !weighed ? computer : undefined;
      const described = weighed && weighed.members[0]!.name !== "loop" ? undefined : computer;
      return {
        get found() {
          return {
            ...(computer && {
              engine: computer.engine,
              profile: computer.profile,
            }),
            ...(described && { reservoir: described.config, ...radiusOf(described.model) }),
            readout: { ...(forecaster.readouts[0] as TrainedReadout | undefined)?.training },
            choice: choiceOf(forecaster),
            weighed,
          };
        },
        triesCalendar: forecaster.choice?.candidates.some(({ calendar }) => calendar) ?? false,
        measuredOf: (group) => {
          const key = keyOf(group);
          return key === undefined ? forecaster.choice : forecaster.choiceOf(key);
        },
        forecast: (steps, point) =>
          forecaster.forecast(steps, {
            key: keyOf(point.group),
            warmup: rowsOf(point, point.at - warmup, point.at),
            known: point.facts.known?.subarray(point.whole.lost + point.at, point.whole.lost + point.at + steps),
            signal,
          }),
        async stateFigures(point, steps) {
          if (!shown) return [];
          const drive = await forecaster.drive(rowsOf(point, point.at - warmup, point.at + steps));
          return stateFigures(shown, drive, -warmup, signal!);
        },
        async saveStates(one, folder, every, stop) {
          if (!shown) return [];
          return streamStates(shown, await forecaster.drive(rowsOf(one, 0, one.whole.series.rows)), folder, every, stop);
        },
        async save(path) {
          forecaster.state = stateAtEnd;
          await forecaster.save(path);
        },
        dispose: () => forecaster.dispose(),
      };
    },
  };
}

/** A key for each series: its group. Of the parts that gaps split the last has it as it is. */
function keysOf(series: readonly TrainingRows[]): readonly string[] {
  const names = series.map(({ group }, s) => group ?? String(s));
  return names.map((name, s) =>
    names.lastIndexOf(name) === s ? name : `${name}, part ${names.slice(0, s + 1).filter((other) => other === name).length}`,
  );
}

/** A trained model. */
export interface RunModel {
  /** What a result says of it. */
  readonly found: Pick<Trial, "engine" | "reservoir" | "measuredRadius" | "radiusMethod" | "readout" | "choice" | "weighed" | "profile">;
  /** Whether the calendar was among what it chose from. */
  readonly triesCalendar: boolean;
  /** Errors of the forecasts that its settings were chosen by; undefined if none were. */
  measuredOf(group?: string): MeasuredErrors | undefined;
  /** The rows from a row on, driven by the warm-up before it. */
  forecast(steps: number, point: RowPoint): Promise<Matrix>;
  /** Its states up to `steps` rows after a row; none if it has no states to show. */
  stateFigures(point: RowPoint, steps: number): Promise<readonly Figure[]>;
  /** Writes states over a whole series; a model without any is refused when the file is read. */
  saveStates(series: TrainingRows, folder: string, every: number, stop: AbortSignal): Promise<readonly RunFile[]>;
  /** Writes the model as it was after training. */
  save(path: string): Promise<void>;
  dispose(): Promise<void>;
}

/** A forecast whose states leave for infinity is all NaN: it scores as worst. */
export async function closedLoop(model: RunModel, steps: number, point: RowPoint): Promise<Matrix> {
  const made = await orErrorLater(() => model.forecast(steps, asKnownAt(point)), NonFiniteStateError);
  return made instanceof Error ? Matrix.zeros(steps, point.whole.original.cols).map(() => Number.NaN) : made;
}
