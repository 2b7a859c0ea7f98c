// The contract of every engine, on the device by each way of running the time loop.
import { onHardware } from "../../gpu/device/device.js";
import { engineContract } from "../contract.js";
import { inShortChunks, name } from "./engines.js";

engineContract(`${name}, plan "streamed"`, inShortChunks, { plan: "streamed" }, onHardware ? 200 : 20);
engineContract(`${name}, plan "auto"`, inShortChunks, {}, onHardware ? 200 : 20);
