// Files of spike templates: PatternTemplates.decode.
import { decodeSafetensors, encodeSafetensors, FileError } from "../../../packages/io/src/index.js";
import { PatternTemplates } from "../../../src/spikes/index.js";
import type { FuzzFormat } from "../format.js";
import { mutateJson } from "../mutate.js";

export default {
  corpus: () => [
    new PatternTemplates(
      ["a", "b"],
      [
        [1, 0, 2, 0.5],
        [0, 1, 0, 3],
      ],
      { bins: 2, channels: 2 },
    ).encode(),
    new PatternTemplates(["one"], [[1]], { bins: 1, channels: 1, threshold: 0.9 }).encode(),
  ],
  read: (input) => PatternTemplates.decode(input, { source: "a.safetensors" }),
  errors: [FileError],
  mutate: (input, random) => {
    const { tensors, metadata } = decodeSafetensors(input);
    const description = JSON.stringify(mutateJson(JSON.parse(metadata["description"]!), random)) ?? "";
    return encodeSafetensors(tensors, { ...metadata, description });
  },
} satisfies FuzzFormat;
