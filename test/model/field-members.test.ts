// Members of a field forecaster: fields of other seeds, whose median is the forecast.
import { describe, expect, it } from "vitest";
import { FieldForecaster, type FieldOptions, Forecaster, type Matrix } from "../../src/index.js";
import { lorenz96 } from "../../src/tasks/index.js";

const field = lorenz96(560, { N: 6, dt: 0.02, discard: 700 });
const train = field.subarray(0, 500);
const small: FieldOptions = {
  groups: 3,
  halo: 1,
  reservoir: { size: 40, seed: 7 },
  readout: { lambda: 1e-4 },
  members: 3,
  engine: "cpu",
};
const { readout: _, ...unchosen } = small;
const middle = (matrices: readonly Matrix[]) =>
  matrices[0]!.data.map((_, i) => matrices.map(({ data }) => data[i]!).sort((a, b) => a - b)[1]!);

describe("members of a field", () => {
  it.each([true, false])("forecast and predict the median of fields of these seeds, with shared weights: %s", async (shared) => {
    await using all = await FieldForecaster.fit(train, { ...small, shared });
    const alone = await Promise.all(
      [7, "7/1", "7/2"].map((seed) => FieldForecaster.fit(train, { ...small, shared, members: 1, reservoir: { size: 40, seed } })),
    );
    expect(all.members).toHaveLength(3);
    expect(all.computers).toBe(all.members[0]!.computers);
    const rows = field.subarray(500, 510);
    expect((await all.forecast(12)).data).toEqual(middle(await Promise.all(alone.map((one) => one.forecast(12)))));
    expect((await all.predict(rows)).data).toEqual(middle(await Promise.all(alone.map((one) => one.predict(rows)))));
    // All of them moved on.
    expect((await all.forecast(2)).data).toEqual(middle(await Promise.all(alone.map((one) => one.forecast(2)))));
    for (const one of alone) await one.dispose();
  });

  it("of one group are those of a Forecaster, bit for bit, with their bands", async () => {
    const { groups: __, halo: ___, ...plain } = small;
    await using one = await FieldForecaster.fit(train, { ...plain, groups: 1, shared: false });
    await using other = await Forecaster.fit(train, plain);
    const asked = { intervals: [0.5, 0.9], bandsFrom: "members" } as const;
    expect(await one.forecast(9, asked)).toEqual(await other.forecast(9, asked));
    expect(await one.score(field.subarray(500))).toBe(await other.score(field.subarray(500)));
  });

  it("choose one lambda by their median, and go on from their file", async () => {
    const lambdas = [1e-5, 1e-1, 1e3];
    await using model = await FieldForecaster.fit(train, { ...unchosen, horizon: 10, choose: { lambdas, starts: 10 } });
    expect(model.choice!.kept[0]!.lambda).toBeLessThan(1e3);
    const details = model.members.map(({ readouts }) => readouts[0]!.training!.details["lambda"]);
    expect(details).toEqual(details.map(() => model.choice!.kept[0]!.lambda));
    await using again = await FieldForecaster.fromBytes(await model.toBytes());
    const asked = { intervals: [0.8] };
    expect(await again.forecast(10, asked)).toEqual(await model.forecast(10, asked));
    expect(again.state).toEqual(model.state);
    expect(await again.toBytes()).toEqual(await model.toBytes());
  });

  it("may be a list of seeds, and are trained again where they stand", async () => {
    await using model = await FieldForecaster.fit(train, { ...small, members: ["a", 5] });
    const first = await model.forecast(4);
    const { computers } = model;
    await model.fit(train);
    expect(model.computers[0]).toBe(computers[0]);
    expect(await model.forecast(4)).toEqual(first);
  });

  it("says what is wrong", async () => {
    await expect(FieldForecaster.fit(train, { ...small, members: 0 })).rejects.toThrow(
      "members is 0; it takes a whole number of at least 1",
    );
    await using one = await FieldForecaster.fit(train, { ...small, members: 1 });
    await expect(one.forecast(3, { intervals: [0.9], bandsFrom: "members" })).rejects.toThrow(
      'bandsFrom is "members" and this forecaster has one; fit it with members: 2 or more',
    );
    await using two = await FieldForecaster.fit(train, { ...small, members: 2 });
    const state = two.state;
    await expect(async () => {
      one.state = state;
    }).rejects.toThrow("one that this forecaster's `state` gave");
  });
});
