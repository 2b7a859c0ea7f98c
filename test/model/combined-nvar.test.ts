// Polynomials of delays among the members of a combination: when they take part, and that files and
// updates keep their bits.
import { describe, expect, it } from "vitest";
import { Forecaster, type ForecasterOptions, Matrix } from "../../src/index.js";

/** x' = 1 - 1.4 x^2 + y, y' = .3 x (Hénon 1976), from a row of it. */
function henon(rows: number, [x, y]: readonly [number, number] = [0.1, 0.1]): Matrix<Float64Array> {
  const out = Matrix.zeros(rows, 2);
  for (let t = 0; t < rows; t++) {
    out.row(t).set([x, y]);
    [x, y] = [1 - 1.4 * x * x + y, 0.3 * x];
  }
  return out;
}

const noise = (i: number) => Math.sin(1.7 * i * i);
const map = henon(420);
const noisy = new Matrix(
  420,
  2,
  map.data.map((value, i) => value + noise(i)),
);
const quick = { horizon: 5, reservoir: { size: 20, seed: 1 }, members: ["loop", "theta", "ets", "nvar"] } satisfies ForecasterOptions;
const made = (data: Parameters<typeof Forecaster.fit>[0], options: Partial<ForecasterOptions> = {}) =>
  Forecaster.fit(data, { ...quick, ...options } as ForecasterOptions);
const namesOf = ({ choice }: Forecaster) => choice!.members!.map(({ name }) => name);

describe("NVAR as a member", () => {
  it("takes over a series whose law it finds", async () => {
    await using forecaster = await made(map.subarray(0, 400));
    const nvar = forecaster.choice!.members!.at(-1)!;
    expect(nvar.name).toBe("nvar");
    for (const weight of nvar.weights) expect(weight).toBeGreaterThan(0.999);
    const ahead = await forecaster.forecast(5);
    const [x, y] = map.row(399);
    const truth = henon(6, [x!, y!]).subarray(1);
    for (const [i, value] of ahead.data.entries()) expect(value).toBeCloseTo(truth.data[i]!, 4);
  });

  it.each<[string, Parameters<typeof Forecaster.fit>[0]]>([
    ["of noise", noisy.subarray(0, 400)],
    ["of one column", map.subarray(0, 400).column(0)],
    ["of too few rows", map.subarray(0, 180)],
    ["with values that are known beforehand", { series: map.subarray(0, 400), known: noisy.subarray(0, 400) }],
  ])("takes no part in a series %s", async (_, data) => {
    await using forecaster = await made(data);
    expect(namesOf(forecaster)).not.toContain("nvar");
  });

  it("takes no part in series of many columns, which would be slow, and alone says what it takes", async () => {
    const wide = new Matrix(
      400,
      12,
      Float64Array.from({ length: 4800 }, (_, i) => noise(i)),
    );
    await using forecaster = await made(wide, { members: ["theta", "nvar"] });
    expect(namesOf(forecaster)).toEqual(["theta"]);
    await expect(made(wide, { members: ["nvar"] })).rejects.toThrow("nvar 2 to 11 columns");
  });

  it("goes on with the same bits from a file, after an update and after rows that it follows", async () => {
    await using whole = await made(map);
    await using part = await made(map.subarray(0, 380));
    await using opened = await Forecaster.fromBytes(await part.toBytes());
    expect([...(await opened.forecast(5)).data]).toEqual([...(await part.forecast(5)).data]);
    await opened.update(map.subarray(380, 400), { weights: "keep" });
    await part.predict(map.subarray(380, 400));
    expect([...(await opened.forecast(5)).data]).toEqual([...(await part.forecast(5)).data]);
    await opened.update(map.subarray(400));
    expect(await opened.toBytes()).toEqual(await whole.toBytes());
  });
});
