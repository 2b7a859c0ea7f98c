import { expect, it } from "vitest";
import { train } from "../../src/experiment/learner.js";
import { parseExperiment } from "../../src/experiment/parse.js";
import { Matrix } from "../../src/index.js";
import { registerCounted } from "../engine/counted.js";

it("gives the reservoir back where a readout that learns row by row diverges", async () => {
  const sessions = registerCounted();
  const experiment = parseExperiment({
    name: "steep",
    data: { task: "mackeyGlass" },
    reservoir: { size: 20 },
    readout: { type: "lms", learningRate: 1e6 },
    task: { type: "predict" },
  });
  const series = Matrix.from(Array.from({ length: 500 }, (_, t) => [Math.sin(t / 5)]));
  await expect(train(experiment, 1, series, { engine: "counted" }, {})).rejects.toThrow("leastMeanSquares diverged");
  expect(sessions.held).toBe(0);
});
