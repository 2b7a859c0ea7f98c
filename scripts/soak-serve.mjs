// Whether the memory of `spillway serve` stays flat: `npm run test:soak -- --minutes 10`. The
// command serves a forecaster in a process of its own, clients of every kind ask it for that long,
// well-behaved and not, and its resident memory is read every 5 seconds. After a fifth of the time
// as warm-up, the median of the last fifth may be 5 % above that of the fifth after the warm-up.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Forecaster } from "../dist/index.js";

const wave = (rows) => Array.from({ length: rows }, (_, t) => [Math.sin(0.3 * t)]);
const pause = (ms) => new Promise((later) => setTimeout(later, ms));
const sampleSeconds = 5;
const largestGrowth = 0.05;

const at = process.argv.indexOf("--minutes");
const minutes = at < 0 ? 10 : Number(process.argv[at + 1]);
if (!(minutes > 0)) throw new Error(`--minutes is ${process.argv[at + 1]}; it takes a number above 0`);
const folder = mkdtempSync(join(tmpdir(), "spillway-soak-"));
const model = join(folder, "model.safetensors");
const forecaster = await Forecaster.fit(wave(400), { reservoir: { size: 60, seed: 1 }, members: 2, engine: "cpu" });
await forecaster.save(model);
await forecaster.dispose();
const server = spawn(process.execPath, ["dist/cli/main.js", "serve", model, "--port", "0", "--engine", "cpu"], {
  stdio: ["ignore", "pipe", "inherit"],
});
const [said] = await once(server.stdout, "data");
const port = Number(/http:\/\/[^:]+:(\d+)/.exec(String(said))[1]);
const keptAlive = new Agent({ keepAlive: true, maxSockets: 4 });
let isOver = false;
let requests = 0;

/** Sends a request and reads the answer. */
async function ask(method, path, body, agent = keptAlive) {
  requests++;
  const headers = body === undefined ? {} : { "content-type": "application/json" };
  const sent = request({ port, host: "127.0.0.1", method, path, headers, agent });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(sent, "response");
  let text = "";
  for await (const part of response) text += part;
  return text;
}

const post = (path, body, agent) => ask("POST", path, body, agent);
const bytesOf = (path, body) => {
  const text = JSON.stringify(body);
  const headers = `Host: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\n${text}`;
};

/** Writes bytes, waits, and breaks the connection off without reading. */
async function breakOff(bytes) {
  requests++;
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  const closed = new Promise((done) => socket.once("close", done));
  socket.write(bytes);
  await pause(20);
  socket.resetAndDestroy();
  await closed;
  // The server hears of it later: on a slow machine ever more of them would wait otherwise.
  await pause(200);
}

async function session() {
  const { session: id } = JSON.parse(await post("/sessions", { warmup: wave(20) }));
  const listening = ask("GET", `/sessions/${id}/events`, undefined, false);
  for (let k = 0; k < 5; k++) await post(`/sessions/${id}/rows`, { inputs: wave(4) });
  await post(`/sessions/${id}/forecast`, { steps: 10 });
  await ask("DELETE", `/sessions/${id}`);
  await listening;
}

const clients = [
  () => post("/forecast", { steps: 20, warmup: wave(30) }),
  () => post("/forecast", { steps: 20_000 }),
  () => post("/predict", { inputs: wave(100) }, false),
  () => ask("GET", "/health"),
  () => ask("GET", "/openapi.json", undefined, false),
  () => post("/forecast", { stepz: 1 }),
  () => ask("GET", "/health", { ignored: true }),
  session,
  () => breakOff(bytesOf("/forecast", { steps: 100_000 })),
  () => breakOff(bytesOf("/forecast", { steps: 50_000 }).repeat(8)),
  () => breakOff(bytesOf("/forecast", { steps: 1 }).slice(0, -4)),
];

async function work(client) {
  while (!isOver) {
    await client();
    await pause(1);
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const working = clients.map(work);
const samples = [];
const end = performance.now() + 60_000 * minutes;
while (performance.now() < end) {
  await pause(1000 * sampleSeconds);
  const bytes = Number(/process_resident_memory_bytes (\d+)/.exec(await ask("GET", "/metrics"))[1]);
  samples.push(bytes / 2 ** 20);
  if (samples.length % 6 === 0)
    console.log(`${samples.length * sampleSeconds} s: ${requests} requests, ${Math.round(bytes / 2 ** 20)} MiB`);
}
isOver = true;
await Promise.all(working);
const fifth = Math.max(1, Math.floor(samples.length / 5));
const [before, after] = [median(samples.slice(fifth, 2 * fifth)), median(samples.slice(-fifth))];
const ended = once(server, "exit");
server.kill("SIGTERM");
await ended;
keptAlive.destroy();
rmSync(folder, { recursive: true });
const growth = after / before - 1;
console.log(
  `${minutes} min, ${requests} requests: ${before.toFixed(1)} MiB after the warm-up, ${after.toFixed(1)} MiB at the end, ${(100 * growth).toFixed(1)} %`,
);
process.exitCode = growth > largestGrowth ? 1 : 0;
