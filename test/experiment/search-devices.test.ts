// A search over several devices: each batch is distributed over all of them, and its trials are those
// of the CPU, to the bit and in order.
import "../../src/index.js";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { SearchInput } from "../../src/experiment/index.js";
import { distributedEngine } from "../../src/reservoir/engine/distributed.js";
import type { Engine } from "../../src/reservoir/engine.js";
import { chooseEngine } from "../../src/reservoir/engines.js";
import { registerEngine } from "../../src/reservoir/index.js";
import { casesOf } from "../exhaustive.js";
import { smallNarma, trialsOf } from "./small-searches.js";

// The simulated driver of this process is made when it is first asked for.
Object.assign(process.env, { SPILLWAY_SIM_DEVICES: "3", SPILLWAY_SIM_MEMORY: `${2 ** 25}`, SPILLWAY_SIM_LAUNCH_MEMORY: `${2 ** 25}` });

const folder = mkdtempSync(join(tmpdir(), "spillway-search-devices-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const narma: SearchInput = {
  ...smallNarma,
  search: {
    space: { "reservoir.spectralRadius": { float: [0.1, 1.4] }, "readout.lambda": { sweep: [1e-8, 1], points: 2 } },
    seeds: 2,
    budget: { trials: 5 },
    sampler: { type: "tpe", batch: 3, startup: 2 },
  },
};
const mackeyGlass: SearchInput = {
  ...{ ...narma, name: "mackey-glass", data: { task: "mackeyGlass" }, metrics: ["nrmseAtHorizon"] },
  task: { type: "forecast", horizon: 4, starts: 2, warmup: 5 },
};
const halving: SearchInput = { ...narma, name: "halving", search: { ...narma.search, halving: { rows: [30, 67], keep: 0.34 } } };

const trialsOn = (source: SearchInput, engine: string) => trialsOf(source, engine, join(folder, `${source.name}-${engine}.log`));

describe("a search over three devices", () => {
  it.each(
    casesOf(
      [
        ["closed loops", mackeyGlass],
        ["halving", halving],
      ] as const,
      ([name]) => name === "halving",
    ),
  )("has the trials of the CPU: %s", async (_, source) => {
    const ours = await trialsOn(source, "sim:0-2");
    expect(ours).toEqual(await trialsOn(source, "cpu"));
    expect(ours.length).toBeGreaterThan(3);
  });

  it("gives each device its share of every batch", async () => {
    const shares = new Map<string, number[]>();
    const watched = async (name: string): Promise<Engine> => {
      const { engine } = await chooseEngine(name);
      const device = engine.device!;
      return {
        ...engine,
        device: {
          ...device,
          evaluate: (work) => {
            shares.set(name, [...(shares.get(name) ?? []), work.members.length]);
            return device.evaluate(work);
          },
        },
      };
    };
    registerEngine("watched", async () => distributedEngine("watched", [await watched("sim"), await watched("sim:1")]), {
      automatic: false,
    });
    await trialsOn({ ...narma, name: "shares" }, "watched");
    // Three trials of two seeds and two penalties, then the two that the budget leaves.
    expect([...shares]).toEqual([
      ["sim", [6, 4]],
      ["sim:1", [6, 4]],
    ]);
  });
});
