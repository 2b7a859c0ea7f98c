// Spike patterns as JSON: patternFromJson.

import { decodeText } from "../../../packages/io/src/files.js";
import { FileError } from "../../../packages/io/src/index.js";
import { patternFromJson, patternToJson, SpikePattern } from "../../../src/spikes/index.js";
import type { FuzzFormat } from "../format.js";
import { mutateJson } from "../mutate.js";
import { bytesOf } from "../text.js";

const pattern = new SpikePattern(
  { times: [0, 1.5, 1.5, 9], neurons: [2, 0, 1, 2], amplitudes: [1, 0.5, 2, -1] },
  { durationMs: 10, neuronCount: 3, metadata: { label: "a", extra: [1, { b: null }] } },
);

export default {
  corpus: () => [
    bytesOf(patternToJson(pattern)),
    bytesOf(patternToJson(new SpikePattern({ times: [], neurons: [] }, { durationMs: 5, neuronCount: 1 }))),
    bytesOf('{"times":[3,1],"neurons":[0,4]}'),
  ],
  read: (input) => patternFromJson(decodeText(input, "a.json"), { source: "a.json" }),
  errors: [FileError],
  tokens: [
    "times",
    "neurons",
    "amplitudes",
    "durationMs",
    "neuronCount",
    "metadata",
    "label",
    "null",
    "true",
    "[",
    "]",
    "{",
    "}",
    '"',
    ":",
    ",",
  ],
  mutate: (input, random) => bytesOf(JSON.stringify(mutateJson(JSON.parse(new TextDecoder().decode(input)), random)) ?? ""),
} satisfies FuzzFormat;
