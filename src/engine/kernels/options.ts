// What the operations of the named kernels take, as tables. Arrays are checked by the operations,
// which know their types and lengths.
import {
  anything,
  choice,
  given,
  type Kind,
  number,
  object,
  option,
  optional,
  type TableOf,
  tuple,
  whole,
} from "@spillway/core/options.js";
import type { Precision } from "@spillway/numerics";
import type { Activation } from "../../reservoir/model.js";
import { activationNumber } from "../cuda/activation.js";
import type { ArrayKinds, DetectionWork, InputWork, LeakyWork, NoiseWork, PowerWork, ProductWork, SparseArrays } from "./works.js";

interface Values {
  readonly length: number;
}
const array = anything as Kind<Values>;
const out = optional(array, "Where the result goes; left out, new memory.");
const state = given(array, "x.");
const matrix = given(anything as Kind<Values | SparseArrays<ArrayKinds>>, "W, row by row or in CSR form.");
const count = whole({ atLeast: 1, atMost: 0x7fffffff, takes: "a whole number of at least 1" });
const word = whole({ atLeast: 0, atMost: 0xffffffff, takes: "a whole number below 2^32" });

export const precisionTable = {
  precision: option(choice("float32", "float64"), "float32", "Of states and weights."),
} satisfies TableOf<{ readonly precision?: Precision | undefined }>;

export const inputTable = {
  size: given(count, "N, neurons."),
  steps: option(count, 1, "T, steps."),
  weights: optional(array, "I x N: W_in transposed."),
  inputs: optional(array, "T x I."),
  bias: optional(array, "N values; left out, sums begin at +0."),
  out,
} satisfies TableOf<InputWork<ArrayKinds>>;

export const productTable = { weights: matrix, state, out } satisfies TableOf<ProductWork<ArrayKinds>>;

export const noiseTable = {
  level: given(number(), "The amplitude."),
  key: given(tuple<[number, number]>("two whole numbers below 2^32", [word, word]), "Two words of 32 bits."),
  step: given(word, "The counter of the step."),
  sequence: option(word, 0, "The sequence of a batch."),
} satisfies TableOf<NoiseWork>;

export const leakyTable = {
  state,
  drive: given(array, "W_in u and the bias."),
  recurrent: optional(array, "W x; left out, nothing is added."),
  feedback: optional(array, "W_fb y, likewise."),
  leak: given(array, "a."),
  activation: option(choice(...(Object.keys(activationNumber) as Activation[])), "tanh", "f."),
  noise: optional(object(noiseTable), "Noise of the step."),
  out,
} satisfies TableOf<LeakyWork<ArrayKinds>>;

export const powerTable = {
  weights: matrix,
  state,
  out,
  length: optional(array, "|x|, one value; left out, new memory."),
} satisfies TableOf<PowerWork<ArrayKinds>>;

export const detectionTable = {
  vectors: given(array, "B x D."),
  templates: given(array, "P x D."),
  length: given(count, "D."),
  score: option(choice("cosine", "dot"), "cosine", "How a vector is held against a template."),
  threshold: option(number(), 0.5, "The smallest score that is a match."),
  scores: optional(array, "B x P; left out, new memory."),
  best: optional(array, "B values; left out, new memory."),
  matches: optional(array, "B values; left out, new memory."),
} satisfies TableOf<DetectionWork<ArrayKinds>>;
