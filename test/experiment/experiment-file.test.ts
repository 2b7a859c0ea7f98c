import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ExperimentError } from "../../src/experiment/description/errors.js";
import { loadExperiment, parseExperimentText } from "../../src/experiment/description/file.js";

const least = `name: least
data: { task: narma, length: 500 }
reservoir: { size: 50 }
task: predict
`;
const encoded = (encode: string): string => `name: cases
data: { sounds: . }
encode: { ${encode} }
reservoir: { size: 50 }
task: classify
`;
const parse = (text: string, overrides: readonly string[] = []) => parseExperimentText(text, "x.yaml", overrides).experiment;
const failure = (text: string, overrides: readonly string[] = []): string => {
  try {
    parse(text, overrides);
  } catch (error) {
    return (error as Error).message;
  }
  return "nothing";
};

describe("an experiment file", () => {
  it("fills in every default", () => {
    expect(parse(least)).toEqual({
      name: "least",
      data: { task: "narma", length: 500, options: {}, redraw: false },
      transforms: ["standardise"],
      reservoir: { size: 50, bias: 0.5, inputScaling: 0.2, spectralRadius: 1 },
      readout: { type: "ridge" },
      task: { type: "predict" },
      washout: "auto",
      split: {},
      seeds: ["spillway"],
      metrics: ["nrmse", "rmse", "mae", "r2"],
      scoring: { norm: "std", threshold: 0.4, statistic: "median" },
      baselines: ["persistence", "mean"],
      published: [],
      outputs: { states: "none", every: 1, report: true, model: true, refit: true },
    });
  });

  it.each([
    ["a series takes z-scores", "readout: ridge", { transforms: ["standardise"], reservoir: { bias: 0.5, inputScaling: 0.2 } }],
    ["but not before a readout that learns row by row", "readout: rls", { transforms: [], reservoir: { bias: 0.5, inputScaling: 0.2 } }],
    ["nor where none are asked for", "transforms: []", { transforms: [] }],
  ])("%s", (_, line, expected) => {
    expect(parse(`${least}${line}\n`)).toMatchObject(expected);
  });

  const recipe = {
    ...{ size: 9, bias: 0.5, spectralRadius: 0.9, leakRate: { from: 0.05, to: 1 } },
    topology: { type: "fixedInDegree", degree: 8 },
  };

  it.each([
    ["cases are turned into z-scores", "data: { file: a.ts }\nreservoir: { size: 9 }\ntask: classify", ["standardise"], recipe],
    [
      "but not those that an encoder turns into spikes",
      "data: { file: a.ts }\nencode: { encoder: rate, frameMs: 10 }\nreservoir: { size: 9 }\ntask: classify",
      [],
      recipe,
    ],
    ["nor those that are spikes", "data: { file: a.ts }\nliquid: { size: 9 }\ntask: classify", [], { kind: "spiking", size: 9 }],
    ["nor those that templates are held against", "data: { file: a.ts }\nreservoir: { size: 9 }\ntask: detect", [], { size: 9 }],
  ])("%s", (_, lines, transforms, reservoir) => {
    expect(parse(`name: cases\n${lines}\n`)).toMatchObject({ transforms, baselines: ["majority"] });
    expect(parse(`name: cases\n${lines}\n`).reservoir).toEqual(reservoir);
  });

  it("has a ridge readout where options of one stand without a type", () => {
    expect(parse(`${least}readout: { lambda: 0.1 }\n`).readout).toEqual({ type: "ridge", lambda: 0.1 });
    expect(failure(`${least}readout: { alpha: 0.1 }\n`)).toContain('ridge: unknown field "readout.alpha"; known fields are transform');
  });

  it("may be JSON, which is YAML", () => {
    const json = JSON.stringify({ name: "least", data: { task: "narma", length: 500 }, reservoir: { size: 50 }, task: "predict" });
    expect(parse(json)).toEqual(parse(least));
  });

  it.each([
    ["seeds: 3", [0, 1, 2]],
    ["seeds: [7, eight]", [7, "eight"]],
    ["seed: 5", [5]],
  ])("takes %s", (line, seeds) => {
    expect(parse(least + line).seeds).toEqual(seeds);
  });

  it.each([
    ["predict", 300],
    ["{ type: forecast, horizon: 5, members: [loop] }", 300],
  ] as const)("needs no reservoir for %s", (task, size) => {
    expect(parse(`name: x\ndata: { task: lorenz, length: 500 }\ntask: ${task}`).reservoir).toMatchObject({ size });
    expect(parse(`name: x\ndata: { task: lorenz, length: 500 }\nreservoir: { leakRate: 1 }\ntask: ${task}`).reservoir).toMatchObject({
      size,
      leakRate: 1,
    });
  });

  it("takes a reservoir of layers or groups, and names what is wrong in it", () => {
    const text = (reservoir: string) => `name: x\ndata: { task: lorenz }\nreservoir: ${reservoir}\ntask: { type: forecast, horizon: 5 }`;
    expect(parse(text("{ layers: [{ leakRate: 1 }, {}], size: 20, read: last }")).reservoir).toMatchObject({ size: 20, read: "last" });
    expect(parse(text("{ groups: [{ size: 5, inputs: [0] }, { size: 9 }] }")).reservoir).toMatchObject({
      groups: [{ size: 5 }, { size: 9 }],
    });
    expect(() => parse(text("{ layers: [{ size: 5 }, {}] }").replace("forecast, horizon: 5", "detect"))).toThrow(
      "reservoir.layers[1].size is missing",
    );
    expect(() => parse(text("{ groups: [{ size: 5, input: [0] }] }"))).toThrow('unknown field "reservoir.groups[0].input"');
    expect(() => parse(text("{ layers: [{ size: 5 }], layer: 2 }"))).toThrow('unknown field "reservoir.layer": did you mean "layers"?');
  });

  it("takes the seed of the reservoir where no other is given, and refuses two", () => {
    const withSeed = least.replace("size: 50", "size: 50, seed: 9");
    expect(parse(withSeed).seeds).toEqual([9]);
    expect(failure(`${withSeed}seed: 5\n`)).toBe(
      "x.yaml:3: reservoir.seed is 9; it takes nothing if seed or seeds is given at the top of the file",
    );
  });

  it.each([
    ["an unknown field, with the nearest one", `${least}washuot: 5\n`, 'x.yaml:5: unknown field "washuot": did you mean "washout"?'],
    [
      "an unknown field of the reservoir",
      least.replace("size: 50", "size: 50, leakrate: 1"),
      'x.yaml:3: unknown field "reservoir.leakrate": did you mean "leakRate"?',
    ],
    [
      "an unknown field of the topology",
      least.replace("size: 50", "size: 50, topology: {type: ring, wieght: 1}"),
      'x.yaml:3: unknown field "reservoir.topology.wieght": did you mean "weight"?',
    ],
    [
      "an unknown field of the readout",
      `${least}readout: { type: ridge, lamda: 1 }\n`,
      'x.yaml:5: ridge: unknown field "readout.lamda": did you mean "lambda"?',
    ],
    [
      "an unknown option of the generator",
      least.replace("length: 500", "length: 500, options: {ordr: 5}"),
      'x.yaml:2: unknown field "data.options.ordr": did you mean "order"?',
    ],
    [
      "an unknown option of the encoder",
      encoded("encoder: rate, maximumRateHz: 90"),
      'x.yaml:3: unknown field "encode.maximumRateHz": did you mean "maxRateHz"?',
    ],
    [
      "a value that the encoder does not take",
      encoded("encoder: cochlea, channels: 0"),
      "x.yaml:3: encode.channels is 0; it takes a whole number of at least 1",
    ],
    [
      "a value that a field does not take",
      least.replace("size: 50", "size: many"),
      'x.yaml:3: reservoir.size is "many"; it takes a whole number of at least 1',
    ],
    [
      "a value in a list",
      `${least}transforms: [standardise, sqash]\n`,
      'x.yaml:5: transforms[1] is "sqash"; it takes "log", "boxCox", "standardise", "squash", {difference: lag}, {log: c}, {boxCox: L} or {transform: name}',
    ],
    [
      "no size",
      least.replace("{ size: 50 }", "{}").replace("predict", "detect"),
      "x.yaml:3: reservoir.size is missing; it takes a whole number of at least 1",
    ],
    [
      "no data",
      least.replace(/data: .*\n/, ""),
      "x.yaml: data is missing; it takes an object with task (a generated series), file, sounds, cases, spikes or patterns (generated ones)",
    ],
    [
      "data of two kinds",
      least.replace("task: narma", "task: narma, file: a.csv"),
      'x.yaml:2: data is {"task":"narma","file":"a.csv","length":500}; it takes task or file, not both',
    ],
    [
      "a readout of templates",
      least.replace("task: predict", "task: detect").concat("readout: { lambda: 1 }\n"),
      "x.yaml:5: readout.lambda is 1; it takes nothing for detect, which trains no readout",
    ],
    [
      "a washout of templates",
      least.replace("task: predict", "task: detect").concat("washout: 5\n"),
      "x.yaml:5: washout is 5; it takes nothing for detect, which trains no readout",
    ],
    [
      "a split of cases that have a test file",
      "name: x\ndata: { file: a.ts, test: b.ts }\nreservoir: { size: 5 }\ntask: classify\nsplit: { train: 0.5 }\n",
      "x.yaml:5: split.train is 0.5; it takes nothing if data.test names the test part",
    ],
    [
      "a test part beside a test file",
      "name: x\ndata: { file: a.csv, test: b.csv }\nreservoir: { size: 5 }\ntask: predict\nsplit: { train: 0.5, test: 10 }\n",
      "x.yaml:5: split.test is 10; it takes nothing if data.test names the test part",
    ],
    [
      "a published score of another task",
      `${least}published: [{ score: accuracy, value: 1, source: x }]\n`,
      'x.yaml:5: published[0].score is "accuracy"; it takes for predict nrmse, rmse, mse, mae, r2',
    ],
    [
      "an unknown task",
      least.replace("task: predict", "task: forcast"),
      'x.yaml:4: task.type is "forcast"; it takes predict, forecast, classify, detect, anomalies (did you mean forecast?)',
    ],
    [
      "a forecast without a horizon",
      least.replace("task: predict", "task: {type: forecast}"),
      "x.yaml:4: task.horizon is missing; it takes a whole number of at least 1",
    ],
    [
      "a metric of another task",
      `${least}metrics: [accuracy]\n`,
      'x.yaml:5: metrics is "accuracy"; it takes for predict nrmse, rmse, mse, mae, r2',
    ],
    [
      "a readout of another task",
      `${least}readout: softmax\n`,
      'x.yaml:5: readout.type is "softmax"; it takes one of ridge, rls, lms for predict',
    ],
    [
      "lambda and lambdas",
      `${least}readout: { type: ridge, lambda: 1, lambdas: [1] }\n`,
      "x.yaml:5: lambda and readout.lambdas are both given; it takes one of them",
    ],
    ["a seed given twice", `${least}seeds: [1, "1"]\n`, 'x.yaml:5: seeds is "1"; it takes each seed once'],
    [
      "a name that is no folder's",
      least.replace("name: least", "name: ../least"),
      'x.yaml:1: name is "../least"; it takes letters, digits, points, dashes and underscores, beginning with a letter or a digit',
    ],
    [
      "standardising before another transform",
      `${least}transforms: [standardise, squash]\n`,
      "x.yaml:5: transforms is an array of 2; it takes standardise at most once, as the last of the list",
    ],
    [
      "something that is no object",
      "- 1\n- 2\n",
      "x.yaml: the experiment is an array of 2; it takes an object with name, data, reservoir and task",
    ],
    ["an empty file", "", "x.yaml: the experiment is null; it takes an object with name, data, reservoir and task"],
  ])("refuses %s, naming the line and what it takes", (_, text, sentence) => {
    expect(failure(text)).toBe(sentence);
  });

  it("names the line where the text is not YAML", () => {
    expect(failure("name: x\ndata: [1, 2\ntask: predict\n")).toMatch(/^x\.yaml:3: this is not YAML: /);
    expect(failure("name: x\nname: y\n")).toBe('x.yaml:2: the key "name" stands twice in one map');
  });

  it.each(["<<: *base", "<<: { size: 3 }", "<<: [*base, *base]"])("refuses to leave out a merge of maps: %s", (merge) => {
    expect(() => parseExperimentText(`name: x\ndata: &base { task: narma }\nreservoir:\n  ${merge}\n`, "a.yaml")).toThrow(
      'a.yaml:4: "<<" (a merge of maps) is not read: write the fields out, or name a whole map by an alias',
    );
  });

  it("carries line and field in its error", () => {
    try {
      parse(least.replace("size: 50", "size: 0"));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ExperimentError);
      expect(error).toMatchObject({ path: "x.yaml", line: 3, field: "reservoir.size" });
    }
  });

  it("that is missing is an error with near names", async () => {
    const folder = await mkdtemp(join(tmpdir(), "spillway-"));
    await writeFile(join(folder, "narma10.yaml"), least);
    await expect(loadExperiment(join(folder, "narma.yaml"))).rejects.toThrow(`no such file in ${folder}; did you mean narma10.yaml?`);
  });
});

describe("--set", () => {
  it("changes a field, reading the value as YAML", () => {
    expect(parse(least, ["reservoir.size=80"]).reservoir).toMatchObject({ size: 80 });
    expect(parse(least, ["reservoir.topology={type: ring}"]).reservoir).toMatchObject({ topology: { type: "ring" } });
    expect(parse(least, ["seeds=[1, two]"]).seeds).toEqual([1, "two"]);
    expect(parse(least, ["readout.type=ridge", "readout.lambda=1e-3"]).readout).toEqual({ type: "ridge", lambda: 0.001 });
  });

  it("takes a sign alone as itself: a delimiter or a decimal mark", () => {
    const file = "name: x\ndata: {file: a.csv}\nreservoir: {size: 5}\ntask: predict\n";
    expect(parse(file, ["data.decimal=,", "data.delimiter=|"]).data).toMatchObject({ decimal: ",", delimiter: "|" });
    expect(parse(file, ["data.delimiter=;"]).data).toMatchObject({ delimiter: ";" });
  });

  it("changes a field of a task or a readout that is named by its type alone", () => {
    expect(parse(least, ["task.ahead=3"]).task).toEqual({ type: "predict", ahead: 3 });
    expect(parse(`${least}readout: rls\n`, ["readout.alpha=2"]).readout).toEqual({ type: "rls", alpha: 2 });
  });

  it("changes an item of a list by its position, and adds one at the end", () => {
    const text = `${least}seeds: [1, 2]\n`;
    expect(parse(text, ["seeds.0=5"]).seeds).toEqual([5, 2]);
    expect(parse(text, ["seeds.2=3"]).seeds).toEqual([1, 2, 3]);
    expect(failure(text, ["seeds.4=3"])).toBe(
      'x.yaml: with --set, seeds.4 is 3; it takes a position from 0 to 2 in place of "4", since seeds is a list',
    );
  });

  it("takes the place of the other of two fields of which there is one", () => {
    expect(parse(`${least}seeds: [1, 2]\n`, ["seed=7"]).seeds).toEqual([7]);
    expect(parse(`${least}readout: {type: ridge, lambda: 1}\n`, ["readout.lambdas=[1, 2]"]).readout).toEqual({
      type: "ridge",
      lambdas: [1, 2],
    });
  });

  it.each([
    [
      "rows that are no whole number",
      "split.train=1.5",
      "split.train is 1.5; it takes a whole number of rows above 1, or a share above 0 and of at most 1, which is all rows",
    ],
    [
      "fewer than no rows",
      "split.test=-1",
      "split.test is -1; it takes a whole number of rows of at least 1, or a share above 0 and below 1",
    ],
    ["a column twice", "data={file: a.csv, columns: [load, load]}", 'data.columns[1] is "load"; it takes each column once'],
    ["an unknown field", "reservoir.sice=80", 'x.yaml: with --set, unknown field "reservoir.sice": did you mean "size"?'],
    [
      "a value that the field does not take",
      "reservoir.size=-1",
      "x.yaml: with --set, reservoir.size is -1; it takes a whole number of at least 1",
    ],
    ["a field below a value", "name.first=x", 'x.yaml: with --set, name.first is "x"; it takes an object above it, and name is "least"'],
    ["no value", "reservoir.size", 'x.yaml: --set is "reservoir.size"; it takes field=value, such as reservoir.size=500'],
    [
      "a value that is not YAML",
      "name=[1",
      'x.yaml: with --set, name is "[1"; it takes a value that YAML reads; quote it if it holds : { [ or #',
    ],
    ["the prototype of objects", "__proto__.size=1", 'x.yaml: with --set, unknown field "__proto__"'],
  ])("refuses %s", (_, override, sentence) => {
    expect(failure(least, [override])).toContain(sentence);
  });
});
