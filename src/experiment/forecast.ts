// Task "forecast": one seed trained on the first rows of a series, then let run in closed loop from
// several starts.
import { metrics as metricParts } from "../metrics/index.js";
import { noInputs } from "../model/forecaster-data.js";
import { Forecaster } from "../model/index.js";
import { Matrix } from "../numerics/index.js";
import { plotError, plotForecast } from "../plot/index.js";
import { NonFiniteStateError } from "../reservoir/index.js";
import { baselineName, forecastBaseline } from "./baselines.js";
import { generateIndependent, type SeriesData } from "./data.js";
import type { BaselineDescription, Experiment, ForecastTask, GeneratedData, MetricName } from "./description.js";
import { type PreparedSeries, prepareSeries, startRows } from "./prepare.js";
import type { Scores } from "./result.js";
import { type Outcome, type ScoreContext, scoreSeries } from "./scores.js";
import { DriveScale, stateFigures, streamStates } from "./states.js";
import { type TransformedSeries, transformSeries } from "./transforms.js";
import { forecasterOptions, radiusOf, StagedProgress, Stopwatch, type Trial, type TrialOptions } from "./trial.js";

/** Where one forecast starts: row `at` of a series. */
interface StartPoint {
  readonly whole: TransformedSeries;
  readonly at: number;
}

/**
 * Most rows before a start that a figure shows, and most of them for each row of the forecast: a
 * short forecast must not be lost behind them.
 */
const shownBefore = 60;
const shownBeforeEach = 3;

export async function runForecast(
  experiment: Experiment & { readonly task: ForecastTask },
  data: SeriesData,
  options: TrialOptions,
): Promise<Trial> {
  const { task, scoring, metrics } = experiment;
  const { horizon, warmup } = task;
  const { signal } = options;
  const prepared = prepareSeries(experiment, data);
  const { whole, trainRows } = prepared;
  const starts = startPoints(experiment, prepared, options);
  const progress = new StagedProgress(options.onProgress, trainRows + starts.length * (warmup + horizon));
  const watch = new Stopwatch();

  const training = whole.series.subarray(0, trainRows);
  const forecaster = await watch.time("train", () =>
    Forecaster.fit(training, { ...forecasterOptions(experiment, options), onProgress: progress.stage(trainRows) }),
  );
  const { computer } = forecaster;
  const trained = computer.state;
  try {
    const outcomes: Outcome[] = [];
    await watch.time("test", async () => {
      for (const { whole: series, at } of starts) {
        progress.stage(warmup + horizon);
        const raw = await closedLoop(forecaster, horizon, series.series.subarray(at - warmup, at), signal);
        outcomes.push({ prediction: series.undo(raw, at, true), target: series.original.subarray(at, at + horizon) });
      }
    });
    const reference = whole.original.subarray(experiment.washout, trainRows);
    const dt = scoring.dt ?? data.dt;
    const context: ScoreContext = { scoring, reference, dt, lyapunovExponent: scoring.lyapunovExponent ?? data.lyapunovExponent };
    const baselines = experiment.baselines.map((baseline) => ({
      baseline,
      scores: scoreSeries(baselineOutcomes(baseline, starts, horizon, reference), metrics, context),
    }));
    const { model } = computer;
    const teacher = model.outputSize > 0;
    const scale = new DriveScale(
      experiment.transforms.includes("standardise") ? { inputs: training, teacher: teacher ? training : undefined } : undefined,
    );
    const drive = (series: Matrix) => scale.apply(teacher ? { inputs: noInputs(series.rows), teacher: series } : { inputs: series });
    return {
      engine: computer.engine,
      reservoir: computer.config,
      ...radiusOf(model),
      readout: { ...forecaster.readout.training },
      scores: scoreSeries(outcomes, metrics, context),
      baselines: Object.fromEntries(baselines.map(({ baseline, scores }) => [baselineName(baseline), scores])),
      timing: watch.seconds,
      profile: computer.profile,
      summary: `closed-loop forecast of ${horizon} steps from ${starts.length} start${starts.length === 1 ? "" : "s"}, each after ${warmup} rows; trained on ${trainRows} rows (${experiment.washout} of them washout)`,
      figures: options.withFigures
        ? await figures(experiment, data, prepared, starts, outcomes, reference, bestBaseline(baselines, metrics[0]), () => {
            const { whole: series, at } = starts[0]!;
            return stateFigures(computer, drive(series.series.subarray(at - warmup, at + horizon)), -warmup, signal);
          })
        : [],
      unit: (metric) => metricParts.get(metric).unit?.(context),
      save: async (path) => {
        computer.state = trained;
        await forecaster.save(path);
        return [];
      },
      saveStates: (folder, every, stop) => streamStates(computer, drive(whole.series), folder, every, stop),
      dispose: () => forecaster.dispose(),
    };
  } catch (error) {
    await forecaster.dispose();
    throw error;
  }
}

/** A forecast whose states leave for infinity is all NaN: it scores as worst. */
async function closedLoop(forecaster: Forecaster, steps: number, warmup: Matrix, signal: AbortSignal): Promise<Matrix> {
  try {
    return await forecaster.forecast(steps, { warmup, signal });
  } catch (error) {
    if (!(error instanceof NonFiniteStateError)) throw error;
    const out = Matrix.zeros(steps, warmup.cols);
    out.data.fill(Number.NaN);
    return out;
  }
}

function startPoints(
  experiment: Experiment & { readonly task: ForecastTask },
  prepared: PreparedSeries,
  { seed }: TrialOptions,
): StartPoint[] {
  const { task, data, transforms } = experiment;
  const { horizon, starts, warmup } = task;
  if (!task.independent) return startRows(task, prepared).map((at) => ({ whole: prepared.test.whole, at }));
  const generated = data as GeneratedData;
  const base = generated.redraw ? seed : (generated.options["seed"] ?? "spillway");
  const lost = prepared.whole.lost;
  return Array.from({ length: starts }, (_, k) => {
    const series = generateIndependent(generated, lost + warmup + horizon, `${String(base)}/start ${k}`);
    return { whole: transformSeries(series, transforms), at: warmup };
  });
}

function baselineOutcomes(
  baseline: BaselineDescription,
  starts: readonly StartPoint[],
  horizon: number,
  reference: Matrix<Float64Array>,
): Outcome[] {
  return starts.map(({ whole, at }) => ({
    prediction: forecastBaseline(baseline, whole.original, at, horizon, reference),
    target: whole.original.subarray(at, at + horizon),
  }));
}

/** The baseline that does best by a metric, for the figure; undefined if there is none. */
function bestBaseline(
  baselines: readonly { readonly baseline: BaselineDescription; readonly scores: Scores }[],
  metric: MetricName | undefined,
): BaselineDescription | undefined {
  const rank = ({ scores }: (typeof baselines)[number]) => {
    const value = metric === undefined ? Number.NaN : scores[metric]!;
    return Number.isNaN(value) ? Number.POSITIVE_INFINITY : metricParts.get(metric!).better === "lower" ? value : -value;
  };
  return baselines.toSorted((a, b) => rank(a) - rank(b))[0]?.baseline;
}

async function figures(
  experiment: Experiment & { readonly task: ForecastTask },
  data: SeriesData,
  prepared: PreparedSeries,
  starts: readonly StartPoint[],
  outcomes: readonly Outcome[],
  reference: Matrix<Float64Array>,
  baseline: BaselineDescription | undefined,
  states: () => ReturnType<typeof stateFigures>,
) {
  const { task } = experiment;
  const { whole, at } = starts[0]!;
  const first = outcomes[0]!;
  const from = Math.max(0, at - Math.min(shownBefore, shownBeforeEach * task.horizon, task.warmup));
  const times = whole === prepared.whole ? data.times?.slice(from + whole.lost, at + whole.lost + task.horizon) : undefined;
  const when = times?.[at - from];
  const finite = outcomes.filter(({ prediction }) => prediction.data.every(Number.isFinite));
  return [
    plotForecast(first.prediction, first.target, {
      title: `Forecast from ${when ?? (starts.length > 1 ? "the first start" : "the end of the training part")}`,
      names: data.names,
      before: whole.original.subarray(from, at),
      times,
      ...(baseline
        ? { baseline: forecastBaseline(baseline, whole.original, at, task.horizon, reference), baselineName: baselineName(baseline) }
        : {}),
    }),
    ...(finite.length > 0
      ? [
          plotError(
            finite.map(({ prediction }) => prediction),
            finite.map(({ target }) => target),
            { title: "Error by step of the forecast", timeLabel: "step of the forecast", start: 1 },
          ),
        ]
      : []),
    ...(await states()),
  ];
}
