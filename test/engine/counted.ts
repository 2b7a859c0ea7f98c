import { cpuEngine } from "../../src/engine/cpu/index.js";
import { EngineCapacityError } from "../../src/index.js";
import { registerEngine } from "../../src/reservoir/index.js";

const count = { held: 0, most: Number.POSITIVE_INFINITY };

const load = async () => ({
  ...cpuEngine,
  name: "counted",
  async open(...[model, options]: Parameters<typeof cpuEngine.open>) {
    if (count.held >= count.most) throw new EngineCapacityError("one more reservoir", count.held + 1, count.most, "take fewer");
    const session = await cpuEngine.open(model, options);
    const dispose = session.dispose.bind(session);
    count.held++;
    session.dispose = () => {
      count.held--;
      return dispose();
    };
    return session;
  },
});

/**
 * Registers the CPU engine as "counted": it tells how many sessions are open, and opens none beyond
 * `most`.
 */
export function registerCounted(): { held: number; most: number } {
  registerEngine("counted", load, { automatic: false });
  return Object.assign(count, { held: 0, most: Number.POSITIVE_INFINITY });
}
