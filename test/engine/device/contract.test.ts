// The contract of every engine, on the device by each way of running the time loop.

import { amount, exhaustive } from "../../exhaustive.js";
import { size } from "../../gpu/device/device.js";
import { engineContract } from "../contract.js";
import { inShortChunks, name } from "./engines.js";

engineContract(`${name}, plan "auto"`, inShortChunks, {}, size(200, amount(20, 4), 20));
if (exhaustive)
  for (const plan of ["streamed", "named"] as const)
    engineContract(`${name}, plan "${plan}"`, inShortChunks, { plan }, size(200, amount(20, 4), 20));
