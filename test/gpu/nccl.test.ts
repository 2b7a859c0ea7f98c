// Collective work of several devices, here of simulated ones, and what is said without NCCL.
import { describe, expect, it } from "vitest";
import {
  type Communicator,
  type Context,
  communicatorGroup,
  type DeviceBuffer,
  joinCommunicator,
  openCommunicators,
  openDevices,
  probeNccl,
  type Stream,
} from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";

const size = 3;
function opened() {
  const driver = simulatedDriver({ devices: size, memoryBytes: 1 << 16, launchBytes: 1 << 20 });
  const contexts = openDevices("all", { driver, onLeak: () => undefined });
  const ranks = openCommunicators(contexts);
  const streams = contexts.map((context) => context.stream());
  const each = (work: (rank: Communicator, stream: Stream, k: number) => void) =>
    communicatorGroup(() => {
      for (const [k, rank] of ranks.entries()) work(rank, streams[k]!, k);
    });
  const uploads = (of: (k: number) => number[]) => contexts.map((context, k) => context.upload(Float32Array.from(of(k))));
  const zeros = (length: number) => contexts.map((context) => context.zeros("f32", length));
  const values = (buffers: readonly DeviceBuffer[]) => buffers.map((buffer, k) => [...contexts[k]!.read(buffer)]);
  return { driver, contexts, ranks, streams, each, uploads, zeros, values };
}

describe("ranks of several devices", () => {
  it("all-reduce in the order of the ranks, rounding each sum", () => {
    const { each, uploads, values } = opened();
    // In another order the ones would not be lost: 2^24 + 1 is not a float.
    const x = uploads((k) => [2 ** 24 * (k === 0 ? 1 : 0) + (k > 0 ? 1 : 0), k]);
    each((rank, stream, k) => rank.allReduce(stream, x[k]!, x[k]!));
    expect(values(x)).toEqual(Array(size).fill([2 ** 24, 3]));
    each((rank, stream, k) => rank.allReduce(stream, x[k]!, x[k]!, "max"));
    expect(values(x)[0]).toEqual([2 ** 24, 3]);
  });

  it("gather, scatter sums, broadcast, and send in a ring", () => {
    const { each, uploads, zeros, values } = opened();
    const x = uploads((k) => [k + 1]);
    const all = zeros(size);
    each((rank, stream, k) => rank.allGather(stream, all[k]!, x[k]!));
    expect(values(all)).toEqual(Array(size).fill([1, 2, 3]));
    each((rank, stream, k) => rank.reduceScatter(stream, x[k]!, all[k]!));
    expect(values(x)).toEqual([[3], [6], [9]]);
    const y = zeros(1);
    each((rank, stream, k) => {
      rank.send(stream, x[k]!, (k + 1) % size);
      rank.receive(stream, y[k]!, (k + size - 1) % size);
    });
    expect(values(y)).toEqual([[9], [3], [6]]);
    each((rank, stream, k) => rank.broadcast(stream, y[k]!, 2));
    expect(values(y)).toEqual([[6], [6], [6]]);
  });

  it("say what is wrong", () => {
    const { ranks, streams, contexts } = opened();
    const x = contexts[0]!.zeros("f32", 2);
    const rank = ranks[0]!;
    expect(() => rank.allGather(streams[0]!, x, x)).toThrow("in the ratio 3 to 1");
    expect(() => rank.allReduce(streams[1]!, x, x)).toThrow("the stream is of device 1, and rank 0 of device 0");
    expect(() => rank.allReduce(streams[0]!, x, x, "mean" as never)).toThrow(
      'reduction is "mean"; it takes "sum", "product", "max", "min"',
    );
    expect(() => rank.broadcast(streams[0]!, x, 3)).toThrow("root is 3; it takes a rank, a whole number from 0 to 2");
    expect(() => openCommunicators([contexts[0] as Context, contexts[0] as Context])).toThrow("each of them once");
    expect(() => joinCommunicator(contexts[0]!, { identity: new Uint8Array(128), rank: 0, size: 2 })).toThrow(
      "openCommunicators makes them",
    );
    rank.allReduce(streams[0]!, x, x);
    ranks[1]!.abort();
    expect(() => rank.allReduce(streams[0]!, x, x)).toThrow("a rank of the communicator was aborted");
    expect(ranks[1]!.disposed).toBe(true);
  });
});

it("NCCL is probed, and nobody needs it", () => {
  const found = probeNccl();
  expect(found.available ? found.version : found.problem).toMatch(/^(\d+\.\d+\.\d+|NCCL could not be loaded.*)$/);
});
