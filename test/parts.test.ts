// The parts of the built package, each imported by itself: those that make reservoirs find the
// engines.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

/** What a program prints that is given to Node. */
async function printed(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]);
  return stdout.trim();
}

describe("a part of the package runs reservoirs without an import of the whole", () => {
  it.each([
    [
      "spillway/reservoir",
      `import { ReservoirComputer } from "spillway/reservoir";
       console.log((await (await ReservoirComputer.create({ size: 5 })).run([1, 2, 3])).rows);`,
      "3",
    ],
    [
      "spillway/model",
      `import { Forecaster } from "spillway/model";
       console.log((await (await Forecaster.fit([1, 2, 1, 2, 1, 2], { reservoir: { size: 5 }, washout: 1 })).forecast(2)).rows);`,
      "2",
    ],
    [
      "spillway/analysis",
      `import { compare } from "spillway/analysis";
       console.log((await compare({ size: 5 }, [1, 2, 3], ["reference", "cpu"])).equal);`,
      "true",
    ],
    [
      "spillway/spikes",
      `import { LiquidStateMachine } from "spillway/spikes";
       console.log((await LiquidStateMachine.create({ size: 5 })).model.size);`,
      "5",
    ],
    [
      "spillway/experiment",
      `import { runExperiment } from "spillway/experiment";
       const { result } = await runExperiment({
         name: "x", data: { task: "mackeyGlass" }, reservoir: { size: 5 }, task: "predict", split: { train: 150, test: 9 },
       });
       console.log(result.seeds.length);`,
      "1",
    ],
    [
      "spillway/model",
      `import { Pipeline } from "spillway/model";
       const pipeline = await new Pipeline({ reservoir: { size: 5 } }).fit([[1, 1], [2, 2], [1, 1], [2, 2]], ["a", "b", "a", "b"]);
       console.log((await pipeline.predict([[2, 2]])).length);`,
      "1",
    ],
  ])("%s", async (_, program, expected) => {
    expect(await printed(program)).toBe(expected);
  });
});
