// Event lists in HDF5: SpikeEventFile, every pattern read.
import { FileError } from "../../../packages/io/src/index.js";
import { encodeSpikeHdf5, SpikeEventFile, SpikePattern } from "../../../src/spikes/index.js";
import type { FuzzFormat } from "../format.js";

const pattern = (label: string): SpikePattern =>
  new SpikePattern({ times: [0, 1.5, 1.5, 9], neurons: [2, 0, 1, 2] }, { durationMs: 10, neuronCount: 3, metadata: { label } });
const strong = new SpikePattern({ times: [1, 2], neurons: [0, 1], amplitudes: [0.5, 3] }, { durationMs: 5, neuronCount: 3 });
const silent = new SpikePattern({ times: [], neurons: [] }, { durationMs: 5, neuronCount: 3 });

export default {
  corpus: async () => [
    await encodeSpikeHdf5([pattern("a"), pattern("b"), pattern("a")]),
    await encodeSpikeHdf5([silent], { times: "float16" }),
    await encodeSpikeHdf5([strong]),
  ],
  read: async (input) => {
    const file = await SpikeEventFile.decode(input, { source: "a.h5", timeLimitMs: 3000 });
    try {
      for (let i = 0; i < Math.min(10, file.count); i++) file.pattern(i);
    } finally {
      file.dispose();
    }
  },
  errors: [FileError],
} satisfies FuzzFormat;
