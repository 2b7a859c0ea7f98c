// `spillway plan`: how an engine would run the reservoir of an experiment.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { matrixSpectralRadius } from "../../packages/numerics/src/index.js";
import { describePlan } from "../../src/cli/commands/plan.js";

vi.mock("../../packages/numerics/src/index.js", async (original) => {
  const numerics = await original<typeof import("../../packages/numerics/src/index.js")>();
  return { ...numerics, matrixSpectralRadius: vi.fn(numerics.matrixSpectralRadius) };
});

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spillway-plan-"));
  file = join(folder, "small.yaml");
  await writeFile(file, "name: small\ndata: { task: narma, length: 700 }\nreservoir: { size: 40 }\ntask: predict\n");
});
afterAll(() => rm(folder, { recursive: true }));

describe("the plan of an experiment", () => {
  it("names engine, device, kernel, chunk and bytes, without running anything", async () => {
    const text = await describePlan(file, { engine: "sim", plan: "streamed" });
    expect(text).toMatch(/^small: 40 neurons on sim \(asked for; Spillway simulated device opens/);
    for (const part of ['plan "streamed"', "sparse_step_", "stepsPerChunk", "bytesBesideChunks"]) expect(text).toContain(part);
  });

  it("says where the kernels come from, which may be named", async () => {
    const text = await describePlan(file, { engine: "sim", kernelSource: "shipped" });
    expect(text).toMatch(/kernelSource +shipped/);
    expect(text).toMatch(/arithmetic +portable/);
  });

  it("is that of the experiment with fields changed", async () => {
    expect(await describePlan(file, { engine: "cpu", set: ["reservoir.size=70"] })).toMatch(/^small: 70 neurons/);
  });

  it("measures no radius, which takes longer than all else", async () => {
    await describePlan(file, { engine: "cpu" });
    expect(matrixSpectralRadius).not.toHaveBeenCalled();
  });

  it("is JSON where that is asked for", async () => {
    const { engine, plan } = JSON.parse(await describePlan(file, { engine: "cpu", json: true })) as {
      engine: string;
      plan: { engine: string };
    };
    expect([engine, plan.engine]).toEqual(["cpu", "cpu"]);
  });

  it.each([
    [{ plan: "streamed" }, 'plan is "streamed"'],
    [{ kernelSource: "nvrtc" }, 'kernelSource is "nvrtc"'],
  ])("refuses %j where the engine has no choice", async (options, named) => {
    await expect(describePlan(file, { engine: "cpu", ...options })).rejects.toThrow(`${named}; the engine "cpu" has only one way to run`);
  });

  it("refuses a plan that there is not, with those that there are", async () => {
    await expect(describePlan(file, { engine: "sim", plan: "fastest" })).rejects.toThrow('plan is "fastest"; it takes "auto"');
  });
});
