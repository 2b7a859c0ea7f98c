// Reservoirs that run side by side again and again: the same states as one by one, on engines that
// keep them and on those that do not.
import { describe, expect, it } from "vitest";
import { DisposedError, Matrix, ReservoirComputer, ReservoirEnsemble } from "../../src/index.js";

const configs = [1, 2, 3].map((seed) => ({ size: 4 + seed, seed, noiseLevel: 0.01 }));
const series = (steps: number, scale: number) => Float64Array.from({ length: steps }, (_, t) => scale * Math.sin(t));

describe.each(["cpu", "sim"])("a ReservoirEnsemble on %s", (engine) => {
  it("gives each run the states that each reservoir has alone from its initial state", async () => {
    await using ensemble = await ReservoirEnsemble.create(configs, { engine });
    expect(ensemble.engine).toMatchObject({ name: engine, plan: { engine, details: { reservoirs: 3 } } });
    expect(ensemble.models.map(({ size }) => size)).toEqual([5, 6, 7]);
    for (const inputs of [series(9, 1), series(20, 0.5)]) {
      const all = await ensemble.run(inputs);
      const last = await ensemble.run({ each: [inputs, inputs.slice(0, 7), inputs] }, { keep: "last" });
      expect(await ensemble.run(inputs, { keep: "none" })).toEqual([]);
      for (const [r, config] of configs.entries()) {
        await using alone = await ReservoirComputer.create(config, { engine: "cpu" });
        expect(all[r]!.data).toEqual((await alone.run(inputs)).data);
        expect(last[r]!.row(0)).toEqual(all[r]!.row(r === 1 ? 6 : inputs.length - 1));
      }
    }
  });

  it("takes one call at a time, and none when it is disposed", async () => {
    const ensemble = await ReservoirEnsemble.create(configs, { engine });
    const run = ensemble.run(series(300, 1));
    await expect(ensemble.run(series(3, 1))).rejects.toThrow("this ensemble is still running another call");
    await run;
    await ensemble.dispose();
    await expect(ensemble.run(series(3, 1))).rejects.toThrow(DisposedError);
  });
});

it("a ReservoirEnsemble says what is wrong with its description and with a run", async () => {
  await expect(ReservoirEnsemble.create([])).rejects.toThrow("configs is empty; an ensemble takes at least one reservoir");
  await expect(ReservoirEnsemble.create(configs, { egine: "cpu" } as never)).rejects.toThrow(
    'unknown field "egine": did you mean "engine"?',
  );
  await using ensemble = await ReservoirEnsemble.create(configs, { engine: "cpu" });
  await expect(ensemble.run({ each: [series(3, 1)] })).rejects.toThrow("inputs.each holds 1 series; 3 reservoirs take as many");
  await expect(ensemble.run(Matrix.zeros(4, 2))).rejects.toThrow("inputs has 2 columns");
});
