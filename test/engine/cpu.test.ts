import { cpuEngine } from "../../src/engine/cpu/index.js";
import { engineContract } from "./contract.js";

engineContract("cpu", cpuEngine, {}, 300);
engineContract("cpu with three threads", cpuEngine, { threads: 3 }, 20);
