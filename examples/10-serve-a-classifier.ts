// Train a classifier, keep it in one file, and serve it over HTTP: POST a case as JSON, get its class and the shares of all classes.
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Classifier } from "spillway";

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

await using classifier = await Classifier.load(path);
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", async () => {
    try {
      const sequence = JSON.parse(Buffer.concat(parts).toString()) as number[][];
      const [label] = await classifier.predict([sequence]);
      const shares = (await classifier.predictProba([sequence])).toArrays()[0]!;
      response.end(
        JSON.stringify({ label, shares: Object.fromEntries(classifier.classes.map((name, k) => [name, Number(shares[k]!.toFixed(3))])) }),
      );
    } catch (error) {
      response.writeHead(400).end(JSON.stringify({ error: (error as Error).message }));
    }
  });
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", () => listening()));
const { port } = server.address() as { port: number };
const ask = async (body: unknown) => (await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: JSON.stringify(body) })).text();

console.log("a slow swing: ", await ask(swing(0.3, 0.7)));
console.log("a quick swing:", await ask(swing(0.5, 0.7)));
console.log("two channels: ", await ask([[1, 2]]));
server.close();
await rm(path);
