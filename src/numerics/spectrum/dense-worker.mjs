// A thread that finds eigenvalues of dense blocks, one after the other. Plain JavaScript, so that
// it starts from the sources as well as from the built package.
import { parentPort, workerData } from "node:worker_threads";

const { module, reserved } = workerData;
const pageBytes = 65536;
const memory = new WebAssembly.Memory({ initial: reserved / pageBytes });
const { exports } = new WebAssembly.Instance(module, { env: { memory } });

parentPort.on("message", ({ size, ld, values }) => {
  const begun = performance.now();
  const work = reserved + values.byteLength;
  const missingBytes = work + 24 * ld - memory.buffer.byteLength;
  if (missingBytes > 0) memory.grow(Math.ceil(missingBytes / pageBytes));
  new Float64Array(memory.buffer, reserved, values.length).set(values);
  const missing = exports.denseEigenvalues(size, reserved, ld, work);
  const part = (at) => new Float64Array(memory.buffer, at, size).slice();
  const [re, im] = [part(work), part(work + 8 * ld)];
  parentPort.postMessage({ missing, re, im, milliseconds: performance.now() - begun }, [re.buffer, im.buffer]);
});
