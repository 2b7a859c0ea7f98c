// Combinations as C and WebAssembly: what they forecast, and go on to forecast after new rows, has
// the package's bits.
import { describe, expect, it } from "vitest";
import "../../src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { Forecaster, toWasm } from "../../src/model/index.js";
import { combinations } from "./c-combinations.js";

const rowsOf = ({ rows, cols, data }: Matrix) =>
  Array.from({ length: rows }, (_, t) => Array.from(data.subarray(t * cols, (t + 1) * cols)));

describe("a combination as WebAssembly", () => {
  it.each(combinations.map((each) => [each.name, each] as const))("%s", async (_, { names, data, next, ahead, options, steps }) => {
    await using model = await Forecaster.fit(data, options);
    expect(model.choice!.members!.map(({ name }) => name)).toEqual(names);
    const { module, host } = await toWasm(model);
    const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
    const exported = await load(module);
    const known = (from: number) => (ahead ? rowsOf(ahead.subarray(from, from + steps)) : []);
    const forecast = async (from: number) =>
      rowsOf((await model.forecast(steps, ahead ? { known: ahead.subarray(from, from + steps) } : {})) as Matrix);
    expect(exported.forecast(steps, known(0))).toEqual(await forecast(0));
    for (const [t, row] of rowsOf(next).entries()) {
      const values = Matrix.from([row]);
      if (ahead) {
        await model.update({ series: values, known: ahead.subarray(t, t + 1) }, { weights: "keep" });
        exported.observe(row, rowsOf(ahead.subarray(t, t + 1))[0]);
      } else expect(exported.predict(row)).toEqual(rowsOf((await model.predict(values)) as Matrix)[0]);
      if (t % 7 === 6) expect(exported.forecast(steps, known(t + 1))).toEqual(await forecast(t + 1));
    }
    expect(() => exported.reset()).toThrow("this model has no reset");
  });

  it("takes the calendar", async () => {
    const start = Date.UTC(2024, 0, 1);
    const stamps = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, t) => new Date(start + 3_600_000 * (from + t)).toISOString().slice(0, 16));
    const load = (from: number, to: number) =>
      Matrix.from(Array.from({ length: to - from }, (_, t) => [9 + Math.sin((from + t) / 3.8) + 0.1 * Math.sin((from + t) ** 2)]));
    const options = { horizon: 24, season: 24, calendar: ["hour"] as const, reservoir: { seed: 1 } };
    await using model = await Forecaster.fit({ series: load(0, 300), times: stamps(0, 300) }, options);
    const { module, host } = await toWasm(model);
    const { load: open } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
    const exported = await open(module);
    const ahead = (from: number) => Array.from({ length: 30 }, (_, t) => exported.calendar(start + 3_600_000 * (from + t)));
    expect(exported.forecast(30, ahead(300))).toEqual(rowsOf((await model.forecast(30)).values as Matrix));
    await model.update({ series: load(300, 305), times: stamps(300, 305) }, { weights: "keep" });
    for (const [t, row] of rowsOf(load(300, 305)).entries()) exported.observe(row, exported.calendar(start + 3_600_000 * (300 + t)));
    expect(exported.forecast(30, ahead(305))).toEqual(rowsOf((await model.forecast(30)).values as Matrix));
  });

  it("goes back to a state that is kept, and to where it began", async () => {
    const { data, options } = combinations.find(({ name }) => name === "hours")!;
    await using model = await Forecaster.fit(data, options);
    const { module, host } = await toWasm(await Forecaster.fromBytes(await model.toBytes()));
    const { load } = await import(`data:text/javascript,${encodeURIComponent(host)}`);
    const exported = await load(module);
    const { state } = exported;
    const said = exported.forecast(9);
    exported.predict([50]);
    exported.state = state;
    expect(exported.forecast(9)).toEqual(said);
    exported.begin();
    expect(exported.forecast(9)).toEqual(said);
  });
});
