// NCCL by koffi against a mock in C of it and of libcuda: ranks of one process and of several, and
// a failure of every call. The prototypes are held against NVIDIA's by what only a GPU runs.
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type koffi from "koffi";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type Communicator,
  type Context,
  communicatorGroup,
  joinCommunicator,
  NcclError,
  ncclIdentity,
  openCommunicators,
  openDevices,
  probeNccl,
} from "../../packages/gpu/src/index.js";
import { buildMock, buildNcclMock } from "../gpu/mock/build.js";

let contexts: readonly Context[];
let communicators: () => number;
let fail: (name: string, nth: number, code: number) => void;
const libraries = { cuda: "", nccl: "" };

beforeAll(() => {
  Object.assign(libraries, { cuda: buildMock(), nccl: buildNcclMock() });
  vi.stubEnv("SPILLWAY_NCCL_LIBRARY", libraries.nccl);
  const mock = (createRequire(import.meta.url)("koffi") as typeof koffi).load(libraries.nccl);
  communicators = mock.func("int mock_communicators(void)") as () => number;
  fail = mock.func("void mock_fail(const char *name, int nth, int code)") as typeof fail;
  contexts = openDevices([0, 1], { library: libraries.cuda });
});
afterAll(() => {
  for (const context of contexts) context.dispose();
  vi.unstubAllEnvs();
});

function opened() {
  const ranks = openCommunicators(contexts);
  const streams = contexts.map((context) => context.stream());
  const up = (k: number, ...values: number[]) => contexts[k]!.upload(Float32Array.from(values));
  return { ranks, streams, up, read: (k: number, buffer: ReturnType<typeof up>) => [...contexts[k]!.read(buffer)] };
}
const closeAll = (ranks: readonly Communicator[]) => {
  for (const rank of ranks) rank.dispose();
};

describe("ranks of one process", () => {
  it("are found, and do every collective", () => {
    expect(probeNccl()).toMatchObject({ available: true, version: "2.27.7", library: libraries.nccl });
    const { ranks, streams, up, read } = opened();
    const x = [up(0, 1, 2), up(1, 10, 20)];
    const four = [up(0, 0, 0, 0, 0), up(1, 0, 0, 0, 0)];
    const one = [up(0, 0), up(1, 0)];
    const each = (work: (rank: Communicator, k: number) => void) => communicatorGroup(() => ranks.forEach(work));
    each((rank, k) => rank.allGather(streams[k]!, four[k]!, x[k]!));
    expect(four.map((buffer, k) => read(k, buffer))).toEqual([
      [1, 2, 10, 20],
      [1, 2, 10, 20],
    ]);
    each((rank, k) => rank.allReduce(streams[k]!, x[k]!, x[k]!, "max"));
    each((rank, k) => rank.allReduce(streams[k]!, x[k]!, x[k]!));
    expect(x.map((buffer, k) => read(k, buffer))).toEqual([
      [20, 40],
      [20, 40],
    ]);
    each((rank, k) => rank.reduceScatter(streams[k]!, one[k]!, x[k]!, "product"));
    expect(one.map((buffer, k) => read(k, buffer))).toEqual([[400], [1600]]);
    each((rank, k) => rank.broadcast(streams[k]!, one[k]!, 1));
    expect(one.map((buffer, k) => read(k, buffer))).toEqual([[1600], [1600]]);
    const y = [up(0, 3), up(1, 4)];
    each((rank, k) => {
      rank.send(streams[k]!, y[k]!, 1 - k);
      rank.receive(streams[k]!, one[k]!, 1 - k);
    });
    expect(one.map((buffer, k) => read(k, buffer))).toEqual([[4], [3]]);
    for (const rank of ranks) rank.check();
    closeAll(ranks);
    expect(communicators()).toBe(0);
  });

  const collective = (ranks: readonly Communicator[], { streams, up }: ReturnType<typeof opened>, call: string) =>
    communicatorGroup(() => {
      for (const [k, rank] of ranks.entries()) {
        const [x, y] = [up(k, 1, 2), up(k, 1, 2, 3, 4)];
        if (call === "ncclAllGather") rank.allGather(streams[k]!, y, x);
        else if (call === "ncclReduceScatter") rank.reduceScatter(streams[k]!, x, y);
        else if (call === "ncclBroadcast") rank.broadcast(streams[k]!, x, 0);
        else if (call === "ncclSend" || call === "ncclRecv") {
          if (k === 0) rank.send(streams[k]!, x, 1);
          else rank.receive(streams[k]!, x, 0);
        } else rank.allReduce(streams[k]!, x, x);
      }
    });

  it.each([
    "ncclGroupStart",
    "ncclGroupEnd",
    "ncclAllReduce",
    "ncclAllGather",
    "ncclReduceScatter",
    "ncclBroadcast",
    "ncclSend",
    "ncclRecv",
  ])("end by the name of the call if %s fails, and another try works", (call) => {
    const all = opened();
    fail(call, 1, 2);
    expect(() => collective(all.ranks, all, call)).toThrow(`ncclSystemError (2) from ${call} of NCCL: a system call of NCCL failed`);
    expect(() => collective(all.ranks, all, call)).not.toThrow();
    closeAll(all.ranks);
    expect(communicators()).toBe(0);
  });

  it("say so if they cannot be made, looked at or given back", () => {
    fail("ncclCommInitAll", 1, 1);
    expect(() => openCommunicators(contexts)).toThrow("ncclUnhandledCudaError (1) from ncclCommInitAll");
    expect(communicators()).toBe(0);
    fail("ncclGetVersion", 1, 3);
    expect(probeNccl()).toMatchObject({ available: false, problem: expect.stringContaining("ncclGetVersion") });
    fail("ncclGetUniqueId", 1, 2);
    expect(() => ncclIdentity()).toThrow("from ncclGetUniqueId");
    fail("ncclCommInitRank", 1, 4);
    expect(() => joinCommunicator(contexts[0]!, { identity: ncclIdentity(), rank: 0, size: 1 })).toThrow("from ncclCommInitRank");
    const [a, b] = openCommunicators(contexts);
    fail("ncclCommGetAsyncError", 1, 6);
    expect(() => a!.check()).toThrow(NcclError);
    fail("ncclCommAbort", 1, 3);
    expect(() => a!.abort()).toThrow("from ncclCommAbort");
    expect(a!.disposed).toBe(true);
    expect(() => a!.check()).toThrow();
    b!.dispose();
    expect(communicators()).toBe(0);
  });
});

describe("ranks of several processes", () => {
  const gpu = new URL("../../dist/api/gpu.js", import.meta.url).href;
  const rank = (identity: Uint8Array, number: number, size: number, rounds: number): ChildProcess =>
    spawn(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `import { joinCommunicator, openDevice } from ${JSON.stringify(gpu)};
       const context = openDevice({ library: ${JSON.stringify(libraries.cuda)} });
       const stream = context.stream();
       const communicator = joinCommunicator(context, { identity: Uint8Array.from(${JSON.stringify([...identity])}), rank: ${number}, size: ${size} });
       const x = context.upload(Float64Array.of(${number + 1}));
       try {
         for (let round = 0; round < ${rounds}; round++) {
           communicator.allReduce(stream, x, x);
           stream.sync();
           communicator.check();
           console.log(context.read(x)[0]);
           await new Promise((resolve) => setTimeout(resolve, 5));
         }
         communicator.dispose();
       } catch (error) {
         communicator.abort();
         console.log(error.message);
       } finally {
         context.dispose();
       }`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
  const heard = (child: ChildProcess): Promise<string> =>
    new Promise((resolve) => {
      let text = "";
      child.stdout!.on("data", (part: Buffer) => {
        text += part.toString();
      });
      child.on("close", () => resolve(text));
    });

  it("join by an identity and sum", async () => {
    const identity = ncclIdentity();
    const said = await Promise.all([0, 1, 2].map((number) => heard(rank(identity, number, 3, 2))));
    expect(said).toEqual(Array(3).fill("6\n18\n"));
  });

  it("hear that one of four was killed, by one sentence each", async () => {
    const identity = ncclIdentity();
    const children = [0, 1, 2, 3].map((number) => rank(identity, number, 4, 1_000_000));
    const said = children.map(heard);
    await new Promise<void>((resolve) => children[3]!.stdout!.once("data", () => resolve()));
    children[3]!.kill("SIGKILL");
    for (const text of (await Promise.all(said)).slice(0, 3))
      expect(text.trim().split("\n").at(-1)).toBe(
        "ncclRemoteError (6) from ncclCommGetAsyncError of NCCL: a remote process exited or there was a network error",
      );
  }, 20_000);
});
