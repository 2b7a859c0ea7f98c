// The node under a small stand-in for Node-RED: what it sends, how it continues, what it refuses.
// SPILLWAY is the module to import, if it is not installed beside this folder.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import test from "node:test";

const register = createRequire(import.meta.url)("./anomalies.js");
const load = () => import(process.env.SPILLWAY ?? "spillway");

/** A node of these settings over a context. */
function nodeOf(config, stored = new Map()) {
  let type;
  register(
    {
      nodes: {
        createNode() {},
        registerType: (_, made) => {
          type = made;
        },
      },
    },
    load,
  );
  const node = new EventEmitter();
  const said = { errors: [], warnings: [], status: [] };
  Object.assign(node, {
    context: () => ({ get: (name) => stored.get(name), set: (name, value) => stored.set(name, value) }),
    error: (text) => said.errors.push(text),
    warn: (text) => said.warnings.push(text),
    status: (status) => said.status.push(status),
  });
  type.call(node, config);
  const ask = (message) =>
    new Promise((resolve, reject) => {
      let sent;
      node.emit(
        "input",
        message,
        (out) => {
          sent = out;
        },
        (error) => (error ? reject(error) : resolve(sent)),
      );
    });
  return { ask, said, stored, close: () => new Promise((done) => node.emit("close", done)) };
}

const load1 = (t) => Math.sin(t / 8) + 0.1 * Math.cos(1.7 * t * t) + (t === 420 ? 4 : 0);

test("sends every message, and alarms to the second output", async () => {
  const { ask, said } = nodeOf({ columns: "value", alarmRate: "0.001" });
  const alarms = [];
  for (let t = 0; t < 450; t++) {
    const [every, alarm] = await ask({ payload: load1(t), topic: "meter" });
    assert.equal(every.anomaly.row, t);
    assert.equal(every.topic, "meter");
    if (alarm) alarms.push([t, alarm.anomaly.alarm.by]);
  }
  assert.deepEqual(
    alarms.filter(([t]) => t > 300),
    [[420, "novelty"]],
  );
  assert.deepEqual(said.status[0], { fill: "grey", shape: "dot", text: "learning" });
  await ask({ feedback: "normal", row: 420 });
});

test("continues after a restart with the same answers", async () => {
  const whole = nodeOf({ columns: "load, heat" });
  const first = nodeOf({ columns: "load, heat" });
  const payload = (t) => ({ load: load1(t), heat: t % 7 === 3 ? null : Math.cos(t / 9), other: "x" });
  for (let t = 0; t < 300; t++) assert.deepEqual(await whole.ask({ payload: payload(t) }), await first.ask({ payload: payload(t) }));
  await first.close();
  const second = nodeOf({ columns: "load, heat" }, first.stored);
  for (let t = 300; t < 330; t++) assert.deepEqual(await whole.ask({ payload: payload(t) }), await second.ask({ payload: payload(t) }));
  const other = nodeOf({ columns: "load" }, first.stored);
  assert.equal((await other.ask({ payload: 1 }))[0].anomaly.row, 0);
});

test("gives the error of a payload that cannot be used, and goes on", async () => {
  const { ask, stored, close } = nodeOf({ columns: "value" });
  await assert.rejects(ask({ payload: "high" }), /row is "high"; it takes a number/);
  await assert.rejects(ask({ payload: { value: "high" } }), /column "value", is "high"/);
  assert.equal((await ask({ payload: null }))[0].anomaly.row, 0);
  await close();
  stored.set("detector", "broken");
  const { ask: again, said } = nodeOf({ columns: "value" }, stored);
  await again({ payload: 1 });
  assert.match(said.warnings[0], /the stored detector is not used/);
});
