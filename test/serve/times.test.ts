// A served forecaster that knows the time: stamps and bands, in and out.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Forecaster } from "../../src/model/index.js";
import type { ModelServer } from "../../src/serve/index.js";
import { ask, days, Models, post, wave } from "./served.js";

interface Answer {
  readonly outputs: number[][];
  readonly times: string[];
  readonly bands?: { readonly level: number; readonly lower: number[][]; readonly upper: number[][] }[];
}

let models: Models;
let server: ModelServer;
let model: Forecaster;
beforeAll(async () => {
  models = await Models.create();
  server = await models.serve("timed");
  model = await Forecaster.load(await models.path("timed"), { engine: "cpu" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model.dispose();
  await models[Symbol.asyncDispose]();
});

const open = (count: number, from = 0) => wave(count).map((_, t) => [(from + t) % 5]);
const rows = { series: wave(60, 300), known: open(60, 300) };

describe("a served forecaster with time stamps", () => {
  it("says of itself how its rows follow one another", async () => {
    const { body } = await ask(server, "GET", "/model");
    const time = { form: "YYYY-MM-DD", step: "1 day", trained: "2024-07-18" };
    expect(body).toMatchObject({ inputs: 2, outputs: 1, known: 1, horizon: 8, time, columns: ["flow"] });
  });

  it("answers with times and bands, from where it was saved", async () => {
    const known = open(6, 200);
    const forecast = await model.forecast(6, { known, intervals: [0.8, 0.9] });
    const { outputs, times, bands } = await post<Answer>(server, "/forecast", { steps: 6, known, intervals: [0.8, 0.9] });
    expect(outputs).toEqual(forecast.toArrays());
    expect(times).toEqual(days(6, 200));
    const wanted = forecast.bands!.map(({ level, lower, upper }) => ({ level, lower: lower.toArrays(), upper: upper.toArrays() }));
    expect(bands).toEqual(wanted);
    expect(await post<Answer>(server, "/forecast", { steps: 6, known })).not.toHaveProperty("bands");
  });

  it("answers with quantiles, which a combination has for any number of steps", async () => {
    const known = open(6, 200);
    const { quantiles } = await model.forecast(6, { known, quantiles: [0.1, 0.5] });
    const said = quantiles!.map(({ level, values }) => ({ level, values: values.toArrays() }));
    expect(await post<object>(server, "/forecast", { steps: 6, known, quantiles: [0.1, 0.5] })).toMatchObject({ quantiles: said });
    await using combined = await Forecaster.load(await models.path("combined"));
    const long = await combined.forecast(9, { quantiles: [0.9] });
    await using other = await models.serve("combined");
    const answer = await post<{ quantiles: object[] }>(other, "/forecast", { steps: 9, quantiles: [0.9] });
    expect(answer.quantiles).toEqual([{ level: 0.9, values: long.quantiles![0]!.values.toArrays() }]);
  });

  it("answers for one of several series by its key, and for a new one by its rows", async () => {
    await using several = await Forecaster.load(await models.path("several"));
    await using other = await models.serve("several");
    const { body } = await ask(other, "GET", "/model");
    expect(body).toMatchObject({ keys: ["north", "south"] });
    const outputs = async (more: object) => (await post<Answer>(other, "/forecast", { steps: 3, ...more })).outputs;
    expect(await outputs({ key: "north" })).toEqual((await several.forecast(3, { key: "north" })).toArrays());
    const warmup = wave(30, 20);
    expect(await outputs({ warmup })).toEqual((await several.forecast(3, { warmup })).toArrays());
    expect(await outputs({ key: "south", warmup })).toEqual((await several.forecast(3, { key: "south", warmup })).toArrays());
    expect((await ask(other, "POST", "/forecast", { steps: 3, key: "west" })).status).toBe(400);
  });

  it("answers with bands of what members differ by, without a horizon", async () => {
    await using ensemble = await Forecaster.load(await models.path("ensemble"), { engine: "cpu" });
    await using other = await models.serve("ensemble");
    const asked = { intervals: [0.5], bandsFrom: "members" } as const;
    const { bands } = await ensemble.forecast(5, asked);
    const answer = await post<Answer>(other, "/forecast", { steps: 5, ...asked });
    expect(answer.bands).toEqual(bands!.map(({ level, lower, upper }) => ({ level, lower: lower.toArrays(), upper: upper.toArrays() })));
    // The model with one member knows no such bands.
    const { status } = await ask(server, "POST", "/forecast", { steps: 2, known: open(2), ...asked });
    expect(status).toBe(400);
  });

  it("takes a warm-up with a stamp a row, or with that of the first", async () => {
    const known = open(4, 360);
    const forecast = await model.forecast(4, { warmup: { ...rows, times: days(60, 300) }, known });
    const each = await post<Answer>(server, "/forecast", { steps: 4, known, warmup: { ...rows, times: days(60, 300) } });
    const first = await post<Answer>(server, "/forecast", { steps: 4, known, warmup: { ...rows, start: days(1, 300)[0] } });
    expect(each).toEqual({ outputs: forecast.toArrays(), times: days(4, 360) });
    expect(first).toEqual(each);
    // Another weekday is another forecast.
    const later = await post<Answer>(server, "/forecast", { steps: 4, known, warmup: { ...rows, start: days(1, 301)[0] } });
    expect(later.outputs).not.toEqual(each.outputs);
  });

  it("gives each step the known row of its time", async () => {
    const warmup = { ...rows, start: days(1, 300)[0] };
    const wanted = await post<Answer>(server, "/forecast", { steps: 4, known: open(4, 360), warmup });
    const known = { values: open(10, 355), start: days(1, 355)[0] };
    expect(await post<Answer>(server, "/forecast", { steps: 4, known, warmup })).toEqual(wanted);
  });

  it("keeps the time of a session as its rows come", async () => {
    const { session } = await post<{ session: string }>(server, "/sessions", { warmup: { ...rows, start: days(1, 300)[0] } });
    await post(server, `/sessions/${session}/rows`, { inputs: wave(2, 360), known: open(2, 360) });
    const body = { steps: 3, known: open(3, 362), intervals: [0.9] };
    const { times, bands } = await post<Answer>(server, `/sessions/${session}/forecast`, body);
    expect(times).toEqual(days(3, 362));
    expect(bands![0]!.lower).toHaveLength(3);
  });

  it.each([
    [{ warmup: rows }, "warmup.times is missing; this forecaster takes the calendar of its rows"],
    [{ warmup: { ...rows, times: days(59, 300) } }, "warmup.times has 59 stamps and there are 60 rows"],
    [{ warmup: { ...rows, times: days(60), start: "2024-01-01" } }, "warmup.start was given beside warmup.times"],
    [{ warmup: { ...rows, start: "2024-01-01 12:00" } }, "warmup.start (2024-01-01 12:00) is not on the grid of the training rows"],
    [{ warmup: { ...rows, start: "yesterday" } }, 'warmup.start: "yesterday" is no time stamp'],
    [{ warmup: { ...rows, times: [...days(59), "2024-05-05"] } }, "is 67 steps after the row before it"],
    [{ known: { values: open(4), start: "2025-01-01" } }, "known has no row of 2024-07-19, step 1 of 4"],
    [{ steps: 9, known: open(9), intervals: [0.9] }, "steps is 9; it takes at most 8 with intervals"],
    [{ intervals: [0.999] }, "intervals[0] is 0.999; it takes at most 0.962"],
    [{ intervals: [90] }, "intervals[0] is 90; it takes a number above 0 and below 1"],
  ])("refuses %j in a sentence", async (body, sentence) => {
    const { status, body: refused } = await ask(server, "POST", "/forecast", { steps: 4, known: open(4), ...body });
    expect({ status, message: (refused as { error: { message: string } }).error.message }).toEqual({
      status: 400,
      message: expect.stringContaining(sentence),
    });
  });

  it("refuses more numbers with bands than one answer holds", async () => {
    const body = { steps: 2000, known: open(2000), intervals: Array.from({ length: 100 }, () => 0.9) };
    expect(await ask(server, "POST", "/forecast", body)).toMatchObject({ status: 422, body: { error: { code: "limit" } } });
  });
});
