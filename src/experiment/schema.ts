// What the fields of an experiment file take, one by one. How they go together is checked in parse.ts.
import * as z from "zod";
import { flag, number, oneOf, reservoirSchema, whole } from "../reservoir/config-schema.js";
import { encoderNames, patternTypes } from "../spikes/index.js";
import { spikingReservoirSchema } from "../spikes/liquid/schema.js";
import { tasks } from "../tasks/index.js";
import type { MetricName, TaskDescription } from "./description.js";

const positive = (what = "a number above 0") => number(what, (value) => value > 0);
const rowsOrShare = number("a whole number of rows, or a share below 1", (value) => value > 0 && (value < 1 || Number.isInteger(value)));
const notNegative = number("a number of at least 0", (value) => value >= 0);
const atLeast = (least: number) => whole(`a whole number of at least ${least}`, (value) => value >= least);
const text = (takes: string) => z.string({ error: takes }).min(1, { error: takes });
const column = z.union([text("a column's name, or its index from 0"), atLeast(0)], { error: "a column's name, or its index from 0" });
const columns = z.array(column, { error: "a list of columns, by name or by index from 0" }).min(1, { error: "at least one column" });
const seed = z.union([z.string(), number("text or a finite number")], { error: "text or a finite number" });

export const generated = z.strictObject({
  task: oneOf(tasks.map(({ name }) => name) as [string, ...string[]]).describe("A benchmark series; `spillway tasks` lists them."),
  length: atLeast(1).optional().describe("Rows; left out, what split and task need."),
  options: z
    .record(z.string(), z.unknown(), { error: "the generator's options by name" })
    .default({})
    .describe("The generator's own options."),
  redraw: flag.default(false).describe("Draw the series anew for every seed."),
});

export const fromFile = z.strictObject({
  file: text("the path of a file").describe(
    "A CSV, NPY, UEA .ts or WAV file: a path from this file's folder; npm:package/path for a file of an installed package; $NAME and \u0024{NAME:-default} for environment variables.",
  ),
  format: oneOf(["csv", "npy", "ts", "wav"]).optional().describe("Left out, the name's ending says it."),
  test: text("the path of a file").optional().describe("A second file of the same form: the test part."),
  columns: columns.optional().describe("The columns of the series; left out, all."),
  inputs: columns.optional().describe("For predict: the columns that drive the reservoir."),
  targets: columns.optional().describe("For predict: the columns to be predicted."),
  rows: z
    .strictObject({ from: atLeast(0).optional(), to: atLeast(1).optional() }, { error: "an object with from, to or both" })
    .optional()
    .describe("Rows to use: from this one, up to (not with) that one, counted from 0 after the header."),
  header: flag.optional().describe("CSV: whether the first row names the columns; left out, it is found."),
  delimiter: text("one character").optional().describe("CSV: left out, it is found."),
  decimal: oneOf([".", ","]).optional().describe("CSV: the decimal mark."),
  comment: text("the text that begins a comment line").optional().describe("CSV: lines that begin with this are skipped."),
  encoding: text('the name of an encoding, such as "utf-8"').optional().describe("CSV: left out, UTF-8."),
  text: columns.optional().describe("CSV: columns that are not numbers, such as dates."),
  missing: oneOf(["error", "interpolate", "previous", "drop"]).default("error").describe("What becomes of a missing value."),
});

const namePart = z.array(z.union([z.string(), z.number()]), { error: "a list of texts or numbers" }).min(1, { error: "at least one" });
const named = {
  names: text("a pattern such as {label}_{group}_{index}")
    .default("{label}_{group}_{index}")
    .describe("How a file's name, without its ending, tells its class (label) and more."),
  test: z
    .record(z.string(), namePart, { error: "an object such as {index: [0, 1, 2]}" })
    .optional()
    .describe("The files that test, by what their names tell, such as {index: [0, 1, 2]}; left out, split chooses them."),
};
const neurons = atLeast(1).optional();
const duration = positive("ms above 0").optional();
const bins = {
  binMs: positive("ms above 0")
    .optional()
    .describe("Width of a bin in which spikes are counted; left out, the liquid's time step, or 1 ms."),
};

export const fromSounds = z.strictObject({
  sounds: text("the path of a folder").describe("A folder of WAV files: a path as for file."),
  ...named,
});

export const fromCases = z.strictObject({
  cases: text("the path of a folder").describe("A folder of CSV or NPY files, a case each, rows in time: a path as for file."),
  ...named,
});

export const fromSpikes = z.strictObject({
  spikes: text("the path of a folder or of an HDF5 file").describe(
    "A folder of spike patterns, a JSON, CSV or NPZ file each, or one HDF5 file of event lists with labels: a path as for file.",
  ),
  ...named,
  ...bins,
  neuronCount: neurons.describe("Neurons of each pattern, if the files do not say."),
  durationMs: duration.describe("How long each pattern lasts in ms, if the files do not say."),
});

export const fromPatterns = z.strictObject({
  patterns: z
    .strictObject(
      {
        types: z
          .array(oneOf([...patternTypes, "poisson"]), { error: "a list of types" })
          .min(2, { error: "at least two types" })
          .describe("The types to generate, which are the classes; poisson is independent neurons."),
        count: number("a whole number from 2 to 10,000", (value) => Number.isInteger(value) && value >= 2 && value <= 10_000).describe(
          "Patterns of each type.",
        ),
        neuronCount: neurons.describe("Neurons of a pattern; left out, 50."),
        durationMs: duration.describe("How long a pattern lasts in ms; left out, 1000."),
        rateHz: positive("Hz above 0").optional().describe("Mean rate of a neuron in Hz; left out, 20."),
        seed: seed.default(1).describe("What the patterns are drawn from."),
      },
      { error: "an object with types and count" },
    )
    .describe("Spike patterns that are generated, each type a class."),
  ...bins,
});

const encode = z.looseObject(
  {
    encoder: oneOf(["cochleagram", ...encoderNames]).describe("cochleagram gives levels by frequency, the others spikes."),
    binMs: positive("ms above 0")
      .optional()
      .describe("Width of a bin in which spikes are counted; left out, the liquid's time step, or 1 ms."),
  },
  { error: "an object with encoder and its options" },
);

const transform = z.union([oneOf(["standardise", "squash"]), z.strictObject({ difference: atLeast(1) })], {
  error: '"standardise", "squash" or {difference: lag}',
});

const features = {
  input: flag.optional().describe("Give the input to the readout beside the state."),
  transform: oneOf(["plain", "squareHalf", "squares"]).optional().describe("What the readout sees of the state."),
};
export const readouts = {
  ridge: z.strictObject({
    type: z.literal("ridge"),
    lambda: notNegative.optional().describe("Regularisation; default 1e-3, for classify 0.003 times the number of features that change."),
    lambdas: z
      .array(notNegative, { error: "a list of numbers of at least 0" })
      .min(1, { error: "at least one number" })
      .optional()
      .describe("A grid to choose lambda from."),
    selection: oneOf(["gcv", "leaveOneOut"]).optional().describe("How lambda is chosen from lambdas."),
    solver: oneOf(["cholesky", "qr", "dual", "auto"]).optional(),
    intercept: flag.optional(),
    ...features,
    subtractMean: flag.optional(),
    blas: oneOf(["portable", "system"]).optional(),
  }),
  softmax: z.strictObject({
    type: z.literal("softmax"),
    l2: notNegative.optional(),
    tolerance: positive().optional(),
    maxIterations: atLeast(1).optional(),
    intercept: flag.optional(),
    ...features,
  }),
  rls: z.strictObject({
    type: z.literal("rls"),
    forgetting: number("a number above 0 and at most 1", (value) => value > 0 && value <= 1).optional(),
    alpha: positive().optional(),
    intercept: flag.optional(),
    ...features,
  }),
  lms: z.strictObject({
    type: z.literal("lms"),
    learningRate: positive().optional(),
    normalised: flag.optional(),
    intercept: flag.optional(),
    ...features,
  }),
};

export const taskSchemas = {
  predict: z.strictObject({
    type: z.literal("predict"),
    ahead: atLeast(1)
      .optional()
      .describe(
        "How many rows ahead the value to predict is; left out, 1 for a series, and the same row where inputs are given with targets.",
      ),
  }),
  forecast: z.strictObject({
    type: z.literal("forecast"),
    horizon: atLeast(1).describe("Steps in closed loop."),
    starts: atLeast(1).default(1).describe("Forecasts, from several places of the test part."),
    warmup: atLeast(1).default(100).describe("Rows that drive the reservoir before each start."),
    stride: atLeast(1).optional().describe("Rows from start to start; left out, equal distances over the test part."),
    independent: flag.default(false).describe("Every start on a generated series of its own."),
  }),
  classify: z.strictObject({
    type: z.literal("classify"),
    representation: oneOf(["last", "mean", "last+mean", "output"]).default("last+mean").describe("What of a sequence the readout sees."),
    input: flag.default(false).describe("Join the same statistics of the inputs."),
    layerNorm: flag.default(false).describe("Take from each sequence's features their mean and divide them by their deviation."),
    scaleFeatures: flag.default(true).describe("Turn the features into z-scores."),
    sequenceLambda: notNegative.default(1).describe("Ridge penalty of the readouts of representation output."),
    vote: oneOf(["majority", "mean"]).default("majority").describe("How members agree."),
    members: atLeast(1).default(1).describe("Reservoirs that vote, each of another seed."),
  }),
  detect: z.strictObject({
    type: z.literal("detect"),
    state: oneOf(["last", "mean"]).default("last").describe("The state that is held against the templates."),
    threshold: number("a number from -1 to 1", (value) => value >= -1 && value <= 1)
      .default(0.5)
      .describe("The smallest cosine that is a match."),
    types: flag.default(false).describe("Also look for the eight types of pattern in the spikes of the liquid's own neurons."),
  }),
};

const baseline = z.union(
  [oneOf(["persistence", "mean", "majority"]), z.strictObject({ seasonalNaive: atLeast(1), drift: flag.optional() })],
  {
    error: '"persistence", "mean", "majority" or {seasonalNaive: period, drift: true or false}',
  },
);
export const metricNames = {
  predict: ["nrmse", "rmse", "mse", "mae", "r2"],
  forecast: ["nrmse", "nrmseAtHorizon", "validPredictionTime", "rmse", "rmseAtHorizon", "mse", "mae"],
  classify: ["accuracy", "errors"],
  detect: ["accuracy", "errors", "missed"],
} as const satisfies Record<TaskDescription["type"], readonly MetricName[]>;
const metric = oneOf([...new Set(Object.values(metricNames).flat())] as [MetricName, ...MetricName[]]);

const seeds = z.union([z.array(seed).min(1, { error: "at least one seed" }), atLeast(1)], {
  error: "a list of seeds, or how many: 10 is 0 to 9",
});
const isName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const nameTakes = "letters, digits, points, dashes and underscores, beginning with a letter or a digit";

/** The fields that every experiment has, whatever its data, readout and task. */
export const common = {
  name: z
    .string({ error: nameTakes })
    .refine((value) => isName.test(value), { error: nameTakes })
    .describe("Names the folder of the results."),
  description: z.string({ error: "a sentence" }).optional().describe("A sentence for the report."),
  transforms: z
    .array(transform, { error: "a list of transforms" })
    .optional()
    .describe("Done to the series, in order, and undone on predictions. Left out, standardise; nothing for spikes, detect, rls and lms."),
  encode: encode.optional().describe("For classify and detect: what turns each case into spikes, and the encoder's options."),
  reservoir: z
    .union([reservoirSchema, spikingReservoirSchema])
    .describe(
      "The reservoir: a rate reservoir, or with kind spiking a network of spiking neurons. inputSize follows from the data. Left out, bias is 0.5 (for detect 0), and for a series inputScaling is 0.2 and spectralRadius 1.",
    ),
  washout: atLeast(0).optional().describe("Rows left out of training at the start; default 100, for classify 0."),
  split: z
    .strictObject(
      { train: rowsOrShare.optional(), test: rowsOrShare.optional() },
      { error: "an object with train, test or both, such as {train: 0.8}" },
    )
    .default({})
    .describe("Rows (or shares below 1) for training and test; default 0.8 and the rest."),
  seed: seed.optional().describe("The seed; instead of reservoir.seed."),
  seeds: seeds.optional().describe("Several seeds: each is run and reported."),
  metrics: z.array(metric, { error: "a list of metrics" }).min(1, { error: "at least one metric" }).optional(),
  scoring: z
    .strictObject({
      norm: oneOf(["std", "range", "mean", "variance"]).default("std").describe("What nrmse divides by."),
      threshold: positive().default(0.4).describe("The error that ends the valid prediction time."),
      dt: positive().optional().describe("Time between two rows."),
      lyapunovExponent: positive().optional().describe("Largest Lyapunov exponent, per unit of the time of dt."),
      statistic: oneOf(["median", "mean"]).default("median").describe("How several seeds become one figure."),
    })
    .prefault({}),
  baselines: z
    .array(baseline, { error: "a list of baselines" })
    .optional()
    .describe("What scores are held against; left out, persistence and mean, and for cases majority."),
  published: z
    .array(z.strictObject({ score: metric, value: number("a finite number"), source: text("where the figure comes from") }), {
      error: "a list of {score, value, source}",
    })
    .default([])
    .describe("Figures from the literature, to stand beside the scores."),
  outputs: z
    .strictObject({
      states: oneOf(["none", "npy"]).default("none").describe("Write the states of the first seed to states.npy."),
      every: atLeast(1).default(1).describe("Keep every k-th state."),
      report: flag.default(true),
      model: flag.default(true),
    })
    .prefault({}),
};

/** The schema of every experiment there can be, for editors. */
export const experimentSchema = z.strictObject({
  ...common,
  data: z.union([generated, fromFile, fromSounds, fromCases, fromSpikes, fromPatterns]).describe("Where the series comes from."),
  readout: z
    .union([
      oneOf(["ridge", "softmax", "rls", "lms"]),
      z.discriminatedUnion("type", [readouts.ridge, readouts.softmax, readouts.rls, readouts.lms]),
      readouts.ridge.omit({ type: true }),
    ])
    .optional()
    .describe("How outputs are learnt; default ridge."),
  reservoir: common.reservoir.optional(),
  liquid: spikingReservoirSchema.omit({ kind: true }).optional().describe("In place of reservoir: a spiking one, without its kind."),
  task: z
    .union([
      oneOf(["predict", "classify", "detect"]),
      z.discriminatedUnion("type", [taskSchemas.predict, taskSchemas.forecast, taskSchemas.classify, taskSchemas.detect]),
    ])
    .describe("What is to be learnt."),
});
