// The CUDA engine on the simulated device: the contract of every engine, by each of its plans.
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { openDevice } from "../../src/gpu/index.js";
import "../../src/sim/index.js";
import { engineContract } from "./contract.js";

const engine = deviceEngine({ name: "sim", open: () => openDevice("sim"), stepsPerChunk: 16 });

engineContract("the streamed plan on sim", engine, { plan: "streamed" }, 20);
