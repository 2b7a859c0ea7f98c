// The fields that every registered kind of reservoir has.
import { choice, given, nothing, option, optional, seed, whole } from "../../core/options.js";

/** The fields of a description beside the kind's own options. */
export const commonTable = (name: string) => ({
  kind: given(choice(name), "The kind of reservoir."),
  size: given(whole({ atLeast: 1, atMost: 2 ** 24, takes: "a whole number of at least 1" }), "How many units: neurons, oscillators."),
  inputSize: option(whole(), 1, "I, the number of input channels; left out, it follows from the data."),
  seed: option(seed, "spillway", "Determines every number; in an experiment, seed or seeds at the top of the file do."),
  feedback: optional(nothing, "null: a reservoir of a registered kind feeds no outputs back."),
  precision: option(choice("float32", "float64"), "float32", "Precision of states and matrices."),
});
