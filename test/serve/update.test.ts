// POST /update: a served forecaster takes in rows that follow, for every client.
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Forecaster } from "../../src/model/index.js";
import { ask, days, Models, post, wave } from "./served.js";

interface Answer {
  readonly outputs: number[][];
}

const how = { horizon: 4, members: ["theta", "damped"], engine: "cpu" } as const;
let models: Models;
beforeAll(async () => {
  models = await Models.create();
});
afterAll(() => models[Symbol.asyncDispose]());

describe("an update of a served forecaster", () => {
  it("makes it that of a fit of all rows, to the bit, for every request that follows", async () => {
    await using server = await models.serve("combined");
    expect(await post(server, "/update", { rows: wave(5, 40) })).toEqual({ rows: 45 });
    expect(await post(server, "/update", { rows: wave(3, 45), weights: "fit" })).toEqual({ rows: 48 });
    await using whole = await Forecaster.fit(wave(48), how);
    expect((await post<Answer>(server, "/forecast", { steps: 4 })).outputs).toEqual((await whole.forecast(4)).toArrays());
    expect((await ask(server, "GET", "/model")).body).toMatchObject({ rows: 48 });
  });

  it("goes on with the weights of a model that keeps no rows to train on again", async () => {
    await using server = await models.serve("forecaster");
    await using saved = await Forecaster.load(await models.path("forecaster"), { engine: "cpu" });
    expect(await post(server, "/update", { rows: wave(2, 40) })).toEqual({});
    await saved.update(wave(2, 40), { weights: "keep" });
    expect((await post<Answer>(server, "/forecast", { steps: 2 })).outputs).toEqual((await saved.forecast(2)).toArrays());
  });

  it("waits for its turn among requests, each of which sees the model before it or behind it", async () => {
    await using server = await models.serve("combined");
    await using before = await Forecaster.fit(wave(40), how);
    await using behind = await Forecaster.fit(wave(50), how);
    const [first, , last] = await Promise.all([
      post<Answer>(server, "/forecast", { steps: 3 }),
      post(server, "/update", { rows: wave(10, 40) }),
      post<Answer>(server, "/forecast", { steps: 3 }),
    ]);
    const possible = [before, behind].map(async (model) => JSON.stringify((await model.forecast(3)).toArrays()));
    const said = await Promise.all(possible);
    for (const { outputs } of [first, last]) expect(said).toContain(JSON.stringify(outputs));
    expect((await post<Answer>(server, "/forecast", { steps: 3 })).outputs).toEqual((await behind.forecast(3)).toArrays());
  });

  it("ends sessions if it trains again, and keeps them if the model stays as it is", async () => {
    await using server = await models.serve("combined");
    const open = async () => (await post<{ session: string }>(server, "/sessions", {})).session;
    const [kept, ended] = [await open(), await open()];
    await post(server, "/update", { rows: wave(2, 40), weights: "keep" });
    const { outputs } = await post<Answer>(server, `/sessions/${kept}/forecast`, { steps: 2 });
    await using saved = await Forecaster.load(await models.path("combined"), { engine: "cpu" });
    expect(outputs).toEqual((await saved.forecast(2)).toArrays());
    await saved.update(wave(2, 40), { weights: "keep" });
    expect((await post<Answer>(server, "/forecast", { steps: 2 })).outputs).toEqual((await saved.forecast(2)).toArrays());
    await post(server, "/update", { rows: wave(1, 42) });
    expect((await ask(server, "POST", `/sessions/${ended}/forecast`, { steps: 2 })).status).toBe(404);
  });

  it("continues time stamps, and says how far the model is trained", async () => {
    await using model = await Forecaster.fit({ series: wave(40), times: days(40) }, how);
    const path = await models.path("combined").then((found) => found.replace("combined", "dated"));
    await writeFile(path, await model.toBytes());
    const { serveModel } = await import("../../src/serve/index.js");
    await using server = await serveModel(path, { port: 0, engine: "cpu" });
    const start = days(1, 40)[0];
    expect(await post(server, "/update", { rows: { series: wave(2, 40), start } })).toEqual({ rows: 42, time: days(1, 41)[0] });
    expect((await ask(server, "GET", "/model")).body).toMatchObject({ trainedTo: days(1, 41)[0] });
    const { status, body } = await ask(server, "POST", "/update", { rows: { series: wave(2, 40), start } });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(days(1, 42)[0]!)]);
  });

  it.each([
    ["forecaster", { rows: wave(2), weights: "fit" }, 400, 'take weights: \\"keep\\"'],
    ["combined", { rows: [[1, 2]] }, 400, "columns"],
    ["combined", { rows: [] }, 400, "rows"],
    ["combined", { rows: [[null]] }, 400, "rows"],
    ["combined", { rows: wave(2), weights: "none" }, 400, "keep"],
    ["combined", {}, 400, "rows"],
    ["several", { rows: wave(2) }, 404, "there is no"],
    ["reservoir", { rows: wave(2) }, 404, "there is no"],
  ] as const)("of a %s with %j is refused with %i", async (name, body, status, words) => {
    await using server = await models.serve(name);
    const before = await ask(server, "POST", "/forecast", { steps: 2 });
    const refused = await ask(server, "POST", "/update", body);
    expect(refused.status).toBe(status);
    expect(JSON.stringify(refused.body)).toContain(words);
    expect((await ask(server, "POST", "/forecast", { steps: 2 })).body).toEqual(before.body);
  });

  it("is bounded in rows and in time, and then changes nothing", async () => {
    await using server = await models.serve("combined", { timeout: 1e-6 });
    const { status } = await ask(server, "POST", "/update", { rows: wave(2000, 40) });
    expect(status).toBe(503);
    await using open = await models.serve("combined", { maxBody: 2 ** 24 });
    const many = `{"rows":[${new Array(2 ** 20).fill(0).join(",")}]}`;
    const refused = await ask(open, "POST", "/update", many);
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringContaining("1048616 rows")]);
    expect((await ask(open, "GET", "/model")).body).toMatchObject({ rows: 40 });
  });
});
