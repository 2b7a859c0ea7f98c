// Networks of populations on a device, as SpikingNetwork opens them.
import { EngineUnavailableError } from "../../../reservoir/engine.js";
import { chooseEngine } from "../../../reservoir/engines.js";
import type { NetworkEngine } from "../../../spikes/network/engines.js";
import type { DeviceEngine } from "../index.js";
import { openNetwork } from "./index.js";

/** The networks of a device's engine, which is known by its name: "cuda", "sim". */
export function deviceNetworks(name: string): NetworkEngine {
  const device = async () => (await chooseEngine(name)).engine as DeviceEngine;
  return {
    name,
    async missing() {
      try {
        await device();
        return undefined;
      } catch (error) {
        if (error instanceof EngineUnavailableError) return error.message;
        throw error;
      }
    },
    open: async (plan) => openNetwork((await device()).context(), plan, { engine: name }),
  };
}
