// A spike pattern in device memory. It is not checked as it is made: what reads it reports the first spike that does not fit.
import type { Context, ReadonlyDeviceSlice } from "../../gpu/index.js";
import { checkNotNegative, checkWhole, SpikeError } from "../errors.js";
import type { SpikePattern } from "../pattern/pattern.js";
import { Held } from "./held.js";

/** The columns of a pattern in device memory; position i of each is spike i, in any order. */
export interface DeviceSpikeColumns {
  /** In ms. */
  readonly times: ReadonlyDeviceSlice<"f64">;
  /** From 0. */
  readonly neurons: ReadonlyDeviceSlice<"u32">;
  /** Left out, every amplitude is 1. */
  readonly amplitudes?: ReadonlyDeviceSlice<"f32"> | undefined;
}

/** Spikes of `neuronCount` neurons over `durationMs` milliseconds, on a device. */
export class DeviceSpikePattern implements Disposable {
  readonly columns: DeviceSpikeColumns;
  readonly durationMs: number;
  readonly neuronCount: number;
  readonly #held: Held;

  /**
   * Columns that are there already; they stay their owner's, who keeps them for as long as the pattern is used.
   * @throws SpikeError on columns of different lengths, a duration or a neuron count that no pattern has.
   */
  constructor(
    columns: DeviceSpikeColumns,
    { durationMs, neuronCount }: { readonly durationMs: number; readonly neuronCount: number },
    /** Memory that `dispose` gives back. */
    held: Held = new Held(),
  ) {
    this.durationMs = checkNotNegative("durationMs", durationMs, "ms");
    this.neuronCount = checkWhole("neuronCount", neuronCount, 1, 0xffffffff);
    const { times, neurons, amplitudes } = columns;
    for (const [name, column] of [
      ["neurons", neurons],
      ["amplitudes", amplitudes],
    ] as const) {
      if (column && column.length !== times.length)
        throw new SpikeError(`the number of ${name}`, column.length, `${times.length}, as many as there are times`);
    }
    this.columns = columns;
    this.#held = held;
  }

  /** A copy of a pattern; `dispose` gives its memory back. @throws OutOfMemoryError */
  static upload(context: Context, pattern: SpikePattern): DeviceSpikePattern {
    const held = new Held();
    const upload = <A extends Float64Array | Uint32Array | Float32Array>(array: A, label: string) =>
      held.own(context.upload(array, { label }));
    try {
      const times = upload(pattern.times, "spike times");
      const neurons = upload(pattern.neurons, "spike neurons");
      const amplitudes = pattern.amplitudes && upload(pattern.amplitudes, "spike amplitudes");
      return new DeviceSpikePattern({ times, neurons, amplitudes }, pattern, held);
    } catch (error) {
      held.abandon();
      throw error;
    }
  }

  /** S, spikes of all neurons. */
  get spikeCount(): number {
    return this.columns.times.length;
  }

  /** Gives back what `upload` took. Idempotent. */
  dispose(): void {
    this.#held.dispose();
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }
}
