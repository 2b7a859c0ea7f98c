// Experiment files: parseExperimentText.

import { parse, stringify } from "yaml";
import { ExperimentError } from "../../../src/experiment/description/errors.js";
import { parseExperimentText } from "../../../src/experiment/description/file.js";
import type { FuzzFormat } from "../format.js";
import { mutateJson } from "../mutate.js";
import { bytesOf } from "../text.js";

export default {
  corpus: () => [
    bytesOf(`# a comment
name: narma
data:
  task: narma
  length: 3000
  options: {order: 10}
reservoir:
  size: 100
  spectralRadius: 0.9
  leakRate: [0.5, 0.25]
  topology: {type: cycleWithJumps, jump: 5}
  feedback: {scaling: 0.1}
readout: {type: ridge, lambdas: [1.0e-6, 0.01]}
task: predict
transforms: [standardise, {difference: 1}]
split: {train: 0.8, test: 200}
seeds: [1, two, 3]
metrics: [nrmse]
baselines: [persistence, {seasonalNaive: 12}]
published:
  - score: nrmse
    value: 0.2
    source: "Somebody 2001"
`),
    bytesOf(`name: spoken
data:
  sounds: $SPILLWAY_DATA/fsdd
  test: {index: [0, 1, 2]}
encode:
  encoder: cochleagram
  binMs: 2
liquid: &liquid
  size: 50
  neuron: {type: leakyIntegrateAndFire}
readout: softmax
task:
  type: classify
  members: 2
seed: x
`),
    bytesOf(
      '{"name": "json", "data": {"file": "a.csv", "columns": ["x", 1], "rows": {"from": 5}}, "reservoir": {"kind": "spiking", "size": 5}, "task": {"type": "detect", "types": true}}',
    ),
    bytesOf(
      "name: forecast\ndata: {task: lorenz}\nreservoir: {size: 10, weights: {values: [[1, 2], [3, 4]]}}\ntask: {type: forecast, horizon: 10}\nreadout: {type: rls, forgetting: 0.99}\noutputs: {states: npy, every: 2}\nscoring: {norm: std, dt: 0.02, lyapunovExponent: 0.9}\n",
    ),
  ],
  read: (input) => parseExperimentText(new TextDecoder().decode(input), "a.yaml"),
  errors: [ExperimentError],
  tokens: [
    "name:",
    "data:",
    "task:",
    "reservoir:",
    "liquid:",
    "size:",
    "readout:",
    "type:",
    "- ",
    "  ",
    "\n",
    "[",
    "]",
    "{",
    "}",
    ":",
    "&a ",
    "*a",
    "<<: ",
    "!!binary ",
    "!!set ",
    "!!js/function ",
    "|",
    ">",
    "? ",
    "'",
    '"',
    "%YAML 1.1",
    "---",
    "...",
    "~",
    "ridge",
    "predict",
    "classify",
  ],
  mutate: (input, random) =>
    bytesOf(stringify(mutateJson(parse(new TextDecoder().decode(input)), random), { aliasDuplicateObjects: random.chance(0.5) })),
} satisfies FuzzFormat;
