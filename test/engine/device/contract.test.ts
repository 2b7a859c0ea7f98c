// The contract of every engine, on the device by each way of running the time loop.
import { size } from "../../gpu/device/device.js";
import { engineContract } from "../contract.js";
import { inShortChunks, name } from "./engines.js";

engineContract(`${name}, plan "streamed"`, inShortChunks, { plan: "streamed" }, size(200, 20, 20));
engineContract(`${name}, plan "named"`, inShortChunks, { plan: "named" }, size(200, 20, 20));
engineContract(`${name}, plan "auto"`, inShortChunks, {}, size(200, 20, 20));
