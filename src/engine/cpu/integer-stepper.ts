// One reservoir in integers in a WebAssembly instance: docs/numerics.md, rule 18.
import { formatBytes } from "@spillway/core/bytes.js";
import { releaseInstance, type WasmInstance } from "@spillway/numerics/wasm/index.js";
import type { EnginePlan } from "../../reservoir/engine.js";
import { unit } from "../../reservoir/integer/step.js";
import { integerRows } from "../../reservoir/integer/weights.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { Stepper } from "../host-steps.js";
import { fillIntegerMemory, type IntegerMemoryMap } from "./integer-memory.js";

export function integerPlan(engine: string, { config }: ReservoirModel, map: IntegerMemoryMap): EnginePlan {
  const storage = map.sparse ? "sparse" : "dense";
  const bits = 8 * map.weightBytes;
  return {
    engine,
    summary: `WebAssembly SIMD, 16-bit states, ${bits}-bit weights, 32-bit sums, ${storage}, ${formatBytes(map.totalBytes)}`,
    bytes: map.totalBytes,
    details: { arithmetic: config.arithmetic, storage, weightBits: bits, stepsPerChunk: map.capacity },
  };
}

export class IntegerStepper implements Stepper {
  readonly capacity: number;
  readonly inputs: Float32Array;
  readonly outputs: Float32Array;
  readonly states: Float32Array;
  readonly #instance: WasmInstance;
  readonly #table: number;
  readonly #x: Int16Array;

  constructor(model: ReservoirModel, map: IntegerMemoryMap, instance: WasmInstance) {
    const { size, inputSize, outputSize } = model;
    const { regions, capacity } = map;
    const { buffer } = instance.memory;
    this.#instance = instance;
    this.#table = regions.fields.address;
    this.capacity = capacity;
    this.inputs = new Float32Array(buffer, regions.inputs.address, capacity * inputSize);
    this.outputs = new Float32Array(buffer, regions.outputs.address, capacity * outputSize);
    this.states = new Float32Array(buffer, regions.states.address, capacity * size);
    this.#x = new Int16Array(buffer, regions.state.address, size);
    fillIntegerMemory(model, integerRows(model), map, buffer);
  }

  getValues(): Float32Array {
    return Float32Array.from(this.#x, (x) => x / unit);
  }

  setValues(values: ArrayLike<number>): void {
    for (let r = 0; r < this.#x.length; r++) this.#x[r] = values[r]! * unit;
  }

  advance(steps: number): number {
    this.#instance.exports.runInteger(this.#table, steps);
    return steps;
  }

  async dispose(): Promise<void> {
    releaseInstance(this.#instance);
  }
}
