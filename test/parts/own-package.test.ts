// A user's own package: parts that are registered through the public API work wherever parts are
// chosen, without another edit. docs/extending.md says how; these are its rules.
import { execFile } from "node:child_process";
import { on } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { loadReservoir, ReservoirComputer, saveReservoir } from "spillway";
import { lyapunovExponent } from "spillway/analysis";
import { experimentJsonSchema, runExperiment } from "spillway/experiment";
import { Forecaster, type ReadoutDescription, toOnnx } from "spillway/model";
import { registerActivation, registerReservoirKind } from "spillway/reservoir";
import { defaultSettings, openLab, stateHash } from "spillway/serve";
import type { EncoderTypes } from "spillway/spikes";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { spillway } from "../cli/spillway.js";
import "./own-parts.mjs";

declare module "spillway/reservoir" {
  interface TopologyOptions {
    star: { readonly hub?: number };
  }
  interface ReservoirKindOptions {
    pendulums: { readonly damping?: number };
  }
  interface ActivationNames {
    softsign: true;
  }
}

declare module "spillway/model" {
  interface ReadoutTypes {
    clipped: { readonly limit?: number };
  }
}

declare module "spillway/spikes" {
  interface EncoderTypes {
    levels: { readonly count: number };
  }
}

// The compiler is the test: these have the types that are declared above.
({ type: "clipped", limit: 1 }) satisfies ReadoutDescription;
({ count: 2 }) satisfies EncoderTypes["levels"];
// @ts-expect-error A limit is a number.
({ type: "clipped", limit: "1" }) satisfies ReadoutDescription;

const run = promisify(execFile);
const ownParts = fileURLToPath(new URL("./own-parts.mjs", import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "spillway-parts-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Loads a model in a program that registers nothing. */
async function loadElsewhere(path: string): Promise<void> {
  const model = fileURLToPath(new URL("../../dist/api/model.js", import.meta.url));
  const program = `const { Forecaster } = await import(${JSON.stringify(model)}); await Forecaster.load(${JSON.stringify(path)});`;
  await run(process.execPath, ["--input-type=module", "-e", program]);
}

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
    const parts = /^register(Topology|Activation|ReservoirKind)\(/m;
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
    await expect(loadElsewhere(path)).rejects.toThrow(
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
      expect((await next())["offered"]).toMatchObject({ topologies: expect.arrayContaining(["star"]) });
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

describe("an activation function of one's own", () => {
  const series = (rows: number, cols: number) =>
    Array.from({ length: rows }, (_, t) => Array.from({ length: cols }, (_, c) => Math.sin(t * (c + 1))));

  it.each([
    { precision: "float32", storage: "dense" },
    { precision: "float64", storage: "dense" },
    { precision: "float32", storage: "sparse" },
    { precision: "float64", storage: "sparse" },
  ] as const)("gives the same bits on one thread, on several, and on the reference: $precision, $storage", async (shape) => {
    const config = {
      ...shape,
      size: 75,
      inputSize: 2,
      activation: "softsign",
      noiseLevel: 0.01,
      bias: 0.2,
      leakRate: 0.4,
      feedback: {},
    } as const;
    const inputs = series(40, 2);
    const teacher = series(40, 1);
    const results = [];
    for (const options of [{ engine: "reference" }, { engine: "cpu" }, { engine: "cpu", threads: 2 }]) {
      await using computer = await ReservoirComputer.create(config, options);
      const states = await computer.run(inputs, { teacher });
      const next = computer.step([0.1, 0.2]);
      results.push({
        states: states.data,
        next: next.slice(),
        batch: (await computer.batch([inputs, inputs.slice(3)])).map(({ data }) => data),
      });
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  it("is what its equation says", async () => {
    await using computer = await ReservoirComputer.create(
      { size: 1, activation: "softsign", leakRate: 0.5, spectralRadius: null, precision: "float64" },
      { matrices: { inputWeights: [[1]] } },
    );
    expect([...(await computer.run([3, -1])).data]).toEqual([0.375, 0.375 / 2 - 0.25]);
  });

  it("may be bounded where the pre-activation is not", async () => {
    registerActivation({ name: "sign", description: "-1 or 1.", options: {}, bounded: true, f: (z) => (z < 0 ? -1 : 1) });
    for (const engine of ["reference", "cpu"]) {
      const config = { size: 1, activation: "sign" as "tanh", leakRate: 1, spectralRadius: null, precision: "float64" } as const;
      await using computer = await ReservoirComputer.create(config, { engine, matrices: { inputWeights: [[1e308]] } });
      expect([...(await computer.run([100, -100, 0])).data]).toEqual([1, -1, 1]);
    }
  });

  it("closes a loop, and goes on from a state", async () => {
    const wave = Array.from({ length: 200 }, (_, t) => Math.sin(t / 5));
    const forecasts = [];
    for (const engine of ["reference", "cpu"]) {
      await using forecaster = await Forecaster.fit(wave, { reservoir: { size: 40, activation: "softsign" }, washout: 20, engine });
      forecasts.push((await forecaster.forecast(30)).data);
    }
    expect(forecasts[1]).toEqual(forecasts[0]);
    expect(forecasts[0]!.every(Number.isFinite)).toBe(true);
  });

  it("runs by auto on the CPU, which says so, and is refused by a device", async () => {
    await using computer = await ReservoirComputer.create({ size: 20, activation: "softsign" });
    expect(computer.engine.name).toBe("cpu");
    expect(computer.engine.plan.summary).toContain("softsign in JavaScript");
    await expect(ReservoirComputer.create({ size: 20, activation: "softsign" }, { engine: "sim" })).rejects.toMatchObject({
      code: "value",
      field: "activation",
      message:
        'activation is "softsign"; it takes one of tanh, identity, relu, sigmoid on the engine "sim"; a function of your own runs on "cpu" and "reference"',
    });
  });

  it("that says it is bounded and is not ends the run, and the reservoir is where it was", async () => {
    registerActivation({ name: "reciprocal", description: "1 / z.", options: {}, bounded: true, f: (z) => 1 / z });
    const config = { size: 1, activation: "reciprocal" as "tanh", spectralRadius: null };
    for (const engine of ["reference", "cpu"]) {
      await using computer = await ReservoirComputer.create(config, { engine });
      await computer.run([1]);
      const { values } = computer.state;
      await expect(computer.run([0])).rejects.toMatchObject({
        code: "numeric",
        message: 'the activation "reciprocal" gives Infinity for 0, and says that it is bounded',
      });
      expect(computer.state.values).toEqual(values);
    }
  });

  it("is refused where its slope or its operator would have to be known", async () => {
    await expect(lyapunovExponent({ size: 10, activation: "softsign" })).rejects.toThrow(
      "tanh, identity, relu, sigmoid, whose slopes are known",
    );
    await using forecaster = await Forecaster.fit(series(60, 1), { reservoir: { size: 12, activation: "softsign" }, washout: 5 });
    await expect(toOnnx(forecaster)).rejects.toThrow("in ONNX, which holds no function of JavaScript");
  });

  it("is named in a model file, and missing where it is not registered", async () => {
    const path = join(folder, "softsign.safetensors");
    await using forecaster = await Forecaster.fit(series(60, 1), { reservoir: { size: 12, activation: "softsign" }, washout: 5 });
    await forecaster.save(path);
    await using loaded = await Forecaster.load(path);
    expect((await loaded.forecast(5)).data).toEqual((await forecaster.forecast(5)).data);
    await expect(loadElsewhere(path)).rejects.toThrow("activation");
  });

  it("is taken by experiments on the command line", async () => {
    writeFileSync(
      join(folder, "softsign.yaml"),
      JSON.stringify({ ...experiment, name: "softsign", reservoir: { size: 20, activation: "softsign" } }),
    );
    const { code, stderr } = await spillway(["run", "softsign.yaml", "--quiet", "--import", ownParts], { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

describe("a kind of reservoir of one's own", () => {
  const config = { kind: "pendulums", size: 6, damping: 0.2 } as const;
  const push = Float32Array.from({ length: 40 }, (_, t) => ((t * 17) % 11) / 11 - 0.5);

  it("carries hidden values from step to step, in one run and in pieces, and in a model file", async () => {
    await using computer = await ReservoirComputer.create(config);
    const whole = await computer.run(push);
    expect(whole.cols).toBe(6);
    computer.reset();
    await computer.run(push.subarray(0, 15));
    const file = join(folder, "pendulums.safetensors");
    await saveReservoir(file, computer);
    const { computer: loaded } = await loadReservoir(file);
    expect((await loaded.run(push.subarray(15))).data).toEqual(whole.slice(15).data);
    computer.state = { ...computer.state };
    expect((await computer.run(push.subarray(15))).data).toEqual(whole.slice(15).data);
    await loaded.dispose();
  });

  it("steps by its equation", async () => {
    await using computer = await ReservoirComputer.create(config);
    const [first, second] = [await computer.run([1]), await computer.run([1])];
    expect(first.at(0, 3)).toBeCloseTo(0.01, 7);
    // v = .8 * .1 + .1 (1 - sin(.01) / 4), x = .01 + .1 v
    expect(second.at(0, 3)).toBeCloseTo(0.01 + 0.1 * (0.08 + 0.1 * (1 - Math.sin(0.01) / 4)), 7);
  });

  it("runs from an experiment's file, and stands in the schema", async () => {
    const { result } = await runExperiment({ ...experiment, reservoir: config });
    expect(result.config.reservoir).toMatchObject(config);
    expect(JSON.stringify(experimentJsonSchema())).toContain("The share of the speed that friction removes in a step.");
  });

  it("is refused under a name that is taken, and named if it is not registered", async () => {
    const { name, description, options } = { name: "oscillator", description: "Mine.", options: {} };
    const rest = { sizes: () => ({ states: 1, matrices: {} }), draw: () => ({ initial: [0], matrices: {} }), stepper: () => () => {} };
    expect(() => registerReservoirKind({ name, description, options, ...rest })).toThrow("a name that no kind of reservoir has yet");
    await expect(ReservoirComputer.create({ ...config, kind: "pendulum" } as never)).rejects.toThrow("did you mean pendulums?");
  });
});
