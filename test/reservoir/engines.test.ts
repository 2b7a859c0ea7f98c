// The choice of an engine: by name, or for "auto" by the modelled time of a step.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { cpuMicroseconds } from "../../src/engine/cpu/cost.js";
import type { Engine, EngineStatus } from "../../src/reservoir/engine.js";
import type { AnyShape, ModelShape } from "../../src/reservoir/shape.js";
import { minimalEngine } from "../engine/minimal.js";

let loads: string[] = [];
let chooseEngine: typeof import("../../src/reservoir/engines.js").chooseEngine;
let registerEngine: typeof import("../../src/reservoir/engines.js").registerEngine;

// A registry of engines for each test.
beforeEach(async () => {
  vi.resetModules();
  ({ chooseEngine, registerEngine } = await import("../../src/reservoir/engines.js"));
});

function engine(name: string, cost: ((shape: ModelShape) => number) | undefined, available = true): () => Promise<Engine> {
  const status: EngineStatus = { available, reason: available ? `${name} is here` : `${name} is not here` };
  return async () => {
    loads.push(name);
    const microseconds = ([of, ...others]: readonly AnyShape[]) => (others.length > 0 ? undefined : cost!(of as ModelShape));
    return { ...minimalEngine, name, probe: async () => status, ...(cost && { cost: { microseconds } }) };
  };
}

const shape = (size: number): ModelShape => ({
  ...{ size, inputSize: 1, outputSize: 0, nonzeros: size * size, noisy: false },
  ...({ storage: "dense", precision: "float32", weightPrecision: "full", arithmetic: "portable" } as const),
});

/**
 * Registers a small engine, a device that is quick for large sizes, and one that is not there, in
 * this order.
 */
function register(): void {
  loads = [];
  registerEngine(
    "host",
    engine("host", ({ size }) => size / 100),
    { automatic: true },
  );
  registerEngine(
    "device",
    engine("device", ({ size }) => 1 + size / 10_000),
    { automatic: true, numbered: true, leastMicroseconds: 1 },
  );
  registerEngine(
    "absent",
    engine("absent", () => 0.001, false),
    { automatic: true },
  );
  registerEngine("plain", engine("plain", undefined), { automatic: false });
}

describe("auto", () => {
  it("takes the engine whose step is modelled to be faster by more than twice, and says both times", async () => {
    register();
    const { engine: chosen, reason } = await chooseEngine("auto", shape(1000));
    expect(chosen.name).toBe("device");
    expect(reason).toContain("a step of 1000 neurons is modelled at 10 us on host and 1.1 us on device");
    expect(reason).toContain("absent is not available: absent is not here");
  });

  it("does not even load a device that cannot be worth it, and says why", async () => {
    register();
    const { engine: chosen, reason } = await chooseEngine("auto", shape(50));
    expect(chosen.name).toBe("host");
    expect(loads).not.toContain("device");
    expect(reason).toContain("a step of 50 neurons is modelled at 0.50 us");
    expect(reason).toContain("device was not asked: no step there takes less than 1 us, and it would have to be twice as fast");
  });

  it("stays where the gain would be small", async () => {
    register();
    const { engine: chosen, reason } = await chooseEngine("auto", shape(201));
    expect(chosen.name).toBe("host");
    expect(loads).toContain("device");
    expect(reason).toContain("2.0 us on host and 1.0 us on device, which is not twice as fast");
  });

  it("takes the first engine that is here where sizes are not known", async () => {
    register();
    expect((await chooseEngine()).engine.name).toBe("host");
  });
});

describe("auto for an ensemble", () => {
  const members = Array.from({ length: 100 }, (_, k) => shape(k < 50 ? 20 : 30));

  it("goes by the steps of all members: one after the other, or together where an engine does that", async () => {
    register();
    expect((await chooseEngine("auto", shape(20))).engine.name).toBe("host");
    const { engine: alike, reason: apart } = await chooseEngine("auto", members);
    expect(alike.name).toBe("host");
    expect(apart).toContain("a step of 100 reservoirs of 20 to 30 neurons is modelled at 25 us on host and 1.0e2 us on device");
    const together: Engine = {
      ...(await engine("device", () => 1)()),
      cost: { microseconds: (shapes) => (shapes.length > 1 ? shapes.length / 40 : 1) },
    };
    registerEngine("together", async () => ({ ...together, name: "together" }), { automatic: true, leastMicroseconds: 1 });
    const { engine: chosen, reason } = await chooseEngine("auto", members);
    expect(chosen.name).toBe("together");
    expect(reason).toContain("a step of 100 reservoirs of 20 to 30 neurons is modelled at 25 us on host and 2.5 us on together");
  });
});

describe("an engine by name", () => {
  it("is loaded once, and once for each device", async () => {
    register();
    const [first, again, second] = [await chooseEngine("device"), await chooseEngine("device:0"), await chooseEngine("device:3")];
    expect(first.engine).toBe(again.engine);
    expect(second.engine).not.toBe(first.engine);
    expect(loads).toEqual(["device", "device"]);
  });

  it.each([
    ["nowhere", 'there is no engine of that name; it takes "auto", "host", "device", "device:1", "absent" or "plain"'],
    ["host:1", "there is no engine of that name"],
    ["absent", "absent is not here"],
  ])("is refused where it is %s", async (name, sentence) => {
    register();
    await expect(chooseEngine(name)).rejects.toThrow(sentence);
  });
});

describe("an engine's name", () => {
  it("is its own: no other engine takes it, and the same one again changes nothing", async () => {
    register();
    const load = engine("own", undefined);
    const again = () => registerEngine("own", load, { automatic: false });
    again();
    again();
    for (const name of ["host", "auto"])
      expect(() => registerEngine(name, load, { automatic: false })).toThrow(
        `registerEngine: name is "${name}"; it takes a name that no engine has yet`,
      );
    expect((await chooseEngine("host")).engine.name).toBe("host");
  });
});

describe("the CPU engine's model of cost", () => {
  it.each([
    ["sparse", 100, 1e3, 0.74],
    ["sparse", 1000, 1e5, 23.77],
    ["sparse", 5000, 2.5e6, 579.34],
    ["dense", 300, 9e4, 5.58],
    ["dense", 1000, 1e6, 54.05],
    ["dense", 5000, 2.5e7, 3124.7],
  ] as const)("is within 30 %% of what was measured: %s N = %i", (storage, size, nonzeros, measured) => {
    const modelled = cpuMicroseconds([{ ...shape(size), inputSize: 3, storage, nonzeros }])!;
    expect(modelled / measured).toBeGreaterThan(0.7);
    expect(modelled / measured).toBeLessThan(1.3);
  });
});
