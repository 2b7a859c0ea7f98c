// How long blocks wait for one another: the option, the environment, and what neither may be.
import { afterEach, describe, expect, it, vi } from "vitest";
import { openDevice } from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { spinLimitOf } from "../../src/engine/cuda/spin-limit.js";
import { model } from "./contract.js";

afterEach(() => vi.unstubAllEnvs());

describe("the limit of a wait between blocks", () => {
  it("is the option, else SPILLWAY_SPIN_LIMIT, else 8e9 clock ticks, 4 seconds at 2 GHz", () => {
    vi.stubEnv("SPILLWAY_SPIN_LIMIT", undefined);
    expect(spinLimitOf()).toBe(8e9);
    vi.stubEnv("SPILLWAY_SPIN_LIMIT", "");
    expect(spinLimitOf()).toBe(8e9);
    vi.stubEnv("SPILLWAY_SPIN_LIMIT", "4e12");
    expect([spinLimitOf(), spinLimitOf(3000)]).toEqual([4e12, 3000]);
  });

  it.each([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])("is not %d", (limit) => {
    expect(() => spinLimitOf(limit)).toThrow(`spinLimit is ${limit}; it takes clock ticks, a whole number from 1 to 9007199254740991`);
  });

  it.each(["0", "4 s", "1e16"])("is not what SPILLWAY_SPIN_LIMIT=%s says", (text) => {
    vi.stubEnv("SPILLWAY_SPIN_LIMIT", text);
    expect(() => spinLimitOf()).toThrow(`SPILLWAY_SPIN_LIMIT is "${text}"; it takes clock ticks, a whole number from 1`);
  });

  it("is refused by every plan, those that never wait too", async () => {
    const engine = deviceEngine({ name: "sim", open: () => openDevice({ driver: simulatedDriver() }) });
    await expect(engine.open(model({ size: 5 }), { plan: "streamed", spinLimit: 0 })).rejects.toThrow("spinLimit is 0");
    vi.stubEnv("SPILLWAY_SPIN_LIMIT", "soon");
    await expect(engine.open(model({ size: 5 }), { plan: "streamed" })).rejects.toThrow('SPILLWAY_SPIN_LIMIT is "soon"');
    engine.close();
  });
});
