// The named kernels for own programs, over slices of device memory. It checks shapes and enqueues;
// it waits for nothing.
import { SpillwayError } from "@spillway/core/errors.js";
import { checked, optional, resolve, type TableOf } from "@spillway/core/options.js";
import { type Context, DeviceSlice, type ReadonlyDeviceSlice, Stream } from "@spillway/gpu";
import type { Precision } from "@spillway/numerics";
import type { DeviceMatrix } from "../../reservoir/device-matrix.js";
import { binSpikesOnDevice, type DeviceBinOptions, type DeviceSpikePattern } from "../../spikes/gpu/index.js";
import { enqueueDetection } from "../../spikes/gpu/templates.js";
import type { SpikePattern } from "../../spikes/index.js";
import { activationNumber } from "../cuda/activation.js";
import { allocAny } from "../cuda/kernels.js";
import { NamedKernels, type RealInput } from "../cuda/named-kernels.js";
import { type Checked, type ElementType, NeuromorphicOperations } from "./operations.js";
import { precisionTable } from "./options.js";

/** Slices of device memory. */
export interface DeviceArrays {
  real: DeviceSlice<"f32" | "f64">;
  realInput: ReadonlyDeviceSlice<"f32" | "f64">;
  u32Input: ReadonlyDeviceSlice<"u32">;
  f32: DeviceSlice<"f32">;
  f32Input: ReadonlyDeviceSlice<"f32">;
  i32: DeviceSlice<"i32">;
}

/** How kernels are made for own programs. */
export interface NeuromorphicKernelOptions {
  /** Of states and weights; default "float32". */
  readonly precision?: Precision | undefined;
  /** Where work is enqueued; default a stream of their own, which `dispose` gives back. */
  readonly stream?: Stream | undefined;
}

const kernelsTable = {
  ...precisionTable,
  stream: optional(
    checked<Stream>("a stream", (value) => value instanceof Stream),
    "Where work is enqueued; left out, a stream of their own.",
  ),
} satisfies TableOf<NeuromorphicKernelOptions>;

/**
 * The operations on a device, by the kernels that the plan "named" runs: `matvec_input`,
 * `matvec_reservoir`, `leaky_integration`, `power_iteration`,
 * `spike_encoding` and `pattern_detection`. Results are slices of device memory whose contents are
 * there after the work before on the stream. All but `spikeEncoding` may be captured into a graph,
 * with memory for every result.
 *
 * @throws if a slice is of another context or disposed, of another type or length: each says
 * which and what it takes
 */
export class NeuromorphicKernels extends NeuromorphicOperations<DeviceArrays> implements Disposable {
  readonly context: Context;
  readonly stream: Stream;
  protected readonly takes = "a slice of device memory";
  readonly #kernels: NamedKernels;
  readonly #owned: Stream | undefined;

  /** Kernels on a device that is open. Each is loaded by its first use. */
  constructor(context: Context, options: NeuromorphicKernelOptions = {}) {
    const { precision, stream } = resolve(kernelsTable, options);
    super(precision);
    this.context = context;
    this.#owned = stream ? undefined : context.stream({ label: "neuromorphic kernels" });
    this.stream = stream ?? this.#owned!;
    this.#kernels = new NamedKernels(context, precision);
  }

  /** The same kernels on another stream, such as one that is being captured. */
  on(stream: Stream): NeuromorphicKernels {
    return new NeuromorphicKernels(this.context, { precision: this.precision, stream });
  }

  /** Gives back the stream that they made for themselves. Idempotent. */
  dispose(): void {
    this.#owned?.dispose();
  }

  /** Lets `using` dispose of it. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /**
   * Spikes counted in bins of time and neuron, T x C: `binSpikesOnDevice` of spillway/gpu on
   * this stream. It waits for the report on spikes that lie outside the pattern. @throws
   * ArgumentError
   */
  async spikeEncoding(
    pattern: SpikePattern | DeviceSpikePattern,
    options: Omit<DeviceBinOptions, "stream">,
  ): Promise<DeviceMatrix<DeviceSlice<"f32">>> {
    return binSpikesOnDevice(this.context, pattern, { ...options, stream: this.stream });
  }

  protected typeOf(array: unknown): ElementType | undefined {
    return array instanceof DeviceSlice ? (array.dtype as ElementType) : undefined;
  }

  protected make(name: string, type: ElementType, length: number): DeviceArrays["real"] {
    if (this.stream.capturing)
      throw new SpillwayError("lifecycle", `${name} is left out while ${this.stream.label} is being captured into a graph; give it memory`);
    return allocAny(this.context, type, length, name) as DeviceArrays["real"];
  }

  protected computeInput({ size, steps, inputSize, weights, inputs, bias, out }: Checked<DeviceArrays>["input"]): void {
    const shape = { size, inputs: inputSize, steps };
    const [given, u] = inputSize > 0 ? [weights as RealInput, inputs as RealInput] : [null, null];
    this.#kernels.matvecInput(this.stream, given, (bias as RealInput | undefined) ?? null, u, out, shape);
  }

  protected computeProduct({ weights, state, rows, out }: Checked<DeviceArrays>["product"]): void {
    this.#kernels.matvecReservoir(this.stream, weights, state, out, rows, state.length);
  }

  protected computeLeaky({ state, drive, recurrent, feedback, leak, activation, noise, out }: Checked<DeviceArrays>["leaky"]): void {
    const { level = 0, key = [0, 0], step = 0, sequence = 0 } = noise ?? {};
    const noiseLevel = this.precision === "float32" ? Math.fround(level) : level;
    const added = { drive, recurrent: recurrent ?? null, feedback: feedback ?? null, leak };
    const neuron = [activationNumber[activation], noiseLevel, key[0]!, key[1]!] as const;
    this.#kernels.leakyIntegration(this.stream, out, state, added, out.length, neuron, { step, sequence, chunk: null });
  }

  protected computePower({ weights, state, out, length }: Checked<DeviceArrays>["power"]): void {
    this.#kernels.powerIteration(this.stream, weights, state, out, length, out.length);
  }

  protected computeDetection(work: Checked<DeviceArrays>["detection"]): void {
    enqueueDetection(this.stream, this.context, work);
  }
}
