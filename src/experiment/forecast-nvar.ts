// The model "nvar" of a forecast: polynomials of delays.
import { NvarForecaster } from "../model/index.js";
import { describedRows, type PreparedSeries, standardises } from "./data/prepare.js";
import { historyOf, type NvarDescription, underModel } from "./description/model-options.js";
import type { FitWork, ForecastExperiment, ModelPlan, RunModel, TrainingRows } from "./forecast-model.js";
import { choiceOf, isLongEnough, longestOf } from "./tasks/forecast-choice.js";
import { seriesOptions, type TrialOptions } from "./tasks/trial.js";

/**
 * Lambda is chosen by forecasts, if the file leaves it out and the training part is long enough.
 */
export function planNvar(experiment: ForecastExperiment, { signal }: TrialOptions, trained: readonly PreparedSeries[]): ModelPlan {
  const { task, washout } = experiment;
  const { type: _, ...model } = experiment.model as NvarDescription;
  const { horizon } = task;
  const history = historyOf(model);
  const isChosen = model.lambda === undefined && isLongEnough(longestOf(trained), { horizon, washout: history });
  const warmup = Math.max(task.warmup, history);
  const options = { ...model, ...seriesOptions(experiment), standardise: standardises(experiment), ...(isChosen && { horizon }), signal };
  // The washout counts the rows that the delays of the first target reach over.
  const from = washout - (history - 1);
  const fit = async (series: readonly TrainingRows[], { table, onProgress }: FitWork): Promise<RunModel> => {
    const sequences = series.map(({ whole, facts, trainRows }) => describedRows(whole.measured, facts, from, trainRows));
    const forecaster = await NvarForecaster.fit({ sequences }, { ...options, table, onProgress }).catch((error: unknown) => {
      throw underModel(error, experiment);
    });
    return {
      found: { readout: { ...forecaster.readout.training }, choice: choiceOf(forecaster) },
      measured: forecaster.choice,
      forecast: (steps, { whole, facts, at }) =>
        forecaster.forecast(steps, {
          warmup: describedRows(whole.measured, facts, at - warmup, at),
          known: facts.known?.subarray(at, at + steps),
          signal,
        }),
      stateFigures: async () => [],
      saveStates: async () => [],
      save: (path) => forecaster.save(path),
      dispose: () => forecaster.dispose(),
    };
  };
  return { warmup, fit };
}
