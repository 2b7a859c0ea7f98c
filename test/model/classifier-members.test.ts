import { describe, expect, it } from "vitest";
import { Classifier, EngineCapacityError } from "../../src/index.js";
import { registerCounted } from "../engine/counted.js";

describe("a classifier of three members, six reservoirs, of which four fit", () => {
  it("gives the four back, and has all six once they fit", async () => {
    const sessions = registerCounted();
    sessions.most = 4;
    const sequences = Array.from({ length: 6 }, (_, b) => Float64Array.from({ length: 8 }, (_, t) => Math.sin((t * (b % 2 ? 1 : 3)) / 4)));
    const labels = ["a", "b", "a", "b", "a", "b"];
    await using classifier = await Classifier.create({ reservoir: { size: 5, seed: 1 }, members: 3, engine: "counted" });
    await expect(classifier.fit(sequences, labels)).rejects.toThrow(EngineCapacityError);
    expect(sessions.held).toBe(0);
    sessions.most = 6;
    await classifier.fit(sequences, labels);
    expect(classifier.computers).toHaveLength(6);
  });
});
