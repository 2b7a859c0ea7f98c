// A reservoir in integers on a WebGPU device: buffers, and chunks of steps, one dispatch each.
import { SpillwayError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import { isSparse } from "@spillway/numerics";
import { EngineCapacityError, EngineUnavailableError } from "../../reservoir/engine/errors.js";
import { inputSteps, unit } from "../../reservoir/integer/step.js";
import { tanhTable } from "../../reservoir/integer/tanh.js";
import { type IntegerRows, integerRows } from "../../reservoir/integer/weights.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import { HostStepper, type Keep, type Stepper } from "../host-steps.js";
import { forms, groupRows, stepShader } from "./shader.js";

/** Bits of WebGPU's GPUBufferUsage, GPUMapMode and GPUShaderStage. */
const usages = { mapRead: 1, copySource: 4, copyTarget: 8, uniform: 64, storage: 128 } as const;
const mapRead = 1;
const computeStage = 4;

/** Bytes from one step's uniforms to the next: what every device takes. */
const uniformStride = 256;

/** A chunk's states take about this many bytes. */
const chunkBytes = 4 * 2 ** 20;

const mostSteps = 512;

/** W as the shader reads it. */
interface StoredWeights {
  readonly form: (typeof forms)[keyof typeof forms];
  /** Words of 32 bits, of a dense W a row's `words`. */
  readonly values: Int32Array<ArrayBuffer>;
  readonly words: number;
  /** N + 1 of a sparse W: where rows begin. */
  readonly offsets: Uint32Array<ArrayBuffer>;
}

export const stepsOfChunk = (size: number): number => Math.max(1, Math.min(mostSteps, Math.floor(chunkBytes / (4 * size))));

function storedWeights({ weights, size, config }: ReservoirModel, rows: IntegerRows): StoredWeights {
  if (isSparse(weights)) {
    const values = Int32Array.from(rows.weights, (value, p) => (weights.columns[p]! << 16) | (value & 0xffff));
    return { form: forms.sparse, values, words: 0, offsets: Uint32Array.from(weights.rowOffsets) };
  }
  const perWord = config.weightPrecision === "int8" ? 4 : 2;
  const words = Math.ceil(size / perWord);
  const values = new Int32Array(size * words);
  const out = perWord === 4 ? new Int8Array(values.buffer) : new Int16Array(values.buffer);
  for (let r = 0; r < size; r++) out.set(rows.weights.subarray(r * size, (r + 1) * size), r * words * perWord);
  return { form: perWord === 4 ? forms.dense8 : forms.dense16, values, words, offsets: new Uint32Array(1) };
}

export class WebGpuStepper extends HostStepper<ReservoirModel> implements Stepper {
  readonly onlyLater = true;
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #bindings: GPUBindGroup;
  readonly #driving: GPUBuffer;
  readonly #states: GPUBuffer;
  readonly #read: GPUBuffer;
  readonly #buffers: readonly GPUBuffer[];
  readonly #values: Float32Array;

  private constructor(model: ReservoirModel, device: GPUDevice, pipeline: GPUComputePipeline, stored: StoredWeights, rows: IntegerRows) {
    const { size, inputSize, outputSize } = model;
    const capacity = stepsOfChunk(size);
    super(model, capacity);
    const drivers = inputSize + outputSize;
    this.#device = device;
    this.#pipeline = pipeline;
    this.#values = new Float32Array(size);
    const buffers: GPUBuffer[] = [];
    this.#buffers = buffers;
    const buffer = (bytes: number, usage: number): GPUBuffer => {
      // A binding is of at least one word, of 16 bytes if it holds neurons.
      const made = device.createBuffer({ size: Math.max(16, Math.ceil(bytes / 4) * 4), usage: usage | usages.copyTarget });
      buffers.push(made);
      return made;
    };
    const filled = (values: Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>, usage: number = usages.storage): GPUBuffer => {
      const made = buffer(values.byteLength, usage);
      device.queue.writeBuffer(made, 0, values);
      return made;
    };
    const uniforms = new Uint32Array((capacity * uniformStride) / 4);
    for (let t = 0; t < capacity; t++) uniforms.set([t, size, drivers, stored.words], (t * uniformStride) / 4);
    this.#driving = buffer(4 * capacity * drivers, usages.storage);
    this.#states = buffer(4 * (capacity + 1) * size, usages.storage | usages.copySource);
    this.#read = buffer(4 * capacity * size, usages.mapRead);
    const bound = [
      filled(uniforms, usages.uniform),
      filled(stored.values),
      filled(stored.offsets),
      filled(drivingWeights(model, rows)),
      filled(neuronWords(rows)),
      filled(Int32Array.from(tanhTable)),
      this.#driving,
      this.#states,
    ];
    this.#bindings = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: bound.map((each, binding) => ({ binding, resource: binding === 0 ? { buffer: each, size: 16 } : { buffer: each } })),
    });
  }

  /** @throws EngineCapacityError, SpillwayError with what the device says */
  static async open(model: ReservoirModel, device: GPUDevice): Promise<WebGpuStepper> {
    const rows = integerRows(model);
    const stored = storedWeights(model, rows);
    const limit = Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize);
    if (stored.values.byteLength > limit)
      throw new EngineCapacityError(
        `W of ${model.size} neurons in one buffer of WebGPU`,
        stored.values.byteLength,
        limit,
        'take fewer neurons, a smaller connectionProbability, or the engine "cpu"',
      );
    const scopes = ["validation", "out-of-memory"] as const;
    for (const scope of scopes) device.pushErrorScope(scope);
    const pipeline = await pipelineOf(device, stored.form);
    const stepper = new WebGpuStepper(model, device, pipeline, stored, rows);
    const errors = await Promise.all(scopes.map(() => device.popErrorScope()));
    const error = errors.find((each) => each !== null);
    if (!error) return stepper;
    await stepper.dispose();
    throw new SpillwayError("device", `WebGPU did not take a reservoir of ${model.size} neurons: ${error.message}`);
  }

  getValues(): Float32Array {
    return this.#values;
  }

  setValues(values: ArrayLike<number>): void {
    this.#values.set(values);
  }

  advance(): number {
    throw new EngineUnavailableError(
      "webgpu",
      'one step at once would wait for the device, which a page cannot; take run, or the engine "cpu"',
    );
  }

  async advanceLater(steps: number, _step: number, _sequence: number, keep: Keep = true): Promise<number> {
    const { size, inputSize, outputSize } = this.model;
    const device = this.#device;
    const drivers = inputSize + outputSize;
    const driving = new Int32Array(steps * drivers);
    for (let t = 0; t < steps; t++) {
      for (let i = 0; i < inputSize; i++) driving[t * drivers + i] = inputSteps(this.inputs[t * inputSize + i]!);
      for (let o = 0; o < outputSize; o++) driving[t * drivers + inputSize + o] = inputSteps(this.outputs[t * outputSize + o]!);
    }
    device.queue.writeBuffer(this.#driving, 0, driving);
    device.queue.writeBuffer(
      this.#states,
      0,
      Int32Array.from(this.#values, (x) => x * unit),
    );
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#pipeline);
    for (let t = 0; t < steps; t++) {
      pass.setBindGroup(0, this.#bindings, [t * uniformStride]);
      pass.dispatchWorkgroups(Math.ceil(size / groupRows));
    }
    pass.end();
    const first = keep ? 1 : steps;
    const bytes = 4 * (steps - first + 1) * size;
    encoder.copyBufferToBuffer(this.#states, 4 * first * size, this.#read, 0, bytes);
    device.queue.submit([encoder.finish()]);
    try {
      await this.#read.mapAsync(mapRead, 0, bytes);
    } catch (error) {
      throw new SpillwayError("device", `the WebGPU device was lost while it computed: ${(error as Error).message}`, { cause: error });
    }
    const words = new Int32Array(this.#read.getMappedRange(0, bytes));
    const target = (first - 1) * size;
    for (let k = 0; k < words.length; k++) this.states[target + k] = words[k]! / unit;
    this.#read.unmap();
    this.#values.set(this.states.subarray((steps - 1) * size, steps * size));
    return steps;
  }

  override async dispose(): Promise<void> {
    for (const buffer of this.#buffers) buffer.destroy();
  }
}

const pipelines = new WeakMap<GPUDevice, Map<number, Promise<GPUComputePipeline>>>();

/** The shader, compiled once a device and form. */
function pipelineOf(device: GPUDevice, form: number): Promise<GPUComputePipeline> {
  const known = getOrMake(pipelines, device, () => new Map<number, Promise<GPUComputePipeline>>());
  return getOrMake(known, form, () => {
    const visibility = computeStage;
    const types = ["uniform", ...new Array<"read-only-storage">(6).fill("read-only-storage"), "storage"] as const;
    const entries = types.map((type, binding) => ({ binding, visibility, buffer: { type, hasDynamicOffset: binding === 0 } }));
    const layout = device.createPipelineLayout({ bindGroupLayouts: [device.createBindGroupLayout({ entries })] });
    const module = device.createShaderModule({ code: stepShader });
    return device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "advance", constants: { form } } });
  });
}

/** W_in and then W_fb, input by input. */
function drivingWeights({ size, inputSize, outputSize }: ReservoirModel, rows: IntegerRows): Int32Array<ArrayBuffer> {
  const out = new Int32Array((inputSize + outputSize) * size);
  for (let r = 0; r < size; r++) {
    for (let i = 0; i < inputSize; i++) out[i * size + r] = rows.inputWeights[r * inputSize + i]!;
    for (let o = 0; o < outputSize; o++) out[(inputSize + o) * size + r] = rows.feedbackWeights[r * outputSize + o]!;
  }
  return out;
}

function neuronWords({ bias, exponents, leakRate }: IntegerRows): Int32Array<ArrayBuffer> {
  const out = new Int32Array(4 * bias.length);
  for (let r = 0; r < bias.length; r++) out.set([bias[r]!, exponents[r]!, leakRate[r]!], 4 * r);
  return out;
}
