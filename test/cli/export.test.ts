// `spillway export`: the files that it writes, and what it refuses.
import "../../src/index.js";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Matrix } from "../../packages/numerics/src/index.js";
import { Classifier, Forecaster, toC } from "../../src/model/index.js";
import { mackeyGlass } from "../../src/tasks/index.js";
import { casesOf } from "../exhaustive.js";
import { spillway } from "./in-process.js";

let cwd: string;
let source: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "spillway-export-"));
  const series = Matrix.from(mackeyGlass(300, { seed: 2 }));
  await using forecaster = await Forecaster.fit(series, { reservoir: { size: 20 } });
  await forecaster.save(join(cwd, "model.safetensors"));
  ({ source } = await toC(forecaster, { name: "tide" }));
  const classifier = await Classifier.fit([series, series], ["a", "b"], { reservoir: { size: 10 } });
  await classifier.save(join(cwd, "classes.safetensors"));
  await classifier.dispose();
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

describe("spillway export", () => {
  it("writes the C of a run's model, that of the function, and says where", async () => {
    const ended = await spillway(["export", ".", "--to", "c", "--name", "tide"], { cwd });
    expect(ended).toMatchObject({ code: 0, stdout: "tide.h\ntide.c\n", stderr: "" });
    expect(await readFile(join(cwd, "tide.c"), "utf8")).toBe(source);
  });

  it("writes the C of a classifier", async () => {
    expect(await spillway(["export", "classes.safetensors", "--to", "c", "--name", "gesture"], { cwd })).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, "gesture.h"), "utf8")).toContain("int gesture_classify(gesture_work *work");
  });

  it("makes the folder that it writes to", async () => {
    const ended = await spillway(["export", "model.safetensors", "--to", "c", "--out", "new/folder", "--name", "tide"], { cwd });
    expect(ended).toMatchObject({ code: 0, stdout: "new/folder/tide.h\nnew/folder/tide.c\n" });
    expect(await readFile(join(cwd, "new/folder/tide.c"), "utf8")).toBe(source);
  });

  it("writes a WebAssembly module and its host", async () => {
    const ended = await spillway(["export", "model.safetensors", "--to", "wasm", "--name", "tide"], { cwd });
    expect(ended).toMatchObject({ code: 0, stdout: "tide.wasm\ntide.js\n", stderr: "" });
    expect(await readdir(cwd)).toEqual(expect.arrayContaining(["tide.wasm", "tide.js"]));
  });

  it("writes a graph of a forecaster and of a classifier", async () => {
    expect(await spillway(["export", "model.safetensors", "--to", "onnx", "--use", "forecast"], { cwd })).toMatchObject({ code: 0 });
    expect(await spillway(["export", "classes.safetensors", "--to", "onnx", "--name", "classes"], { cwd })).toMatchObject({ code: 0 });
    expect(await readdir(cwd)).toEqual(expect.arrayContaining(["model.onnx", "classes.onnx"]));
  });

  it.each(
    casesOf(
      [
        [["model.safetensors", "--to", "c", "--name", "double"], 'name is "double"; it takes a name of C'],
        [["model.safetensors", "--to", "c", "--out", "model.safetensors"], "model.safetensors: a file of that name is there already"],
        [["none.safetensors", "--to", "c"], "none.safetensors: no such file"],
      ] as const,
      (_, k) => k === 0,
    ),
  )("refuses %j", async (args, sentence) => {
    expect(await spillway(["export", ...args], { cwd })).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  });
});
