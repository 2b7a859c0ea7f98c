// One reservoir in a WebAssembly instance: fills its memory from the model and runs chunks of
// steps, alone or with worker threads.
import { type FloatArray, isSparse } from "@spillway/numerics";
import { releaseInstance, type WasmExports, type WasmInstance } from "@spillway/numerics/wasm/index.js";
import { asColumn, packColumns, packPanels, packSlices } from "@spillway/numerics/wasm/layout.js";
import { keepOf } from "../../reservoir/cell.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { Stepper } from "../host-steps.js";
import { type MemoryMap, type Region, viewOf } from "./memory.js";
import type { Globals, WorkerTeam } from "./team.js";

/** Index of the first bad step in the barrier's words. */
const badStep = 48;

const activations = { tanh: 0, identity: 1, relu: 2, sigmoid: 3 } as const;

/** What one thread computes: panels or slices of the product, and neurons. */
type Share = readonly [firstPart: number, lastPart: number, firstRow: number, lastRow: number];

/** Sets a module's globals. */
function setGlobals(exports: WasmExports, globals: Globals): void {
  for (const [name, value] of Object.entries(globals)) (Reflect.get(exports, name) as WebAssembly.Global).value = value;
}

export class WasmStepper implements Stepper {
  readonly capacity: number;
  readonly inputs: FloatArray;
  readonly outputs: FloatArray;
  readonly states: FloatArray;
  readonly #model: ReservoirModel;
  readonly #exports: WasmExports;
  readonly #memory: WasmInstance["memory"];
  readonly #values: FloatArray;
  readonly #shares: readonly Share[];
  readonly #team: WorkerTeam | undefined;
  /** The values before the chunk, and all of one thread's work, for a team that lost a worker. */
  readonly #before: FloatArray;
  readonly #whole: Share;
  readonly #barrier: Int32Array;
  readonly #run: (steps: number, ...share: Share) => number;

  constructor(model: ReservoirModel, map: MemoryMap, memory: WasmInstance["memory"], exports: WasmExports, team?: WorkerTeam) {
    const view = (region: Region, length: number) => viewOf(memory.buffer, model.precision, region, length);
    const { regions } = map;
    this.#model = model;
    this.#exports = exports;
    this.#memory = memory;
    this.#team = team;
    this.capacity = map.capacity;
    this.inputs = view(regions.inputs, map.capacity * model.inputSize);
    this.outputs = view(regions.outputs, map.capacity * model.outputSize);
    this.states = view(regions.states, map.capacity * model.size);
    this.#values = view(regions.state, model.size);
    this.#before = this.#values.slice() as FloatArray;
    this.#barrier = new Int32Array(memory.buffer, regions.barrier.address, 64);
    this.#run = model.precision === "float32" ? exports.run32 : exports.run64;
    this.#shares = divide(map, team ? team.size : 1);
    this.#whole = divide(map, 1)[0]!;
    fill(model, map, memory, view);
    const globals = globalsOf(model, map, this.#shares.length);
    setGlobals(exports, globals);
    team?.start(globals);
  }

  getValues(): FloatArray {
    return this.#values;
  }

  setValues(values: FloatArray): void {
    this.#values.set(values);
    this.#exports.stateWritten(this.#model.precision === "float32" ? 32 : 64);
  }

  advance(steps: number, step: number, sequence: number): number {
    this.#exports.noiseStep.value = step | 0;
    this.#exports.noiseSequence.value = sequence | 0;
    const team = this.#team?.ready ? this.#team : undefined;
    if (this.#team) setGlobals(this.#exports, { threads: team ? team.size : 1 });
    if (!team) return this.#run(steps, ...this.#whole);
    this.#before.set(this.#values);
    this.#barrier[badStep] = 0x7fffffff;
    try {
      team.advance(steps, step, sequence, this.#shares);
      const finite = this.#run(steps, ...this.#shares[0]!);
      team.join();
      return finite;
    } catch (error) {
      team.fail();
      this.#barrier.fill(0);
      this.setValues(this.#before);
      throw error;
    }
  }

  async dispose(): Promise<void> {
    if (this.#team) await this.#team.dispose();
    else releaseInstance({ exports: this.#exports, memory: this.#memory });
  }
}

function fill(
  model: ReservoirModel,
  map: MemoryMap,
  memory: WasmInstance["memory"],
  view: (region: Region, length: number) => FloatArray,
): void {
  const { regions, paddedSize } = map;
  const { weights } = model;
  packColumns(asColumn(model.bias), paddedSize, view(regions.bias, paddedSize));
  packColumns(asColumn(model.leakRate), paddedSize, view(regions.leak, paddedSize));
  packColumns(asColumn(keepOf(model)), paddedSize, view(regions.keep, paddedSize));
  packColumns(model.inputWeights, paddedSize, view(regions.inputWeights, model.inputSize * paddedSize));
  if (model.feedbackWeights) packColumns(model.feedbackWeights, paddedSize, view(regions.feedbackWeights, model.outputSize * paddedSize));
  const values = view(regions.weights, regions.weights.bytes / map.elementBytes);
  if (isSparse(weights)) {
    const { offsets, rows, wide, bytes } = map.sparse!;
    new Uint32Array(memory.buffer, regions.sliceOffsets.address, offsets.length).set(offsets);
    new Uint32Array(memory.buffer, regions.sliceRows.address, rows.length).set(rows.map((r) => r * map.elementBytes));
    const columns = wide
      ? new Uint32Array(memory.buffer, regions.sliceColumns.address, bytes.columns / 4)
      : new Uint16Array(memory.buffer, regions.sliceColumns.address, bytes.columns / 2);
    packSlices(weights, map.sparse!, values, columns);
  } else {
    const dense = map.dense!;
    packPanels(weights, dense, values, dense.before);
    if (model.cell?.orthogonal) packPanels(model.cell.orthogonal, dense, values, 0);
  }
}

function globalsOf(model: ReservoirModel, map: MemoryMap, threads: number): Globals {
  const address = Object.fromEntries(Object.entries(map.regions).map(([name, region]) => [name, region.address | 0]));
  const { state, barrier, preactivation: products, ...pointers } = address;
  const before = map.dense ? map.dense.before * map.dense.panelRows * map.elementBytes : 0;
  return {
    ...pointers,
    barrierAddress: barrier!,
    products: products!,
    preactivation: (products! + before) | 0,
    kept: before > 0 ? products! : state!,
    size: model.size,
    paddedSize: map.paddedSize,
    inputSize: model.inputSize,
    outputSize: model.outputSize,
    layout: map.dense ? 0 : map.sparse!.wide ? 2 : 1,
    columnsPerPartial: map.dense?.columnsPerPartial ?? 0,
    secondStream: map.dense?.streams === 2 ? map.dense.bytes / 2 : 0,
    activation: activations[model.activation],
    noiseLevel32: model.noiseLevel,
    noiseLevel64: model.noiseLevel,
    noiseKey0: model.noiseKey[0] | 0,
    noiseKey1: model.noiseKey[1] | 0,
    threads,
  };
}

/**
 * Splits panels or slices by their entries, and neurons by number, into shares that are as equal as
 * whole parts allow.
 */
function divide(map: MemoryMap, threads: number): Share[] {
  const offsets = map.sparse?.offsets;
  const parts = map.dense?.panels ?? map.sparse!.slices;
  const work = offsets ? offsets[parts]! : parts;
  const partAt = (fraction: number): number => {
    if (fraction >= 1) return parts;
    if (!offsets) return Math.round(fraction * parts);
    const at = offsets.findIndex((offset) => offset >= fraction * work);
    return Math.min(parts, Math.max(0, at));
  };
  const rowAt = (fraction: number) => (fraction >= 1 ? map.paddedSize : Math.round((fraction * map.paddedSize) / 32) * 32);
  return Array.from({ length: threads }, (_, i) => {
    const [from, to] = [i / threads, (i + 1) / threads];
    return [partAt(from), partAt(to), rowAt(from), rowAt(to)];
  });
}
