// A user's own package: parts that are registered through the public API work wherever parts are
// chosen, without another edit. docs/extending.md says how; these are its rules.
import { execFile } from "node:child_process";
import { on } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ReservoirComputer } from "spillway";
import { experimentJsonSchema, runExperiment } from "spillway/experiment";
import { defaultSettings, openLab, stateHash } from "spillway/lab";
import { Forecaster } from "spillway/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { spillway } from "../cli/spillway.js";
import "./own-parts.mjs";

declare module "spillway/reservoir" {
  interface TopologyOptions {
    star: { readonly hub?: number };
  }
}

const run = promisify(execFile);
const ownParts = fileURLToPath(new URL("./own-parts.mjs", import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "spillway-parts-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const experiment = {
  name: "own",
  data: { task: "mackeyGlass" },
  reservoir: { size: 20, topology: { type: "star", hub: 3 } },
  task: { type: "predict" },
  split: { train: 200, test: 50 },
} as const;

describe("docs/extending.md", () => {
  it("shows the parts that are tested here", () => {
    const page = readFileSync(new URL("../../docs/extending.md", import.meta.url), "utf8");
    const spaceless = (text: string) => text.replace(/\s+|,(?=\s*[)}])/g, "");
    const tested = spaceless(readFileSync(ownParts, "utf8"));
    const parts = /^register(Topology|Activation)\(/m;
    const shown = [...page.matchAll(/```js\n([\s\S]*?)```/g)]
      .map(([, code]) => code!.replace(/^import .*\n/gm, ""))
      .filter((code) => parts.test(code));
    expect(shown.length).toBeGreaterThan(0);
    for (const code of shown) expect(tested).toContain(spaceless(code));
  });
});

describe("a topology of one's own", () => {
  it("makes W in create, with the radius that it says", async () => {
    await using computer = await ReservoirComputer.create({ size: 6, topology: { type: "star", hub: 2 }, spectralRadius: 0.5 });
    const { weights, measuredRadius, radiusMethod, config } = computer.model;
    expect(config.topology).toEqual({ type: "star", hub: 2 });
    expect({ measuredRadius, radiusMethod }).toEqual({ measuredRadius: Math.sqrt(5), radiusMethod: "analytic" });
    expect("columns" in weights && weights.columns.length).toBe(false);
    expect(weights.rows).toBe(6);
  });

  it.each([
    [{ size: 6, topology: { type: "star", hub: 6 } }, "topology.hub is 6; it takes a whole number below the size, 6"],
    [{ size: 6, topology: { type: "star", hubb: 1 } }, 'unknown field "topology.hubb": did you mean "hub"?'],
    [{ size: 6, topology: "stra" }, "(did you mean star?)"],
  ])("is checked as every other: %j", async (options, sentence) => {
    await expect(ReservoirComputer.create(options as never)).rejects.toThrow(sentence);
  });

  it("of 300,000 neurons runs: memory is planned by its expected connections", async () => {
    await using computer = await ReservoirComputer.create({ size: 300_000, topology: "star" });
    const states = await computer.run([0.1, 0.2, 0.3]);
    expect([states.rows, states.cols]).toEqual([3, 300_000]);
    expect(states.data.every(Number.isFinite)).toBe(true);
  });

  it("is taken by experiments, and is in their JSON Schema", async () => {
    const { result } = await runExperiment(experiment);
    expect(result.config.reservoir).toMatchObject({ topology: { type: "star", hub: 3 } });
    expect(JSON.stringify(experimentJsonSchema())).toContain("The neuron in the middle.");
  });

  it("is named in a model file, which loads where it is registered", async () => {
    const path = join(folder, "star.safetensors");
    const series = Array.from({ length: 60 }, (_, t) => Math.sin(t / 4));
    await using forecaster = await Forecaster.fit(series, { reservoir: { size: 12, topology: "star" }, washout: 5 });
    await forecaster.save(path);
    await using loaded = await Forecaster.load(path);
    expect((await loaded.forecast(5)).data).toEqual((await forecaster.forecast(5)).data);
    const model = fileURLToPath(new URL("../../dist/model/index.js", import.meta.url));
    const program = `const { Forecaster } = await import(${JSON.stringify(model)}); await Forecaster.load(${JSON.stringify(path)});`;
    await expect(run(process.execPath, ["--input-type=module", "-e", program])).rejects.toThrow(
      "(one of your own is registered first: registerTopology, or --import on the command line)",
    );
  });

  it("is taken by the command line with --import, and without is said to be missing", async () => {
    writeFileSync(join(folder, "own.yaml"), JSON.stringify(experiment));
    const missing = await spillway(["run", "own.yaml", "--quiet"], { cwd: folder });
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('reservoir.topology.type is "star"; it takes one of erdosRenyi');
    expect(missing.stderr).toContain("(one of your own is registered first: registerTopology, or --import on the command line)");
    const { code, stderr } = await spillway(["run", "own.yaml", "--quiet", "--import", ownParts], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const result = JSON.parse(readFileSync(join(folder, "runs", "own", "result.json"), "utf8"));
    expect(result.config.reservoir.topology).toEqual({ type: "star", hub: 3 });
  });

  it("is offered by the lab, and runs on its server", async () => {
    const page = fileURLToPath(new URL("../../dist/lab-page", import.meta.url));
    const lab = await openLab({ page, engine: "cpu" });
    const socket = new WebSocket(lab.url.replace("http", "ws"), { origin: new URL(lab.url).origin });
    const messages = on(socket, "message");
    const next = async () => JSON.parse(String(((await messages.next()).value as unknown[])[0])) as Record<string, unknown>;
    try {
      expect((await next())["topologies"]).toContain("star");
      const settings = { ...defaultSettings, size: 20, topology: "star" };
      socket.send(JSON.stringify({ type: "run", id: 1, settings, steps: 10 }));
      let message = await next();
      while (message["type"] === "progress") message = await next();
      expect(message).toMatchObject({ type: "result", id: 1, hash: await stateHash(settings) });
    } finally {
      socket.close();
      await lab.close();
    }
  });
});
