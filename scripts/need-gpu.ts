// Ends with one sentence and 1 if the GPU that tests need is not there, before anything is built
// for them.
import { LibraryError, probe } from "../packages/gpu/src/index.js";

const device = Number(process.env["SPILLWAY_DEVICE"] || 0);
const { reason, tried, devices } = probe({
  nvrtc: () => {
    throw new LibraryError("NVRTC", []);
  },
});
const driver = tried.length > 0 ? "no NVIDIA driver was found; install it, or name its library by SPILLWAY_CUDA_LIBRARY" : undefined;
const missing =
  devices.length > 0 && devices[device] === undefined ? `SPILLWAY_DEVICE is ${device}, and there are ${devices.length}` : undefined;
const problem = driver ?? reason ?? missing ?? devices[device]?.problem;
if (problem !== undefined) {
  console.error(`These tests need an NVIDIA GPU: ${problem.replace(/\s+/g, " ").replace(/\.$/, "")}.`);
  process.exitCode = 1;
}
