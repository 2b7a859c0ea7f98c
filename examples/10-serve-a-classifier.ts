// Train a classifier, keep it in one file, and serve it over HTTP. With a port as its argument it
// serves until Ctrl-C; without one it asks itself a few questions and ends. `spillway serve FILE`
// does the same from a shell.
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Classifier } from "spillway";
import { serveModel } from "spillway/serve";

/** A swing of 40 steps, slow or quick, from a phase of its own. */
const swing = (rate: number, phase: number) => Array.from({ length: 40 }, (_, t) => [Math.sin(rate * t + phase)]);
const phases = Array.from({ length: 12 }, (_, k) => k / 2);
const sequences = phases.flatMap((phase) => [swing(0.3, phase), swing(0.5, phase)]);
const labels = phases.flatMap(() => ["slow", "quick"]);

const path = join(tmpdir(), `swings-${process.pid}.safetensors`);
await using trained = await Classifier.fit(sequences, labels, {
  reservoir: { size: 50, seed: 1 },
  representation: "output",
});
await trained.save(path);

const wanted = process.argv[2];
await using server = await serveModel(path, { port: Number(wanted ?? 0), maxBody: 2 ** 20, timeout: 5 });
await rm(path);

const ask = async (body: unknown) => {
  const headers = { "content-type": "application/json" };
  return (await fetch(`${server.url}/classify`, { method: "POST", headers, body: JSON.stringify(body) })).text();
};

if (wanted === undefined) {
  console.log("two swings:  ", await ask({ sequences: [swing(0.3, 0.7), swing(0.5, 0.7)] }));
  console.log("two channels:", await ask({ sequences: [[[1, 2]]] }));
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: object };
  console.log("it takes:    ", Object.keys(paths).join(" "));
} else {
  console.log(`POST cases to ${server.url}/classify; Ctrl-C ends it`);
  await new Promise((stop) => process.once("SIGINT", stop).once("SIGTERM", stop));
}
