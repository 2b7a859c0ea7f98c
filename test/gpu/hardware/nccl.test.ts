// NCCL itself on the GPUs of this machine: one rank for each, in this process and in one process
// each. With a single GPU there is one rank, which is its own peer.
import { type ChildProcess, spawn } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Communicator,
  type Context,
  communicatorGroup,
  openCommunicators,
  openDevices,
  probeNccl,
  type Stream,
} from "../../../packages/gpu/src/index.js";

const nccl = probeNccl();
if (!nccl.available) console.log(`NCCL is left out: ${nccl.problem}`);

let contexts: readonly Context[] = [];
beforeAll(() => {
  contexts = openDevices("cuda:all");
});
afterAll(() => {
  for (const context of contexts) context.dispose();
});

describe.skipIf(!nccl.available)("ranks of one process", () => {
  it.each(["f32", "f64", "i32"] as const)("do every collective of %s", (dtype) => {
    const ranks = openCommunicators(contexts);
    const size = ranks.length;
    const streams: readonly Stream[] = contexts.map((context) => context.stream());
    const type = { f32: Float32Array, f64: Float64Array, i32: Int32Array }[dtype];
    const made: Disposable[] = [...streams];
    const up = (of: (k: number) => number[]) =>
      contexts.map((context, k) => {
        const buffer = context.upload(type.from(of(k)) as Float32Array<ArrayBuffer>);
        made.push(buffer);
        return buffer;
      });
    const read = (buffers: ReturnType<typeof up>) =>
      buffers.map((buffer, k) => {
        streams[k]!.sync();
        return [...contexts[k]!.read(buffer)];
      });
    const each = (work: (rank: Communicator, stream: Stream, k: number) => void) =>
      communicatorGroup(() => {
        for (const [k, rank] of ranks.entries()) work(rank, streams[k]!, k);
      });
    const all = Array.from({ length: size }, (_, k) => k + 1);
    const sum = all.reduce((a, b) => a + b, 0);

    const x = up((k) => [k + 1]);
    const gathered = up(() => all.map(() => 0));
    each((rank, stream, k) => rank.allGather(stream, gathered[k]!, x[k]!));
    expect(read(gathered)).toEqual(all.map(() => all));
    each((rank, stream, k) => rank.allReduce(stream, x[k]!, x[k]!));
    expect(read(x)).toEqual(all.map(() => [sum]));
    each((rank, stream, k) => rank.reduceScatter(stream, x[k]!, gathered[k]!));
    expect(read(x)).toEqual(all.map((value) => [size * value]));
    each((rank, stream, k) => rank.allReduce(stream, x[k]!, x[k]!, "max"));
    expect(read(x)).toEqual(all.map(() => [size * size]));
    const y = up((k) => [10 * k]);
    each((rank, stream, k) => {
      rank.send(stream, y[k]!, (k + 1) % size);
      rank.receive(stream, x[k]!, (k + size - 1) % size);
    });
    expect(read(x)).toEqual(all.map((_, k) => [10 * ((k + size - 1) % size)]));
    each((rank, stream, k) => rank.broadcast(stream, y[k]!, size - 1));
    expect(read(y)).toEqual(all.map(() => [10 * (size - 1)]));
    for (const rank of ranks) {
      rank.check();
      rank.dispose();
    }
    for (const each of made) each[Symbol.dispose]();
  });

  it("are aborted, and others are made after them", () => {
    for (const rank of openCommunicators(contexts)) rank.abort();
    for (const rank of openCommunicators(contexts)) rank.dispose();
  });
});

describe.skipIf(!nccl.available)("ranks of one process a GPU", () => {
  const gpu = new URL("../../../dist/api/gpu.js", import.meta.url).href;
  /** All-reduces until it is told to stop, has done its rounds, or has waited 5 s. */
  const worker = (identity: readonly number[], rank: number, size: number, rounds: number): ChildProcess =>
    spawn(process.execPath, [
      "--input-type=module",
      "-e",
      `import { joinCommunicator, openDevice } from ${JSON.stringify(gpu)};
       const context = openDevice(${rank});
       const stream = context.stream();
       const communicator = joinCommunicator(context, { identity: Uint8Array.from(${JSON.stringify(identity)}), rank: ${rank}, size: ${size} });
       const x = context.upload(Float64Array.of(1));
       for (let round = 0; round < ${rounds}; round++) {
         communicator.allReduce(stream, x, x);
         const late = await Promise.race([stream.done(), new Promise((resolve) => setTimeout(resolve, 5000, "late"))]);
         let failure = late === "late" ? "nothing came for 5 s" : undefined;
         try { communicator.check(); } catch (error) { failure = error.message; }
         if (failure !== undefined) {
           console.log("ended: " + failure);
           communicator.abort();
           process.exit(3);
         }
         if (round === 0) console.log(context.read(x)[0]);
       }
       for (const thing of [communicator, x, stream, context]) thing.dispose();
       console.log("done");`,
    ]);
  const heard = (child: ChildProcess) =>
    new Promise<{ text: string; code: number | null }>((resolve) => {
      let text = "";
      for (const stream of [child.stdout!, child.stderr!])
        stream.on("data", (part: Buffer) => {
          text += part.toString();
        });
      child.on("close", (code) => resolve({ text, code }));
    });
  /** A process of its own makes the identity: NCCL's root lives where it was made. */
  const startAll = (size: number, rounds: number): Promise<readonly ChildProcess[]> =>
    new Promise((resolve) => {
      const root = spawn(process.execPath, [
        "--input-type=module",
        "-e",
        `import { ncclIdentity } from ${JSON.stringify(gpu)}; console.log(JSON.stringify([...ncclIdentity()])); setInterval(() => {}, 1000);`,
      ]);
      root.stdout!.once("data", (part: Buffer) => {
        const identity = JSON.parse(part.toString()) as number[];
        const workers = Array.from({ length: size }, (_, rank) => worker(identity, rank, size, rounds));
        void Promise.all(workers.map((child) => new Promise((ended) => child.on("close", ended)))).then(() => root.kill());
        resolve(workers);
      });
    });

  it("sum", async () => {
    const size = contexts.length;
    const said = await Promise.all((await startAll(size, 3)).map(heard));
    expect(said).toEqual(Array(size).fill({ text: `${size}\ndone\n`, code: 0 }));
  }, 60_000);

  it("end within seconds after one of them was killed", async ({ skip }) => {
    const size = contexts.length;
    if (size < 2) skip("it takes two GPUs");
    const workers = await startAll(size, 1e9);
    const said = workers.map(heard);
    await new Promise<void>((resolve) => workers[size - 1]!.stdout!.once("data", () => resolve()));
    workers[size - 1]!.kill("SIGKILL");
    for (const { text, code } of (await Promise.all(said)).slice(0, -1)) {
      expect(text).toContain("ended: ");
      expect(code).toBe(3);
    }
  }, 60_000);
});
