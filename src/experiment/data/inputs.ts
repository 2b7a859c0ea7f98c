// All rows that an experiment drives its reservoir with, to run them without training.
import { ArgumentError } from "@spillway/core/errors.js";
import { type Matrix, stackRows } from "@spillway/numerics";
import { plannedSize } from "../../model/forecaster/plan.js";
import { fitStandardisation, standardised } from "../../model/standardisation.js";
import type { OpenExperiment } from "../description/description.js";
import { modelTypeOf } from "../description/model-options.js";
import { encoded } from "./encode.js";
import type { ExperimentData } from "./experiment-data.js";
import { prepareSeries, standardises } from "./prepare.js";

/** The reservoir of the first seed for such inputs. */
export function drivenReservoir({ reservoir, seeds }: OpenExperiment, { cols }: Matrix) {
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
