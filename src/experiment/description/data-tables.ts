// What the data of an experiment file take: a generated series, files, or cases.
import {
  text as anyText,
  anything,
  choice,
  choiceOf,
  count,
  either,
  flag,
  given,
  list,
  number,
  object,
  option,
  optional,
  record,
  seed,
  whole,
} from "@spillway/core/options.js";
import { patternTypes } from "../../spikes/index.js";
import { editsTable } from "../../spikes/pattern/edits.js";
import { tasks } from "../../tasks/index.js";
import { fileTable, text } from "./file-table.js";

export const generatedTable = {
  task: given(choiceOf(tasks), "A benchmark series; `spillway tasks` lists them."),
  /** Rows; default what `split` and `task` need. */
  length: optional(count(1), "Rows; left out, what split and task need."),
  /** The generator's own options; `spillway tasks` lists them. */
  options: option(record(anything, "the generator's options by name"), {}, "The generator's own options."),
  /** Draw the series anew for every seed. */
  redraw: option(flag, false, "Draw the series anew for every seed."),
};

const namePart = list(either("a text or a number", anyText(), number()), "a list of texts or numbers", 1);
export const namedTable = {
  /** How a file's name tells its class and more, such as "{label}_{group}_{index}". */
  names: option(
    text("a pattern such as {label}_{group}_{index}"),
    "{label}_{group}_{index}",
    "How a file's name, without its ending, tells its class (label) and more.",
  ),
  /**
   * The files that test, by what their names tell: `{index: [0, 1, 2]}`. Left out, `split` chooses
   * them.
   */
  test: optional(
    record(namePart, "an object such as {index: [0, 1, 2]}"),
    "The files that test, by what their names tell, such as {index: [0, 1, 2]}; left out, split chooses them.",
  ),
};
const neurons = count(1, 1_000_000);
const duration = number({ above: 0, takes: "ms above 0" });
export const bins = {
  /** Width of a bin; default the liquid's time step, or 1 ms. */
  binMs: optional(duration, "Width of a bin in which spikes are counted; left out, the liquid's time step, or 1 ms."),
};

export const soundsTable = { sounds: given(text("the path of a folder"), "A folder of WAV files: a path as for file."), ...namedTable };

export const casesTable = {
  cases: given(text("the path of a folder"), "A folder of CSV, Parquet or NPY files, a case each, rows in time: a path as for file."),
  ...namedTable,
};

export const spikesTable = {
  spikes: given(
    text("the path of a folder or of an HDF5 file"),
    "A folder of spike patterns, a JSON, CSV or NPZ file each, or one HDF5 file of event lists with labels: a path as for file.",
  ),
  ...namedTable,
  ...bins,
  ...editsTable,
  /** Neurons and duration of each pattern, if the files do not say. */
  neuronCount: optional(neurons, "Neurons of each pattern, if the files do not say."),
  durationMs: optional(duration, "How long each pattern lasts in ms, if the files do not say."),
};

const patternTable = {
  types: given(
    list(choice(...patternTypes, "poisson"), "a list of at least two types", 2),
    "The types to generate, which are the classes; poisson is independent neurons.",
  ),
  count: given(whole({ atLeast: 2, atMost: 10_000 }), "Patterns of each type."),
  neuronCount: optional(neurons, "Neurons of a pattern; left out, 50."),
  durationMs: optional(duration, "How long a pattern lasts in ms; left out, 1000."),
  rateHz: optional(number({ above: 0, takes: "Hz above 0" }), "Mean rate of a neuron in Hz; left out, 20."),
  /** What the patterns are drawn from, beside their type and number. */
  seed: option(seed, 1, "What the patterns are drawn from."),
};

export const patternsTable = {
  patterns: given(object(patternTable, "an object with types and count"), "Spike patterns that are generated, each type a class."),
  ...editsTable,
  ...bins,
};

/** Data by the field that says what they are. */
export const dataKinds = {
  task: object(generatedTable),
  file: object(fileTable),
  sounds: object(soundsTable),
  cases: object(casesTable),
  spikes: object(spikesTable),
  patterns: object(patternsTable),
};
