// Train a classifier, keep it in one file, and serve it over HTTP: POST a case as JSON, get its
// class and the shares of all classes. With a port as its argument it serves until Ctrl-C; without
// one it asks itself a few questions and ends.
import { rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArgumentError, Classifier } from "spillway";

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
await rm(path);

const most = { bodyBytes: 2 ** 20, milliseconds: 5000 };

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The body of a request that this page's own program may have sent. @throws Refusal */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const { host = "", origin, "content-type": type = "" } = request.headers;
  // A page of another site can reach 127.0.0.1 through the browser of whoever looks at it: by a
  // name of its own, or by a form.
  if (!["127.0.0.1", "localhost"].includes(host.replace(/:\d+$/, "")))
    throw new Refusal(403, `the host ${JSON.stringify(host)} is not served`);
  if (origin !== undefined && origin !== `http://${host}`) throw new Refusal(403, "requests from other sites are not answered");
  if (request.method !== "POST") throw new Refusal(405, "POST a case");
  if (!type.startsWith("application/json")) throw new Refusal(415, "a case is application/json");
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > most.bodyBytes) throw new Refusal(413, `a case takes at most ${most.bodyBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/**
 * Classifies the case in a request. Requests that come at once wait for one another inside the
 * classifier.
 */
async function answer(request: IncomingMessage, signal: AbortSignal): Promise<object> {
  const body = await bodyOf(request);
  try {
    const sequence = JSON.parse(body) as number[][];
    const [label] = await classifier.predict([sequence], { signal });
    const shares = (await classifier.predictProba([sequence], { signal })).toArrays()[0]!;
    return { label, shares: Object.fromEntries(classifier.classes.map((name, k) => [name, Number(shares[k]!.toFixed(3))])) };
  } catch (error) {
    if (signal.aborted) throw new Refusal(503, `there was no answer within ${most.milliseconds / 1000} seconds`);
    if (error instanceof SyntaxError || error instanceof ArgumentError) throw new Refusal(400, error.message);
    throw error;
  }
}

const server = createServer(
  { requestTimeout: 10_000, connectionsCheckingInterval: 1000, keepAliveTimeout: 500 },
  async (request, response) => {
    const send = (status: number, value: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    try {
      send(200, await answer(request, AbortSignal.timeout(most.milliseconds)));
    } catch (error) {
      send(error instanceof Refusal ? error.status : 500, { error: (error as Error).message });
      // What is left of the request is read and thrown away: its sender can then read the answer.
      request.resume();
    }
  },
);
/** Takes no more requests, and resolves when those that were taken are answered. */
const end = () => new Promise<void>((closed) => server.close(() => closed()));

const wanted = process.argv[2];
await new Promise<void>((listening) => server.listen(Number(wanted ?? 0), "127.0.0.1", () => listening()));
const { port } = server.address() as { port: number };
const ask = async (body: unknown) => {
  const headers = { "content-type": "application/json" };
  return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", headers, body: JSON.stringify(body) })).text();
};

if (wanted === undefined) {
  console.log("a slow swing: ", await ask(swing(0.3, 0.7)));
  console.log("a quick swing:", await ask(swing(0.5, 0.7)));
  console.log("two channels: ", await ask([[1, 2]]));
} else {
  console.log(`POST cases to http://127.0.0.1:${port}; Ctrl-C ends it`);
  await new Promise((stop) => process.once("SIGINT", stop).once("SIGTERM", stop));
}
await end();
