// Spike patterns as CSV: patternFromCsv.

import { decodeText } from "../../../packages/io/src/files.js";
import { FileError } from "../../../packages/io/src/index.js";
import { patternFromCsv, patternToCsv, SpikePattern } from "../../../src/spikes/index.js";
import type { FuzzFormat } from "../format.js";
import { bytesOf } from "../text.js";

const pattern = new SpikePattern(
  { times: [0, 1.5, 1.5, 9], neurons: [2, 0, 1, 2], amplitudes: [1, 0.5, 2, -1] },
  { durationMs: 10, neuronCount: 3, metadata: { label: "a" } },
);

export default {
  corpus: () => [
    bytesOf(patternToCsv(pattern)),
    bytesOf("time_ms,neuron\n1,2\n0.5,0\n"),
    bytesOf("1,2\n0.5,0\n"),
    bytesOf("id,t,a\n1,2.5,1\n0,1.25,0.5\n"),
    bytesOf('# {"durationMs":10,"neuronCount":3}\ntime_s,neuron\n'),
  ],
  read: (input) => patternFromCsv(decodeText(input, "a.csv"), { source: "a.csv" }),
  errors: [FileError],
  tokens: [
    "time_ms",
    "time_s",
    "time",
    "t",
    "id",
    "neuron",
    "unit",
    "amplitude",
    "# {",
    "durationMs",
    "neuronCount",
    '"',
    ",",
    ";",
    "\n",
    "#",
  ],
} satisfies FuzzFormat;
