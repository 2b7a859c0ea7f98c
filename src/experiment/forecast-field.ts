// The model "field" of a forecast: local reservoirs side by side.
import { FieldForecaster } from "../model/index.js";
import type { RidgeOptions } from "../readout/index.js";
import type { ReservoirOptions } from "../reservoir/index.js";
import { describedRows, ownTransforms, type PreparedSeries, standardises } from "./data/prepare.js";
import { type FieldDescription, underModel } from "./description/model-options.js";
import type { FitWork, ForecastExperiment, ModelPlan, RunModel, TrainingRows } from "./forecast-model.js";
import { choiceOf, isLongEnough, longestOf } from "./tasks/forecast-choice.js";
import { radiusOf, seriesOptions, type TrialOptions } from "./tasks/trial.js";

/**
 * Lambda is chosen by forecasts, if the file leaves it out and the training part is long enough.
 */
export function planField(
  experiment: ForecastExperiment,
  { seed, engine, threads, signal }: TrialOptions,
  trained: readonly PreparedSeries[],
): ModelPlan {
  const { task, washout, reservoir } = experiment;
  const { type: _, ...model } = experiment.model as FieldDescription;
  const { type: __, ...readout } = experiment.readout as RidgeOptions & { readonly type?: string };
  const { horizon, warmup } = task;
  const isOpen = readout.lambda === undefined && readout.selection === undefined;
  const isChosen = isOpen && isLongEnough(longestOf(trained), { horizon, washout });
  const options = {
    ...model,
    ...seriesOptions(experiment),
    ...{ readout, washout, engine, threads, signal },
    reservoir: { ...(reservoir as ReservoirOptions), seed },
    transforms: ownTransforms(experiment),
    standardise: standardises(experiment),
    ...(task.members !== undefined && { members: task.members }),
    ...(isChosen && { horizon }),
  };
  const fit = async (series: readonly TrainingRows[], { table, onProgress }: FitWork): Promise<RunModel> => {
    const sequences = series.map(({ whole: { measured, lost }, facts, trainRows }) => describedRows(measured, facts, 0, lost + trainRows));
    const forecaster = await FieldForecaster.fit({ sequences }, { ...options, table, onProgress }).catch((error: unknown) => {
      throw underModel(error, experiment);
    });
    const stateAtEnd = forecaster.state;
    const computer = forecaster.computers[0]!;
    return {
      found: {
        engine: computer.engine,
        reservoir: computer.config,
        ...radiusOf(computer.model),
        readout: { ...forecaster.readouts[0]!.training },
        choice: choiceOf(forecaster),
      },
      measured: forecaster.choice,
      forecast: (steps, { whole: { measured, lost }, facts, at }) =>
        forecaster.forecast(steps, {
          warmup: describedRows(measured, facts, at - warmup, lost + at),
          known: facts.known?.subarray(lost + at, lost + at + steps),
          signal,
        }),
      stateFigures: async () => [],
      saveStates: async () => [],
      save: async (path) => {
        forecaster.state = stateAtEnd;
        await forecaster.save(path);
      },
      dispose: () => forecaster.dispose(),
    };
  };
  return { warmup, fit };
}
