// A feed-forward network whose weights stay on the device: linear, activation, ..., softmax,
// without a way back to the host in between.
import { DisposedByUsing, disposeAll } from "@spillway/core/disposal.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, choice, given, option, optional, type Resolved, resolve, type TableOf, whole } from "@spillway/core/options.js";
import type { DeviceBuffer } from "../buffer.js";
import type { GpuDevice } from "./gpu-device.js";
import type { ExecutorOptions, ProductSource } from "./matmul.js";
import type { Input, Output } from "./standard-kernels.js";
import type { TensorKernels } from "./tensor-kernels.js";

/** What follows a layer's sum. */
export type LayerActivation = "none" | "relu" | "sigmoid" | "tanh" | "softmax";

/** y = activation(x W + b). */
export interface Layer {
  /** inputs x outputs, row-major. */
  readonly weights: Float32Array;
  readonly inputs: number;
  readonly outputs: number;
  /** One for each output; default none. */
  readonly bias?: Float32Array;
  /** Default "none". */
  readonly activation?: LayerActivation;
}

const values = checked<Float32Array>("a Float32Array", (value) => value instanceof Float32Array);
const units = whole({ atLeast: 1 });
// Compilers before TypeScript 5.7 cannot read the arrays of `InputOf<typeof layerTable>`.
const layerTable = {
  weights: given(values, "inputs x outputs, row-major."),
  inputs: given(units, "Values that come in."),
  outputs: given(units, "Values that go out."),
  bias: optional(values, "One for each output; left out, none."),
  activation: option(choice("none", "relu", "sigmoid", "tanh", "softmax"), "none", "What follows the sum."),
} satisfies TableOf<Layer>;

interface LoadedLayer extends Pick<Resolved<typeof layerTable>, "inputs" | "outputs" | "activation"> {
  readonly weights: DeviceBuffer<"f32">;
  readonly bias: DeviceBuffer<"f32"> | undefined;
}

/** @throws ArgumentError if a layer does not fit itself or the one before. */
function readLayers(layers: readonly Layer[]): Resolved<typeof layerTable>[] {
  if (!Array.isArray(layers) || layers.length === 0)
    throw ArgumentError.because("a network has at least one layer", { field: "layers", value: layers, expected: "a list of layers" });
  const read = layers.map((layer, index) => resolve(layerTable, layer, `layer ${index}`));
  for (const [index, { weights, inputs, outputs, bias }] of read.entries()) {
    const which = `layer ${index}`;
    if (weights.length !== inputs * outputs)
      throw ArgumentError.shape(`${which}: weights has ${weights.length} values; ${inputs} x ${outputs} has ${inputs * outputs}`, {
        field: "weights",
      });
    if (bias && bias.length !== outputs)
      throw ArgumentError.shape(`${which}: bias has ${bias.length} values for ${outputs} outputs`, { field: "bias" });
    const before = read[index - 1];
    if (before && before.outputs !== inputs)
      throw ArgumentError.shape(`${which} has ${inputs} inputs; the layer before has ${before.outputs} outputs`, { field: "inputs" });
  }
  return read;
}

/** A network on a device. */
export class NeuralNetwork extends DisposedByUsing {
  readonly inputs: number;
  readonly outputs: number;
  readonly #kernels: TensorKernels;
  readonly #device: GpuDevice;
  readonly #layers: LoadedLayer[] = [];

  /** @internal Uploads the weights; `KernelExecutor.network` makes one. */
  constructor(kernels: TensorKernels, layers: readonly Layer[]) {
    super();
    const read = readLayers(layers);
    this.#kernels = kernels;
    this.#device = kernels.device;
    this.inputs = read[0]!.inputs;
    this.outputs = read[read.length - 1]!.outputs;
    try {
      for (const [index, { weights, bias, inputs, outputs, activation }] of read.entries()) {
        const layer = {
          weights: this.#device.upload(weights, { label: `weights ${index}` }),
          bias: undefined,
          inputs,
          outputs,
          activation,
        };
        this.#layers.push(layer);
        if (bias) this.#layers[index] = { ...layer, bias: this.#device.upload(bias, { label: `bias ${index}` }) };
      }
    } catch (error) {
      this.dispose();
      throw error;
    }
  }

  /**
   * The outputs (batch x outputs) of inputs on the device (batch x inputs), in the order of the
   * device's stream: nothing is copied to the host or waited for. The caller disposes the buffer.
   * `sources` says what multiplied in each layer.
   *
   * @throws LaunchError if the input is shorter than the batch; OutOfMemoryError, CudaError.
   */
  run(
    input: Input,
    batch: number,
    options: ExecutorOptions = {},
  ): { readonly output: DeviceBuffer<"f32">; readonly sources: readonly ProductSource[] } {
    const { context, stream } = this.#device;
    const sources: ProductSource[] = [];
    let current: Input = input;
    let owned: DeviceBuffer<"f32"> | undefined;
    for (const { weights, bias, inputs, outputs, activation } of this.#layers) {
      const next = context.alloc("f32", batch * outputs, { stream });
      try {
        sources.push(this.#kernels.matmul(current, weights, next, batch, inputs, outputs, options));
        if (bias) this.#kernels.broadcastAdd(next, bias, batch, outputs);
        this.#activate(next, activation, batch, outputs);
      } catch (error) {
        next.dispose();
        throw error;
      } finally {
        owned?.dispose();
      }
      owned = next;
      current = next;
    }
    return { output: owned!, sources };
  }

  #activate(data: Output, activation: LayerActivation, batch: number, outputs: number): void {
    if (activation === "softmax") this.#kernels.softmax(data, batch, outputs);
    else if (activation !== "none") this.#kernels[activation](data, batch * outputs);
  }

  /**
   * Gives the weights back, after the work that they were given to. A second call does nothing.
   * @throws CudaError.
   */
  dispose(): void {
    disposeAll(this.#layers.flatMap(({ weights, bias }) => [weights, bias]));
  }
}
