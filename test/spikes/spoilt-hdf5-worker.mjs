// hdf5-worker.mjs with a library whose memory is overwritten after each file that it read, as a
// damaged file might do.
import { parentPort } from "node:worker_threads";

await import("../../src/spikes/pattern/hdf5-worker.mjs");
const { ready } = await import("h5wasm");
const library = await ready;
const { unlink } = library.FS;
library.FS.unlink = (path) => {
  unlink(path);
  library.HEAPU8.fill(0xa5);
};
parentPort.postMessage("spoilt");
