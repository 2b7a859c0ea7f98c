// Task "predict": one seed trained on the first rows, then asked for one output a row: the next
// value of a series, or the target of an input.

import { orDispose } from "@spillway/core/disposal.js";
import { ArgumentError, isNumeric, orErrorLater, SpillwayError } from "@spillway/core/errors.js";
import { warnOnce } from "@spillway/core/warning.js";
import type { Matrix } from "@spillway/numerics";
import { stackRows } from "@spillway/numerics";
import { noInputs } from "../../model/forecaster/data.js";
import { oneReadout } from "../../model/forecaster/model.js";
import { Forecaster } from "../../model/index.js";
import { plotError, plotForecast } from "../../plot/index.js";
import { baselineName, predictBaseline, rowsLost } from "../../series/index.js";
import type { DrivenData, SeriesData } from "../data/experiment-data.js";
import { asKnown, measuredRows, ownTransforms, prepareDriven, prepareSeries, rowsAhead, rowText, splitSeries } from "../data/prepare.js";
import type { Experiment, PredictTask } from "../description/description.js";
import { ExperimentError } from "../description/errors.js";
import { learns } from "../description/parse.js";
import { columnResults, type ScoreContext, scoreSeries, unmeasuredSaid } from "./scores.js";
import { type Drive, shownSteps, stateFigures, streamStates } from "./states.js";
import { forecasterOptions, notRefittedSaid, radiusOf, StagedProgress, Stopwatch, type Trial, type TrialOptions } from "./trial.js";

export type PredictExperiment = Experiment & { readonly task: PredictTask };

/** Rows for a model, and how its outputs become predictions in the units of the data. */
export interface PredictionRows {
  readonly train: Drive & { readonly targets: Matrix };
  /** `teacher` is what may be fed back while it predicts: what is known by then. */
  readonly test: Drive & { readonly rows: number; readonly targets: Matrix };
  /** Inputs at the end, whose targets are not known. */
  readonly rest: Matrix;
  /** Rows at the start of a separate test part that only drive the reservoir. */
  readonly skipped: number;
  readonly isSeparate: boolean;
  /** What came in the test part, in the units of the data; NaN where it was not measured. */
  readonly target: Matrix<Float64Array>;
  readonly restore: (prediction: Matrix) => Matrix;
  /**
   * The series of targets that baselines know, in the units of the data, and where its test part
   * begins.
   */
  readonly known: { readonly series: Matrix<Float64Array>; readonly start: number; readonly training: Matrix<Float64Array> };
}

export async function runPrediction(experiment: PredictExperiment, data: SeriesData | DrivenData, options: TrialOptions): Promise<Trial> {
  const { metrics, scoring, washout } = experiment;
  const ahead = rowsAhead(experiment, data.kind);
  const { signal } = options;
  const isFedBack = hasFeedback(experiment);
  const rows = predictionRows(experiment, data);
  const trainRows = rows.train.inputs.rows;
  const all = options.refits ? predictionRows({ ...experiment, split: { train: 1 } }, { ...data, test: undefined }) : undefined;
  const allRows = all && all.train.inputs.rows > trainRows ? all.train.inputs.rows : 0;
  const progress = new StagedProgress(options.onProgress, trainRows + rows.test.rows + allRows);
  const watch = new Stopwatch();
  const names = { columns: data.names, inputs: data.kind === "driven" ? data.inputNames : isFedBack ? [] : data.names };
  const lost = data.kind === "series" ? rowsLost(ownTransforms(experiment)) : 0;
  const train = ({ inputs, targets }: PredictionRows["train"]) => {
    const table = {
      ...names,
      trainedTo: rowText(data.axis, lost + inputs.rows + (isFedBack ? 0 : ahead) - 1),
      ...(rows.test.rows > 0 && !rows.isSeparate && { scoredFrom: rowText(data.axis, lost + trainRows + (isFedBack ? 0 : ahead)) }),
    };
    return Forecaster.fit(
      { inputs, targets },
      { ...forecasterOptions(experiment, options), table, onProgress: progress.stage(inputs.rows) },
    );
  };
  const forecaster = await watch.time("train", () => train(rows.train));
  const { computer } = forecaster;
  const trained = forecaster.state;
  const run = async (): Promise<Trial> => {
    const onProgress = progress.stage(rows.test.rows);
    if (rows.isSeparate) forecaster.reset();
    const inputs = rows.test.inputs.cols === 0 ? { steps: rows.test.inputs.rows } : rows.test.inputs;
    // Outputs of readouts that learn row by row are scored in binary64, others as the
    // reservoir rounds them.
    const precision = learns(experiment.readout).online ? "float64" : undefined;
    const target = rows.target.subarray(rows.skipped);
    const isTested = target.rows > 0;
    const unmeasured = target.data.filter(Number.isNaN).length;
    if (isTested && unmeasured === target.data.length)
      throw new ExperimentError("the test part has no measured value; take other rows to test (split.test)");
    const leftOut = unmeasured === 0 ? [] : [unmeasuredSaid(unmeasured, target.data.length)];
    const context: ScoreContext = { scoring };
    const { lambdaPath } = options;
    // The states do not depend on the penalty: one pass serves all readouts of a path.
    const made = await watch.time("test", async () =>
      !isTested
        ? []
        : forecaster.predictEach(inputs, { signal, onProgress, precision, teacher: rows.test.teacher }, lambdaPath?.readouts ?? oneReadout),
    );
    const predictions = made.map((each) => rows.restore(each).subarray(rows.skipped));
    const score = (prediction: Matrix) => scoreSeries([{ prediction, target }], metrics, context);
    const { series, start, training: trainingTargets } = rows.known;
    const baselines = (isTested ? experiment.baselines : [])
      .filter((each) => each !== "majority")
      .map((baseline) => {
        const prediction = predictBaseline(baseline, series, start + rows.skipped, target.rows, Math.max(1, ahead), trainingTargets);
        return { name: baselineName(baseline), outcomes: [{ prediction, target }] };
      });
    const { model } = computer;
    const drive = ({ inputs, teacher }: Drive) => forecaster.drive({ inputs: inputs.cols > 0 ? inputs : undefined, targets: teacher });
    return {
      engine: computer.engine,
      reservoir: computer.config,
      ...radiusOf(model),
      readout: { ...forecaster.readout.training },
      scores: isTested ? score(predictions[0]!) : {},
      lambdaPath: lambdaPath?.byTrainer(predictions.map(score)),
      columns: isTested ? columnResults(data.names, [{ prediction: predictions[0]!, target }], baselines, metrics, context) : undefined,
      baselines: Object.fromEntries(baselines.map(({ name, outcomes }) => [name, scoreSeries(outcomes, metrics, context)])),
      timing: watch.seconds,
      profile: computer.profile,
      summary: `${wordsOf(data.kind, ahead)}; trained on ${trainRows} rows (${washout} of them washout), ${isTested ? `tested on ${target.rows}` : "without a test part"}${leftOut.map((each) => `; ${each}`).join("")}`,
      leftOut,
      figures:
        options.withFigures && isTested
          ? [
              ...predictionFigures(predictions[0]!, target, data.names),
              ...(await stateFigures(computer, await drive(testDrive(rows, isFedBack)), 0, signal)),
            ]
          : [],
      unit: () => undefined,
      save: async (path) => {
        if (all && allRows > 0) {
          const refitted = await watch.time("refit", () => orErrorLater(() => train(all.train), isNumeric));
          if (!(refitted instanceof SpillwayError)) {
            await using saved = refitted;
            // Inputs whose targets are not there yet: the rows after them can follow.
            if (all.rest.rows > 0) await saved.predict(all.rest, { signal });
            await saved.save(path);
            return [];
          }
          warnOnce("SpillwayRefitWarning", notRefittedSaid(refitted));
        }
        forecaster.state = trained;
        await forecaster.save(path);
        return [];
      },
      saveStates: async (folder, every, stop) => streamStates(computer, await drive(wholeDrive(rows, isFedBack)), folder, every, stop),
      dispose: () => forecaster.dispose(),
    };
  };
  return orDispose(forecaster, run);
}

/** What trains and what is predicted. @throws ExperimentError if a part has no rows */
export function predictionRows(experiment: PredictExperiment, data: SeriesData | DrivenData): PredictionRows {
  return data.kind === "series" ? seriesRows(experiment, data, hasFeedback(experiment)) : drivenRows(experiment, data);
}

function hasFeedback({ reservoir }: PredictExperiment): boolean {
  return reservoir.feedback !== undefined && reservoir.feedback !== null;
}

function seriesRows(experiment: PredictExperiment, data: SeriesData, isFedBack: boolean): PredictionRows {
  const ahead = rowsAhead(experiment, "series");
  if (isFedBack && ahead !== 1) throw new ArgumentError("task.ahead", ahead, "1 if outputs are fed back");
  const { whole, trainRows, test } = prepareSeries(experiment, seriesAsKnown(experiment, data));
  const shift = isFedBack ? 0 : ahead;
  const from = test.from;
  const targets = (series: Matrix<Float64Array>, start: number, rows: number) => series.subarray(start + ahead, start + ahead + rows);
  const testTargets = targets(test.whole.series, from, test.rows);
  const inputs = (series: Matrix, start: number, rows: number) => (isFedBack ? noInputs(rows) : series.subarray(start, start + rows));
  const trainTargets = isFedBack ? whole.series.subarray(0, trainRows + 1) : targets(whole.series, 0, trainRows);
  return {
    train: { inputs: inputs(whole.series, 0, trainTargets.rows), targets: trainTargets },
    test: {
      inputs: inputs(test.whole.series, from, test.rows),
      teacher: isFedBack ? testTargets : undefined,
      targets: testTargets,
      rows: test.rows,
    },
    rest: isFedBack ? noInputs(0) : test.whole.series.subarray(from + test.rows),
    skipped: skippedRows(experiment, test.isSeparate, test.rows),
    isSeparate: test.isSeparate,
    target: measuredRows(test.whole, test.facts, from + ahead, test.rows),
    restore: (prediction) => test.whole.undo(prediction, from + ahead, false),
    known: {
      series: test.whole.original,
      start: from + ahead,
      training: whole.original.subarray(experiment.washout + shift, trainRows + shift),
    },
  };
}

/** Each row of the test part as it was known at its own time. */
function seriesAsKnown(experiment: PredictExperiment, data: SeriesData): SeriesData {
  const { series, filled, test, testFilled } = data;
  const from = rowsLost(ownTransforms(experiment)) + splitSeries(experiment, data).train;
  return { ...data, series: asKnown(series, filled, from, series.rows), test: test && asKnown(test, testFilled, 0, test.rows) };
}

function wordsOf(kind: "series" | "driven", ahead: number): string {
  const distance = ahead === 0 ? "" : ` ${ahead} row${ahead === 1 ? "" : "s"} ahead`;
  return kind === "series" ? `prediction${distance}` : `prediction of targets${distance} from inputs`;
}

function drivenRows(experiment: PredictExperiment, data: DrivenData): PredictionRows {
  const ahead = rowsAhead(experiment, "driven");
  const { train: training, test, known } = prepareDriven(experiment, data);
  const { targets } = test;
  return {
    train: training,
    test: { inputs: test.inputs, targets, rows: targets.rows },
    rest: (known.test ?? known).inputs.subarray((test.isSeparate ? 0 : training.targets.rows) + targets.rows),
    skipped: skippedRows(experiment, test.isSeparate, targets.rows),
    isSeparate: test.isSeparate,
    target: test.came,
    restore: (prediction) => prediction,
    known: {
      series: test.isSeparate ? known.test!.targets : known.targets,
      start: ahead + (test.isSeparate ? 0 : training.targets.rows),
      training: training.targets.subarray(experiment.washout),
    },
  };
}

/**
 * A test part that does not follow the training part begins in the initial state, whose trace the
 * washout leaves out of the score.
 */
function skippedRows({ washout }: Experiment, isSeparate: boolean, rows: number): number {
  if (!isSeparate) return 0;
  if (washout >= rows)
    throw new ArgumentError("washout", washout, `fewer than the ${rows} rows of the test file: some must be left to test`);
  return washout;
}

/** What drives the reservoir over the first rows of the test part. */
function testDrive({ test }: PredictionRows, hasFeedback: boolean): Drive {
  const shown = Math.min(test.rows, 2 * shownSteps);
  return { inputs: test.inputs.subarray(0, shown), teacher: hasFeedback ? test.targets.subarray(0, shown) : undefined };
}

/** What drives the reservoir over the training part and, if it follows, the test part. */
function wholeDrive({ train: training, test, isSeparate }: PredictionRows, hasFeedback: boolean): Drive {
  const parts = isSeparate ? [training] : [training, test];
  return {
    inputs: stackRows(parts.map(({ inputs }) => inputs)),
    teacher: hasFeedback ? stackRows(parts.map(({ targets }) => targets)) : undefined,
  };
}

/**
 * Steps of the test part that are drawn: the first ones, if single steps are still visible.
 */
const drawnSteps = 300;

function predictionFigures(prediction: Matrix, target: Matrix, names: readonly string[]) {
  const drawn = Math.min(target.rows, drawnSteps);
  if (!prediction.data.every(Number.isFinite)) return [];
  return [
    plotForecast(prediction.subarray(0, drawn), target.subarray(0, drawn), {
      title: drawn < target.rows ? `Prediction against target, the first ${drawn} steps of the test part` : "Prediction against target",
      names,
      timeLabel: "step of the test part",
    }),
    plotError([prediction], [target], { title: "Error over the test part", timeLabel: "step of the test part" }),
  ];
}
