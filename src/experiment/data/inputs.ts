// All rows that an experiment drives its reservoir with, to run them without training.
import { ArgumentError } from "@spillway/core/errors.js";
import { type Matrix, stackRows } from "@spillway/numerics";
import { plannedSize } from "../../model/forecaster/plan.js";
import { fitStandardisation, standardised } from "../../model/standardisation.js";
import type { OpenExperiment } from "../description/description.js";
import { loadExperiment } from "../description/file.js";
import { modelTypeOf } from "../description/model-options.js";
import { loadData } from "./data.js";
import { encoded } from "./encode.js";
import type { ExperimentData } from "./experiment-data.js";
import { prepareSeries, standardises } from "./prepare.js";

/** The reservoir of an experiment file for its first seed, and what it is driven with. */
export async function loadDriven(path: string, overrides?: readonly string[]) {
  const { experiment, path: file } = await loadExperiment(path, overrides);
  const seed = experiment.seeds[0]!;
  const inputs = inputsOf(experiment, await loadData(experiment, file, seed));
  return { experiment, seed, inputs, reservoir: drivenReservoir(experiment, inputs) };
}

/** The reservoir of the first seed for such inputs. */
function drivenReservoir({ reservoir, seeds }: OpenExperiment, { cols }: Matrix) {
  return { size: plannedSize, ...reservoir, seed: seeds[0]!, inputSize: cols };
}

/** What the experiment would drive its reservoir with, test part included. */
export function inputsOf(experiment: OpenExperiment, data: ExperimentData): Matrix {
  const type = modelTypeOf(experiment);
  if (type !== "forecaster") throw new ArgumentError("model.type", type, '"forecaster" here: what is asked for is of one reservoir');
  const raw =
    data.kind === "series"
      ? prepareSeries(experiment, data).whole.series
      : data.kind === "driven"
        ? data.inputs
        : stackRows([...encoded(experiment, { train: data.train, test: { sequences: [], labels: [] } }, data).train.cases.matrices()]);
  return standardises(experiment) ? standardised(fitStandardisation([raw]), raw) : raw;
}
