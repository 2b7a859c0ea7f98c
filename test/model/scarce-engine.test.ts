import { describe, expect, it } from "vitest";
import { cpuEngine } from "../../src/engine/cpu/index.js";
import { Classifier, EngineCapacityError, registerEngine } from "../../src/index.js";

let isScarce = true;
let held = 0;

// Two reservoirs at a time while it is scarce.
registerEngine(
  "scarce",
  async () => ({
    ...cpuEngine,
    name: "scarce",
    async open(model, options) {
      if (isScarce && held === 2) throw new EngineCapacityError("a third reservoir", 3, 2, "take fewer members");
      const session = await cpuEngine.open(model, options);
      const dispose = session.dispose.bind(session);
      held++;
      session.dispose = () => {
        held--;
        return dispose();
      };
      return session;
    },
  }),
  { automatic: false },
);

describe("a classifier of three members where there is room for two", () => {
  it("gives the two back, and has all three once there is room", async () => {
    const sequences = Array.from({ length: 6 }, (_, b) => Float64Array.from({ length: 8 }, (_, t) => Math.sin((t * (b % 2 ? 1 : 3)) / 4)));
    const labels = ["a", "b", "a", "b", "a", "b"];
    await using classifier = await Classifier.create({ reservoir: { size: 5, seed: 1 }, members: 3, engine: "scarce" });
    await expect(classifier.fit(sequences, labels)).rejects.toThrow(EngineCapacityError);
    expect(held).toBe(0);
    isScarce = false;
    await classifier.fit(sequences, labels);
    expect(classifier.computers).toHaveLength(3);
  });
});
