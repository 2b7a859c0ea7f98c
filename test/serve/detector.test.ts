// A served detector of anomalies says what the detector itself says.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AnomalyDetector, type AnomalyRow, type Incident } from "../../src/model/index.js";
import { ask, Models, post, wave } from "./served.js";

interface Said {
  readonly rows: AnomalyRow[];
  readonly incidents: Incident[];
}

let models: Models;
beforeAll(async () => {
  models = await Models.create();
});
afterAll(() => models[Symbol.asyncDispose]());

const json = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;
const odd = wave(60, 300).map(([x], t) => (t === 40 ? [9] : [x!]));
const opened = async () => AnomalyDetector.load(await models.path("detector"));

describe("a served detector", () => {
  it("answers each request from where it was saved", async () => {
    await using server = await models.serve("detector");
    const detector = await opened();
    const expected = json(odd.map((row) => detector.update(row)));
    for (let k = 0; k < 2; k++) {
      const said = await post<Said>(server, "/detect", { rows: odd });
      expect(said.rows).toEqual(expected);
      expect(said.incidents).toMatchObject([{ start: 340, by: "novelty", columns: ["value"] }]);
    }
    expect((await post<Said>(server, "/detect", { rows: odd.flat() })).rows).toEqual(expected);
    expect((await ask(server, "GET", "/model")).body).toMatchObject({ kind: "detector", columns: ["value"], alarmRate: 0.001, rows: 300 });
  });

  it("keeps a state for each session, whatever others do and if rows are refused", async () => {
    await using server = await models.serve("detector");
    const detector = await opened();
    const { session } = await post<{ session: string }>(server, "/sessions", {});
    const { session: other } = await post<{ session: string }>(server, "/sessions", {});
    const times = odd.map((_, t) => new Date(Date.UTC(2024, 0, 1, 0, 5 * t)).toISOString());
    const expected = odd.map((row, t) => detector.update(row, times[t]));
    const said: unknown[] = [];
    for (let t = 0; t < odd.length; t += 7) {
      await post(server, `/sessions/${other}/rows`, { rows: wave(3) });
      const refused = await ask(server, "POST", `/sessions/${session}/rows`, { rows: [[1], ["two"]] });
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({ error: { field: "row[0]" } });
      said.push(
        ...(await post<Said>(server, `/sessions/${session}/rows`, { rows: odd.slice(t, t + 7), times: times.slice(t, t + 7) })).rows,
      );
    }
    expect(said).toEqual(json(expected));
    expect((await ask(server, "DELETE", `/sessions/${session}`)).status).toBe(204);
    expect((await ask(server, "POST", `/sessions/${session}/rows`, { rows: [1] })).status).toBe(404);
  });

  it("sends alarms as events", async () => {
    await using server = await models.serve("detector");
    const { session } = await post<{ session: string }>(server, "/sessions", {});
    const listening = request({ port: server.port, host: "127.0.0.1", path: `/sessions/${session}/alarms`, agent: false });
    listening.end();
    const [response] = (await once(listening, "response")) as [IncomingMessage];
    await post(server, `/sessions/${session}/rows`, { rows: odd });
    await ask(server, "DELETE", `/sessions/${session}`);
    let text = "";
    for await (const part of response) text += String(part);
    const events = [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name, data]) => [name, JSON.parse(data!)]);
    expect(events).toMatchObject([
      ["alarm", { row: 340, alarm: { startedAt: 340, by: "novelty" } }],
      ["end", { reason: "the session was closed" }],
    ]);
  });

  it.each([
    [{ rows: [] }, /rows is an array of 0; it takes a list of rows of 1 numbers/],
    [{ rows: [[1, 2]] }, /row 300 has 2 values; the columns are value/],
    [{ rows: [[1]], times: [] }, /times has 0 stamps and rows 1/],
    [{ rows: [[1]], times: ["soon"] }, /time is "soon", which is no time stamp/],
    [{ rows: [[{}]] }, /row 300, column "value", is \{\}; it takes a number/],
    [{}, /rows is missing/],
  ])("refuses %j", async (body, sentence) => {
    await using server = await models.serve("detector");
    const { status, body: said } = await ask(server, "POST", "/detect", body);
    expect(status).toBe(400);
    expect((said as { error: { message: string } }).error.message).toMatch(sentence);
  });
});
