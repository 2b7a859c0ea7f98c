// Anomalies in messages such as those of MQTT, a line of JSON each. It makes its own messages, or
// reads them: mosquitto_sub -t meter/# | npx tsx 26-anomalies-in-messages.ts -
// The detector is saved at the end, and continues with the next message after a restart.
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { AnomalyDetector } from "spillway";

/** A meter every minute; its sensor of temperature sticks from message 900 on. */
function* messages(): Generator<string> {
  for (let t = 0; t < 1200; t++) {
    const load = 3 + Math.sin(t / 20) + 0.2 * Math.cos(1.7 * t * t) + (t === 700 ? 5 : 0);
    const temperature = 20 + Math.cos(t / 50) + 0.1 * Math.cos(2.3 * Math.min(t, 900) ** 2);
    const held = t < 900 ? temperature : 21.5;
    yield `${JSON.stringify({ ts: Date.UTC(2024, 0, 1) + 60_000 * t, load, temperature: t % 97 === 5 ? null : held })}\n`;
  }
}

const columns = ["load", "temperature"];
const file = process.argv.includes("-") ? "meter.safetensors" : join(await mkdtemp(join(tmpdir(), "spillway-")), "meter.safetensors");
const detector = existsSync(file) ? await AnomalyDetector.load(file) : await AnomalyDetector.create({ columns, alarmRate: 1 / 1000 });

const input = process.argv.includes("-") ? process.stdin : Readable.from(messages());
for await (const line of createInterface({ input })) {
  const message = JSON.parse(line) as { ts: number; load: number | null; temperature: number | null };
  const { alarm, cause, expected } = detector.update([message.load, message.temperature], message.ts);
  if (alarm)
    console.log(
      `${new Date(message.ts).toISOString()} ${alarm.by}: ${cause?.column}, expected ${expected.map((value) => value?.toFixed(2)).join(", ")}`,
    );
}
await detector.save(file);
