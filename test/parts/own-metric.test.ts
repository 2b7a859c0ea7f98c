// A metric that a user's package registers is computed wherever an experiment names it.
import { afterAll, describe, expect, it } from "vitest";
import { casesOf } from "../exhaustive.js";
import { ownPackage } from "./own-package.js";

const own = ownPackage("A metric");
afterAll(() => own[Symbol.dispose]());

const experiment = (scoring: string, task: string) =>
  `name: own\ndata: { task: mackeyGlass, length: 400 }\nreservoir: { size: 20 }\ntask: ${task}\nmetrics: [within, nrmse]\nscoring: ${scoring}\noutputs: { report: false }\n`;

describe("a metric of a user's package", () => {
  it("scores an experiment of a program and its baselines, by its options", async () => {
    expect(
      await own.printed(`
        import { runExperiment } from "spillway/experiment";
        const run = async (tolerance) => {
          const { result } = await runExperiment({
            name: "own", data: { task: "mackeyGlass", length: 400 }, reservoir: { size: 20 }, task: "predict",
            metrics: ["within"], scoring: { options: { within: { tolerance } } }, outputs: { report: false },
          });
          return result.scores[0];
        };
        const [wide, narrow] = [await run(100), await run(1e-12)];
        console.log(JSON.stringify([wide.value, narrow.value < 0.1, wide.better, wide.baselines.map(({ value }) => value)]));`),
    ).toEqual([1, true, "higher", [1, 1]]);
  });

  it.each(casesOf(["predict", "{ type: forecast, horizon: 5 }"], (task) => task === "predict"))(
    "scores an experiment file whose task is %s",
    async (task) => {
      own.write("own.yaml", experiment("{ options: { within: { tolerance: 0.5 } } }", task));
      expect(await own.cli("run", "own.yaml", "--import", "./own.mjs")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining("within"),
      });
    },
  );

  it("has mistakes in its options named with their line, and is in the schema", async () => {
    own.write("wrong.yaml", experiment("{ options: { within: { tolerence: 0.5 } } }", "predict"));
    expect(await own.cli("run", "wrong.yaml", "--import", "./own.mjs")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/wrong\.yaml:6.*scoring\.options\.within\.tolerence": did you mean "tolerance"/),
    });
    expect((await own.cli("schema", "--import", "./own.mjs")).stdout).toContain('"within"');
  });

  it("is missed with a sentence that says how it becomes known", async () => {
    own.write("own.yaml", experiment("{}", "predict"));
    expect(await own.cli("run", "own.yaml")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/own\.yaml:5.*registered first: registerMetric, or --import/),
    });
  });
});
