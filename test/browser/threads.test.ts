// Worker threads in pages: the same bits as one thread, and one thread if a page may have no more.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import "../../src/index.js";
import { ReservoirComputer } from "../../src/reservoir/index.js";
import { goldenSeries } from "../golden/series.js";
import { openDrivenChromium } from "./chromium.js";
import { openFirefoxAlone, openWebKit, takesPrograms } from "./driven.js";
import { type FolderServer, serveFolder } from "./folder-server.js";

const configs = [
  { size: 200, seed: 1, storage: "dense", noiseLevel: 1e-3 },
  { size: 300, seed: 2, precision: "float64" },
] as const;
const inputs = goldenSeries(1, 700, 1, "float64");

const program = `
import { ReservoirComputer } from "./dist/browser.js";

const living = new Set();
globalThis.Worker = class extends Worker {
  constructor(...given) { super(...given); living.add(this); }
  terminate() { living.delete(this); super.terminate(); }
};
const inputs = Float64Array.of(${inputs.data.join()});
const hashOf = async ({ data }) =>
  Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", data)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * What a run of each reservoir gives on some threads, and how many workers there are in it and
 * after it.
 */
export async function report(threads) {
  const out = { isolated: crossOriginIsolated, hashes: [], during: 0 };
  for (const config of ${JSON.stringify(configs)}) {
    const computer = await ReservoirComputer.create(config, { threads });
    const { details, summary } = computer.engine.plan;
    Object.assign(out, { threads: details.threads, why: details.oneThread ?? null, summary });
    out.hashes.push(await hashOf(await computer.run(inputs)));
    out.during += living.size;
    await computer.dispose();
  }
  return { ...out, after: living.size };
}

/**
 * The states of two reservoirs before a worker fails, after it, and once there is another; and
 * workers then.
 */
export async function lose() {
  const create = () => ReservoirComputer.create(${JSON.stringify(configs[0])}, { threads: 2 });
  const first = await create();
  const hashes = [await hashOf(await first.run(inputs))];
  const [worker] = living;
  worker.postMessage({ id: -1, globals: { nothing: 1 } });
  // It reads that with what it is told of the next reservoir.
  const second = await create();
  while (living.has(worker)) await new Promise((resolve) => setTimeout(resolve, 5));
  first.reset();
  for (const computer of [first, second]) hashes.push(await hashOf(await computer.run(inputs)));
  while (living.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  for (const computer of [first, second]) {
    computer.reset();
    hashes.push(await hashOf(await computer.run(inputs)));
  }
  const workers = living.size;
  for (const computer of [first, second]) await computer.dispose();
  return { hashes, workers, after: living.size };
}
`;

const inWorker = `
import * as program from "./program.js";
addEventListener("message", async ({ data: [name, ...given] }) => {
  postMessage(await program[name](...given).then((value) => ({ value }), (error) => ({ error: String(error) })));
});
postMessage("ready");
`;

/** Bodies for `evaluate` that call a function of the program, in the page and in a worker of it. */
const inPage = (call: string, given = "") => `return (await import("./program.js")).${call}(${given});`;
const inItsWorker = (call: string, given = "") => `
  const worker = new Worker("./in-worker.js", { type: "module" });
  const next = () => new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message || "the worker does not start"));
  });
  await next();
  worker.postMessage(["${call}", ${given}]);
  const { value, error } = await next();
  worker.terminate();
  if (error) throw new Error(error);
  return value;`;

const isolation = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

describe("threads in a page", () => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-threads-"));
  const expected: string[] = [];
  let isolated: FolderServer;
  let plain: FolderServer;

  beforeAll(async () => {
    symlinkSync(resolve("dist"), join(folder, "dist"));
    writeFileSync(
      join(folder, "index.html"),
      `<!doctype html><html lang="en"><title>threads</title><link rel="icon" href="data:," />${takesPrograms}</html>`,
    );
    writeFileSync(join(folder, "program.js"), program);
    writeFileSync(join(folder, "in-worker.js"), inWorker);
    isolated = await serveFolder(folder, isolation);
    plain = await serveFolder(folder);
    for (const config of configs) {
      await using computer = await ReservoirComputer.create(config, { engine: "cpu" });
      expected.push(
        createHash("sha256")
          .update((await computer.run(inputs)).data)
          .digest("hex"),
      );
    }
  });
  afterAll(() => {
    for (const server of [isolated, plain]) {
      server.close();
      server.closeAllConnections();
    }
    rmSync(folder, { recursive: true });
  });

  /** What two threads come to if there is but one. */
  const alone = (why: string) => {
    const reason = `2 threads were asked for, and ${why}`;
    const summary = expect.stringContaining(`one thread (${reason})`);
    return { hashes: expected, threads: 1, why: reason, summary, during: 0, after: 0 };
  };

  it.each([
    ["Chromium", openDrivenChromium],
    ["Firefox", openFirefoxAlone],
  ] as const)("have the bits of Node in a worker of an isolated page in %s, and else there is one", async (_, open) => {
    const browser = await open();
    try {
      await browser.goto(isolated.url);
      for (const threads of [1, 2, 3]) {
        const several = { threads, why: null, during: 2 * (threads - 1) };
        expect(await browser.evaluate(inItsWorker("report", String(threads)))).toMatchObject({
          ...{ isolated: true, hashes: expected, after: 0 },
          ...several,
        });
      }
      expect(await browser.evaluate(inItsWorker("lose"))).toEqual({ hashes: Array(5).fill(expected[0]), workers: 1, after: 0 });
      expect(await browser.evaluate(inPage("report", "2"))).toEqual({
        isolated: true,
        ...alone("a page's main thread may not wait for others: create the reservoir in a worker"),
      });
      await browser.goto(plain.url);
      for (const body of [inPage, inItsWorker])
        expect(await browser.evaluate(body("report", "2"))).toEqual({ isolated: false, ...alone("the page is not cross-origin isolated") });
    } finally {
      await browser.close();
    }
  });

  it("are one in the WebKit of GTK, which shares no memory", async () => {
    const browser = await openWebKit();
    try {
      await browser.goto(isolated.url);
      expect(await browser.evaluate(inPage("report", "2"))).toEqual({ isolated: true, ...alone("this browser has no SharedArrayBuffer") });
    } finally {
      await browser.close();
    }
  });
});
