// What the fields of an experiment file take, one by one. How they go together is checked in
// parse.ts.
import {
  text as anyText,
  byType,
  checked,
  choice,
  choiceOf,
  count,
  either,
  filled,
  flag,
  given,
  type Kind,
  list,
  number,
  object,
  objectLater,
  option,
  optional,
  seed,
  tuple,
  whole,
} from "@spillway/core/options.js";
import { metrics } from "../../metrics/index.js";
import { anomalyTable } from "../../model/anomaly/options.js";
import { classifierTable } from "../../model/classifier/options.js";
import { forecasterTable, memberNames, weightsOption } from "../../model/forecaster/options.js";
import { readouts } from "../../readout/index.js";
import { groupedKind, layeredKind } from "../../reservoir/composite/schema.js";
import { reservoirKind } from "../../reservoir/config-table.js";
import { engineTable, planTable } from "../../reservoir/options.js";
import { anyRegisteredKind } from "../../reservoir/registered/kind.js";
import { transformKind } from "../../series/transform-kinds.js";
import { encoders } from "../../spikes/index.js";
import { liquidKind, spikingKind } from "../../spikes/liquid/schema.js";
import { bins, dataKinds } from "./data-tables.js";
import { column, text } from "./file-table.js";
import { modelSchemas } from "./model-options.js";

const washoutTakes = 'a whole number of at least 0, or "auto"';
const startsTakes = 'a whole number of at least 1, or "auto"';
const warmupTakes = 'a whole number of at least 1, or "auto"';
const positive = (takes = "a number above 0") => number({ above: 0, takes });
const rowsOrShare = (takes: string) => number({ above: 0, accepts: (value) => value < 1 || Number.isInteger(value), takes });
const trainTakes = "a whole number of rows above 1, or a share above 0 and of at most 1, which is all rows";
const testTakes = "a whole number of rows of at least 1, or a share above 0 and below 1";
/** The most seeds, members of an ensemble, and starts of forecasts; and the longest forecast. */
const most = { seeds: 100_000, members: 1000, starts: 100_000, horizon: 1_000_000 };
const atLeast = (least: number, largest?: number) => count(least, largest);
const encode = object(
  {
    encoder: given(choiceOf(encoders), "What gives spikes, or as cochleagram levels by frequency."),
    ...bins,
  },
  "an object with encoder and its options",
  "kept",
);

const { columns: _, seed: __, ...anomalies } = anomalyTable;
const rowOrStamp = either("a row or a time stamp", anyText(), whole());

export const labelsFileTable = {
  file: given(text("the path of a CSV file"), "A CSV file with a header and a line for each anomaly: a path as for data.file."),
  start: optional(column, "The column of first rows or time stamps; left out, start, or else the first one."),
  end: optional(column, "The column of last ones; left out, end, if there is such a column."),
};

export const taskTables = {
  predict: {
    type: given(choice("predict"), ""),
    /**
     * Default 1 for a series, and 0, the target row of this input row, if inputs drive a reservoir.
     */
    ahead: optional(
      atLeast(1),
      "How many rows ahead the value to predict is; left out, 1 for a series, and the same row if inputs are given with targets.",
    ),
  },
  forecast: {
    type: given(choice("forecast"), ""),
    horizon: given(atLeast(1, most.horizon), "Steps that are forecast."),
    /** "auto": as many as fit into the test part, at most 50. */
    starts: option(
      either(startsTakes, count(1, most.starts, startsTakes), choice("auto")),
      "auto",
      "Forecasts, from several rows of the test part; auto, as many as fit, at most 50.",
    ),
    /** Rows the reservoir is driven with before each start. */
    warmup: option(
      either(warmupTakes, count(1, undefined, warmupTakes), choice("auto")),
      "auto",
      "Rows that drive the reservoir before each start; auto, 100, or half of a shorter training part, and of a combination all, at most 3000.",
    ),
    /** Rows from start to start; default equal distances over the test part. */
    stride: optional(atLeast(1), "Rows from start to start; left out, equal distances over the test part."),
    /** Every start on a generated series of its own. */
    independent: option(flag, false, "Every start on a generated series of its own."),
    /** The share of values that the bands of forecasts are to hold. */
    level: option(number({ above: 0, below: 1 }), 0.9, "The share of values that the bands of forecasts.csv are to hold."),
    /** Bands that follow what the forecasts from earlier starts missed. */
    adaptive: option(
      flag,
      false,
      "Bands that follow what the forecasts from earlier starts missed; a saved model has the bands before them.",
    ),
    /**
     * Rows of a season, or of each of several. Left out, those that `baselines` names and those of
     * the step in time; of a file without time stamps, if lambda is chosen, the one that its rows
     * show.
     */
    season: optional(
      forecasterTable.season,
      "Rows of a season, or of each of several; left out, those that baselines names and those of the step in time.",
    ),
    /**
     * Rows of the series that the readout sees beside the state. Left out, chosen by the season.
     */
    lags: optional(
      forecasterTable.lags,
      "Rows of the series that the readout sees beside the state; left out, they are chosen by the season.",
    ),
    /**
     * Names of members, whose weighted mean is the forecast: each forecast is made from all rows
     * before it, at most `warmup` of them. Or reservoirs of a closed loop alone, whose median is
     * the forecast: 5 if settings are chosen, else 1. Left out, all names, unless the file describes a
     * loop (`model`, `reservoir`, `liquid`, `readout`, `transforms`, `washout`, `lags`) or asks for
     * what only a loop has (`adaptive`, `outputs.states`, `gaps: "split"`).
     */
    members: optional(
      either(
        `a whole number of reservoirs, or a list of ${memberNames.join(", ")}`,
        list(choice(...memberNames), "a list of names", 1),
        atLeast(1, most.members),
      ),
      "Names of members, whose weighted mean is the forecast, or how many reservoirs, whose median is it. Left out, all names; but a closed loop alone (5 reservoirs if settings are chosen, else 1) with model, reservoir, liquid, readout, transforms, washout, lags, adaptive, outputs.states or gaps: split.",
    ),
    /** How the members of a combination are weighed. */
    weights: weightsOption,
    /** Levels of quantiles that forecasts.csv has beside the forecast. */
    quantiles: optional(
      list(number({ above: 0, below: 1 }), "a list of levels", 1),
      "Levels of quantiles that forecasts.csv has beside the forecast; left out, none.",
    ),
  },
  classify: {
    type: given(choice("classify"), ""),
    representation: optional(
      classifierTable.representation,
      "What of a sequence the readout sees; left out, statistics, but last+mean for liquids and online readouts.",
    ),
    thresholds: classifierTable.thresholds,
    differences: optional(classifierTable.differences, classifierTable.differences.description),
    directions: classifierTable.directions,
    input: classifierTable.input,
    layerNorm: classifierTable.layerNorm,
    scaleFeatures: classifierTable.scaleFeatures,
    sequenceLambda: classifierTable.sequenceLambda,
    vote: classifierTable.vote,
    /** Reservoirs that vote, each of another seed. */
    members: option(atLeast(1, most.members), 1, "Reservoirs that vote, each of another seed."),
  },
  detect: {
    type: given(choice("detect"), ""),
    /** The state at the end of a sequence, or the mean of its states. */
    state: option(choice("last", "mean"), "last", "The state that is held against the templates."),
    /** The smallest cosine that is a match. */
    threshold: option(number({ atLeast: -1, atMost: 1 }), 0.5, "The smallest cosine that is a match."),
    /** Also look for the eight types of pattern in what the neurons of a spiking reservoir fire. */
    types: option(flag, false, "Also look for the eight types of pattern in the spikes of the liquid's own neurons."),
  },
  anomalies: {
    type: given(choice("anomalies"), ""),
    ...anomalies,
    /** The anomalies that are known, or a file of them; they score incidents. */
    labels: optional(
      either(
        "a list of pairs of rows or time stamps, or of single ones, or an object with file",
        list(
          either(
            "a pair of rows or time stamps, or one of them",
            anyText(),
            whole(),
            tuple<readonly [from: string | number, to: string | number]>("a pair of rows or time stamps", [rowOrStamp, rowOrStamp]),
          ),
          "a list of pairs of rows or time stamps, or of single ones",
        ),
        object(labelsFileTable),
      ),
      "First and last row, or time stamp, of each anomaly that is known; a single one begins an anomaly of mergeRows rows. They score incidents, and choose nothing.",
    ),
  },
};

/** What `task` takes, by its type. */
export const taskSchemas: Readonly<Record<string, Kind<unknown>>> = Object.fromEntries(
  Object.entries(taskTables).map(([type, table]) => [type, object(table)]),
);

const baseline = either(
  '"persistence", "mean", "drift", "majority", {seasonalNaive: period, drift: true, false or mean}, {autoregression: rows}, {theta: period} or {ets: period}',
  choice("persistence", "mean", "drift", "majority"),
  object({ seasonalNaive: given(atLeast(1), ""), drift: optional(either("true, false or mean", flag, choice("mean")), "") }),
  object({ autoregression: given(atLeast(1), "") }),
  object({ theta: given(atLeast(1), "") }),
  object({ ets: given(atLeast(1), "") }),
);
const metric = choiceOf(metrics);

const seeds = either("a list of seeds, or how many: 10 is 0 to 9", list(seed, "at least one seed", 1), atLeast(1, most.seeds));
const isName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const nameTakes = "letters, digits, points, dashes and underscores, beginning with a letter or a digit";

/** An axis of a map, for `spillway analyse`. */
export const mapAxisTable = {
  parameter: given(text("the name of a field"), "A number of the reservoir's description."),
  values: given(
    either(
      "a list of numbers, or {from, to, count, scale}",
      list(number(), "a list of numbers", 1),
      object({
        from: given(number(), "The first value."),
        to: given(number(), "The last one."),
        count: given(atLeast(1, 256), "How many."),
        scale: option(choice("linear", "log"), "linear", "Whether values or their logarithms are evenly apart."),
      }),
    ),
    "Its values, or from where to where and how many.",
  ),
};
const mapAxis = object(mapAxisTable, "an object with parameter and values");

export const scoringTable = {
  norm: option(choice("std", "range", "mean", "variance"), "std", "What nrmse divides by."),
  /** Error that ends the valid prediction time. */
  threshold: option(positive(), 0.4, "The error that ends the valid prediction time."),
  /** Time between two rows, for times in Lyapunov times. Known for most generated series. */
  dt: optional(positive(), "Time between two rows."),
  /** The largest Lyapunov exponent, known for most generated series. */
  lyapunovExponent: optional(positive(), "Largest Lyapunov exponent, per unit of the time of dt."),
  /** Options of metrics, by their names. */
  options: optional(objectLater<Readonly<Record<string, object>>>("an object of options by metric"), "Options of metrics, by their names."),
  /** How several seeds become one figure. */
  statistic: option(choice("median", "mean"), "median", "How several seeds become one figure."),
};

export const outputsTable = {
  states: option(choice("none", "npy"), "none", "Write the states of the first seed to states.npy."),
  /** Keep every k-th state. */
  every: option(atLeast(1), 1, "Keep every k-th state."),
  report: option(flag, true, ""),
  model: option(flag, true, ""),
  /** Train the model that is saved on all rows, those of the test part included. */
  refit: option(flag, true, "Of forecast and predict: train the saved model on all rows, after the test part was scored."),
};

export const publishedTable = {
  score: given(metric, ""),
  value: given(number(), ""),
  source: given(text("where the figure comes from"), ""),
};

export const mapTable = {
  x: optional(mapAxis, "Across; left out, the spectral radius, 16 values from 0.1 to 2.5."),
  y: optional(mapAxis, "Upwards; left out, the input scaling, 16 values from 0.01 to 3 on a scale of logarithms."),
  measures: optional(
    list(text("a measure"), "a list of measures", 1),
    "What is measured at each point; left out, exponent, memory capacity and both ranks.",
  ),
  /** Of storage and transfer; "gaussian" if left out. */
  estimator: optional(choice("gaussian", "nearestNeighbours"), "Of storage and transfer; left out, gaussian."),
};

export const splitTable = { train: optional(rowsOrShare(trainTakes), ""), test: optional(rowsOrShare(testTakes), "") };

/** The fields that every experiment has, for all data, readouts and tasks. */
export const common = {
  name: given(
    checked<string>(nameTakes, (value) => typeof value === "string" && isName.test(value), { type: "string", pattern: isName.source }),
    "Names the folder of the results.",
  ),
  description: optional(anyText("a sentence"), "A sentence for the report."),
  transforms: optional(
    list(transformKind, "a list of transforms"),
    "Done to the series, in order, and undone on predictions. Left out, standardise; nothing for spikes, detect, rls and lms.",
  ),
  encode: optional(encode, "For classify and detect: what turns each case into spikes, and the encoder's options."),
  reservoir: optional(
    either("an object that describes a reservoir", reservoirKind, spikingKind, anyRegisteredKind, layeredKind, groupedKind),
    "The reservoir: a rate reservoir, with kind spiking a network of spiking neurons, or several composed: layers on top of one another, or groups side by side. inputSize follows from the data. Left out, a forecast combines members (task.members), size is 300 (for classify 100; of a combination it follows from the rows), bias is 0.5 (for detect 0), and for a series inputScaling is 0.2 and spectralRadius 1.",
  ),
  washout: option(
    either(washoutTakes, count(0, undefined, washoutTakes), choice("auto")),
    "auto",
    "Rows left out of training at the start; auto, 100, or a fifth of a shorter training part (or test file), for classify 0.",
  ),
  split: filled(
    object(splitTable, "an object with train, test or both, such as {train: 0.8}"),
    "Rows (or shares below 1) for training and test; default 0.8 and the rest. train: 1 is all rows, and no test.",
  ),
  /** Where it runs, unless the command says. */
  engine: engineTable.engine,
  plan: planTable.plan,
  seed: optional(seed, "The seed; instead of reservoir.seed."),
  seeds: optional(seeds, "Several seeds: each is run and reported."),
  metrics: optional(list(metric, "a list of metrics", 1), "The scores, by name; left out, those of the task."),
  scoring: filled(object(scoringTable), "How scores are computed."),
  baselines: optional(
    list(baseline, "a list of baselines"),
    "What scores are held against; left out, persistence and mean, and for cases majority.",
  ),
  published: option(
    list(object(publishedTable), "a list of {score, value, source}"),
    [],
    "Figures from the literature, to stand beside the scores.",
  ),
  outputs: filled(object(outputsTable), "What is kept beside the result."),
  map: optional(
    object(mapTable, "an object with x, y, measures and estimator"),
    "A map that `spillway analyse` draws of the reservoir; other commands do not look at it.",
  ),
};

/** Every field of every experiment there can be, for editors. */
export const experimentTable = {
  ...common,
  data: given(either("", ...Object.values(dataKinds)), "Where the series comes from."),
  readout: optional(either("", byType(readouts), object(readouts.table("ridge"))), "How outputs are learnt; default ridge."),
  liquid: optional(liquidKind, "In place of reservoir: a spiking one, without its kind."),
  model: optional(
    either("", choice("forecaster", "nvar"), ...Object.values(modelSchemas)),
    "What forecasts: forecaster (a reservoir and its readout, the default), nvar (polynomials of delays) or field (local reservoirs), with its options.",
  ),
  task: given(either("", choice("predict", "classify", "detect", "anomalies"), ...Object.values(taskSchemas)), "What is to be learnt."),
};
