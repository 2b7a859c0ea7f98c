// The spikes that a network records in device memory: put in order there, and brought to the host.

import { disposeAll } from "@spillway/core/disposal.js";
import type { Context, DeviceBuffer, Stream } from "@spillway/gpu";
import type { StepSpikes } from "../../../spikes/network/session.js";
import { shippedKernel } from "../kernels.js";

const file = "network_spikes";
const threads = 256;
const mostGrid = 4096;
/** Blocks that go over the regions. */
const leastBlocks = 128;

/** Memory for the spikes of a launch: regions of one capacity, one for each block or one for all. */
export class SpikeRecording {
  readonly counts: DeviceBuffer<"u32">;
  readonly #context: Context;
  readonly #regions: number;
  #spikes: DeviceBuffer<"u64"> | undefined;
  #neurons: DeviceBuffer<"u32"> | undefined;
  #offsets: DeviceBuffer<"u32"> | undefined;
  #capacity = 0;

  constructor(context: Context, regions: number) {
    this.#context = context;
    this.#regions = regions;
    this.counts = context.zeros("u32", regions, { label: "numbers of recorded spikes" });
  }

  /**
   * What a kernel that records is given: its spikes, their numbers, and how many a region takes.
   */
  begin(stream: Stream, steps: number, capacity: number): readonly [DeviceBuffer<"u64">, DeviceBuffer<"u32">, number] {
    this.#capacity = capacity;
    this.#spikes = this.#atLeast("u64", this.#spikes, this.#regions * capacity, "recorded spikes");
    this.#offsets = this.#atLeast("u32", this.#offsets, 2 * steps + 1, "spikes before each step");
    stream.fill(this.counts);
    stream.fill(this.#offsets);
    return [this.#spikes, this.counts, capacity];
  }

  /** The spikes of the last so many steps, in order. */
  async read(stream: Stream, steps: number): Promise<StepSpikes> {
    const kernel = (name: string, parameters: readonly ["u32*", ...("u32*" | "const u32*" | "const u64*" | "u32")[]]) =>
      shippedKernel(this.#context, file, `network_spikes_${name}`, parameters);
    const regions = { grid: [this.#regions, Math.ceil(leastBlocks / this.#regions)] as const, block: threads };
    const offsets = this.#offsets!.slice(0, steps + 1);
    const next = this.#offsets!.slice(steps + 1, 2 * steps + 1);
    const recorded = [this.#spikes!, this.counts, this.#capacity] as const;
    stream.launch(kernel("count", ["u32*", "const u64*", "const u32*", "u32"]), regions, offsets, ...recorded);
    stream.launch(kernel("offsets", ["u32*", "u32*", "u32"]), { grid: 1, block: 1024 }, offsets, next, steps);
    const before = await stream.download(offsets);
    const count = before[steps]!;
    if (count === 0) return { offsets: before, neurons: new Uint32Array(0) };
    this.#neurons = this.#atLeast("u32", this.#neurons, 2 * count, "neurons that spiked");
    const [neurons, ordered] = [this.#neurons.slice(0, count), this.#neurons.slice(count, 2 * count)];
    stream.launch(kernel("place", ["u32*", "u32*", "const u64*", "const u32*", "u32"]), regions, neurons, next, ...recorded);
    const grid = Math.min(mostGrid, Math.ceil((32 * steps) / threads));
    stream.launch(kernel("order", ["u32*", "const u32*", "const u32*", "u32"]), { grid, block: threads }, ordered, neurons, offsets, steps);
    return { offsets: before, neurons: await stream.download(ordered) };
  }

  dispose(): void {
    disposeAll([this.counts, this.#spikes, this.#neurons, this.#offsets]);
  }

  #atLeast<T extends "u32" | "u64">(dtype: T, buffer: DeviceBuffer<T> | undefined, length: number, label: string): DeviceBuffer<T> {
    if (buffer && buffer.length >= length) return buffer;
    buffer?.dispose();
    return this.#context.alloc(dtype, length, { label });
  }
}
