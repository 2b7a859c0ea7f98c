// Spike patterns in device memory. It is not checked as it is made: what reads it reports the first
// spike that does not fit.
import { checkWhole } from "@spillway/core/checks.js";
import { DisposedByUsing, Held, Making } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import type { Context, ReadonlyDeviceSlice } from "@spillway/gpu";
import { checkNotNegative } from "../errors.js";
import { checkPatterns, SpikePattern } from "../pattern/pattern.js";

/** The columns of a pattern in device memory; position i of each is spike i, in any order. */
export interface DeviceSpikeColumns {
  /** In ms. */
  readonly times: ReadonlyDeviceSlice<"f64">;
  /** From 0. */
  readonly neurons: ReadonlyDeviceSlice<"u32">;
  /** Left out, every amplitude is 1. */
  readonly amplitudes?: ReadonlyDeviceSlice<"f32"> | undefined;
}

/** @throws ArgumentError on columns of different lengths */
function checkColumns({ times, neurons, amplitudes }: DeviceSpikeColumns): void {
  for (const [name, column] of Object.entries({ neurons, amplitudes }))
    if (column && column.length !== times.length)
      throw new ArgumentError(`the number of ${name}`, column.length, `${times.length}, as many as there are times`, { code: "shape" });
}

/** Copies columns to a device. @throws OutOfMemoryError */
function uploadColumns(context: Context, held: Held, { times, neurons, amplitudes }: HostColumns): DeviceSpikeColumns {
  const upload = <A extends Float64Array | Uint32Array | Float32Array>(array: A, label: string) =>
    held.own(context.upload(array, { label }));
  return {
    times: upload(times, "spike times"),
    neurons: upload(neurons, "spike neurons"),
    amplitudes: amplitudes && upload(amplitudes, "spike amplitudes"),
  };
}

type HostColumns = Pick<SpikePattern, "times" | "neurons" | "amplitudes">;

/** Spikes in device memory, of one pattern or of several. */
abstract class DeviceSpikes extends DisposedByUsing {
  readonly columns: DeviceSpikeColumns;
  readonly neuronCount: number;
  readonly #held: Held;

  /**
   * @param held memory that `dispose` gives back
   * @throws ArgumentError on columns of different lengths
   */
  constructor(columns: DeviceSpikeColumns, neuronCount: number, held: Held) {
    super();
    checkColumns(columns);
    this.columns = columns;
    this.neuronCount = checkWhole("neuronCount", neuronCount, 1, 0xffffffff);
    this.#held = held;
  }

  /** S, spikes of all neurons and patterns. */
  get spikeCount(): number {
    return this.columns.times.length;
  }

  /** Gives back what `upload` took. Idempotent. */
  dispose(): void {
    this.#held.dispose();
  }
}

/** Spikes of `neuronCount` neurons over `durationMs` milliseconds, on a device. */
export class DeviceSpikePattern extends DeviceSpikes {
  readonly durationMs: number;

  /**
   * Columns that are there already; they stay their owner's, who keeps them for as long as the
   * pattern is used.
   * @throws ArgumentError on columns of different lengths, a duration or a neuron count that no
   * pattern has.
   */
  constructor(
    columns: DeviceSpikeColumns,
    { durationMs, neuronCount }: { readonly durationMs: number; readonly neuronCount: number },
    /** Memory that `dispose` gives back. */
    held: Held = new Held(),
  ) {
    super(columns, neuronCount, held);
    this.durationMs = checkNotNegative("durationMs", durationMs, "ms");
  }

  /** A copy of a pattern; `dispose` gives its memory back. @throws OutOfMemoryError */
  static upload(context: Context, pattern: SpikePattern): DeviceSpikePattern {
    using held = new Making();
    return held.done(new DeviceSpikePattern(uploadColumns(context, held, pattern), pattern, held));
  }

  /** The same memory as a list of patterns that holds this one alone. */
  alone(): DeviceSpikePatterns {
    const { columns, durationMs, neuronCount, spikeCount } = this;
    return new DeviceSpikePatterns(columns, { offsets: [0, spikeCount], durationsMs: [durationMs], neuronCount });
  }
}

/**
 * Spike patterns of the same number of neurons one behind the other in device memory; as
 * `DeviceSpikePattern`, any number of times.
 */
export class DeviceSpikePatterns extends DeviceSpikes {
  /** How long each pattern lasts. B values. */
  readonly durationsMs: readonly number[];
  /**
   * The first spike of each pattern, and behind the last the number of all spikes. B + 1 values.
   */
  readonly offsets: readonly number[];

  /**
   * Columns that are there already: spikes offsets[b] to offsets[b + 1] are those of pattern b, in
   * any order.
   * @throws ArgumentError on columns of different lengths, or offsets that do not fit them
   */
  constructor(
    columns: DeviceSpikeColumns,
    { offsets, durationsMs, neuronCount }: Pick<DeviceSpikePatterns, "offsets" | "durationsMs" | "neuronCount">,
    /** Memory that `dispose` gives back. */
    held: Held = new Held(),
  ) {
    super(columns, neuronCount, held);
    durationsMs.forEach((duration, b) => {
      checkNotNegative(`durationsMs[${b}]`, duration, "ms");
    });
    if (offsets.length !== durationsMs.length + 1)
      throw new ArgumentError("the number of offsets", offsets.length, `${durationsMs.length + 1}, one more than there are patterns`, {
        code: "shape",
      });
    offsets.forEach((offset, b) => {
      const least = b === 0 ? 0 : offsets[b - 1]!;
      checkWhole(`offsets[${b}]`, offset, least, b === 0 ? 0 : columns.times.length);
    });
    if (offsets.at(-1) !== columns.times.length)
      throw new ArgumentError("the last offset", offsets.at(-1), `${columns.times.length}, the number of spikes`);
    this.durationsMs = durationsMs;
    this.offsets = offsets;
  }

  /**
   * A copy of patterns; `dispose` gives its memory back. If one has amplitudes, the spikes of
   * those that have none get 1.
   * @throws ArgumentError for patterns of different numbers of neurons, OutOfMemoryError
   */
  static upload(context: Context, patterns: readonly SpikePattern[]): DeviceSpikePatterns {
    checkPatterns(patterns);
    const neuronCount = patterns[0]?.neuronCount;
    if (neuronCount === undefined) throw new ArgumentError("the number of patterns", 0, "at least 1", { code: "shape" });
    const offsets = [0];
    for (const [b, pattern] of patterns.entries()) {
      if (pattern.neuronCount !== neuronCount)
        throw new ArgumentError(`the number of neurons of patterns[${b}]`, pattern.neuronCount, `${neuronCount}, as that of patterns[0]`, {
          code: "shape",
        });
      offsets.push(offsets[b]! + pattern.spikeCount);
    }
    const count = offsets.at(-1)!;
    const [times, neurons] = [new Float64Array(count), new Uint32Array(count)];
    const amplitudes = patterns.some((pattern) => pattern.amplitudes) ? new Float32Array(count).fill(1) : undefined;
    for (const [b, pattern] of patterns.entries()) {
      times.set(pattern.times, offsets[b]!);
      neurons.set(pattern.neurons, offsets[b]!);
      if (pattern.amplitudes) amplitudes!.set(pattern.amplitudes, offsets[b]!);
    }
    using held = new Making();
    const durationsMs = patterns.map(({ durationMs }) => durationMs);
    return held.done(
      new DeviceSpikePatterns(uploadColumns(context, held, { times, neurons, amplitudes }), { offsets, durationsMs, neuronCount }, held),
    );
  }

  /**
   * Copies on the host, sorted, after all work of all streams. @throws ArgumentError for a spike
   * outside its pattern
   */
  toPatterns(context: Context): SpikePattern[] {
    const { offsets, neuronCount } = this;
    const [times, neurons] = [context.read(this.columns.times), context.read(this.columns.neurons)];
    const amplitudes = this.columns.amplitudes && context.read(this.columns.amplitudes);
    return this.durationsMs.map((durationMs, b) => {
      const [from, to] = [offsets[b]!, offsets[b + 1]!];
      const columns = { times: times.subarray(from, to), neurons: neurons.subarray(from, to), amplitudes: amplitudes?.subarray(from, to) };
      return SpikePattern.from(columns, { durationMs, neuronCount });
    });
  }

  /** B. */
  get count(): number {
    return this.durationsMs.length;
  }
}
