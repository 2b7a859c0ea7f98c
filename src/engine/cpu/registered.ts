// Reservoirs of registered kinds on the CPU engine: by the kind's own functions of WebAssembly, a
// chunk of steps in a call. Steps that they do not take, and those up to a state that is not
// finite, are the stepper's.
import { formatBytes } from "@spillway/core/bytes.js";
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { type FloatArray, firstNonFinite } from "@spillway/numerics";
import {
  exportsOf,
  loadWasm,
  releaseInstance,
  type WasmInstance,
  wasmInstance,
  wasmMemoryLimit,
  wasmReserved,
} from "@spillway/numerics/wasm/index.js";
import type { EngineOptions, EnginePlan, EngineSession } from "../../reservoir/engine.js";
import { reservoirKinds } from "../../reservoir/registered/kind.js";
import type { RegisteredModel } from "../../reservoir/registered/model.js";
import type { KindWasm } from "../../reservoir/registered/wasm.js";
import { stepperSession } from "../host-steps.js";
import { clockFor } from "../phase-clock.js";
import { openRegistered, planOf, RegisteredStepper } from "../registered.js";
import { layOutRegions, type Region, stepsPerChunk, viewOf } from "./memory.js";

/** What a kind's functions are given, and where it stands. */
interface KindMap {
  readonly wasm: KindWasm;
  /** Steps in one chunk. */
  readonly capacity: number;
  /** `x`, `inputs`, `states`, and `argument 0`, `argument 1`, ... */
  readonly regions: Readonly<Record<string, Region>>;
  /** Bytes from address 0. */
  readonly totalBytes: number;
}

/** How the CPU engine would run a model of a registered kind. @throws ArgumentError */
export function planKind(model: RegisteredModel): EnginePlan {
  const map = mapOf(model);
  return map ? describe(model, map) : planOf("cpu", model);
}

/** Opens a model of a registered kind. @throws ArgumentError */
export async function openKind(model: RegisteredModel, options?: EngineOptions): Promise<EngineSession> {
  const map = mapOf(model);
  if (!map) return openRegistered("cpu", model, options);
  const instance = await instanceOf(map, model.config.kind);
  try {
    return stepperSession(model, describe(model, map), new WasmKindStepper(model, map, instance), clockFor(options));
  } catch (error) {
    if (!map.wasm.module) releaseInstance(instance);
    throw error;
  }
}

/**
 * Undefined if the kind has no functions of WebAssembly, or no memory of theirs holds the model.
 */
function mapOf(model: RegisteredModel): KindMap | undefined {
  const { config, precision, size, below, inputSize } = model;
  const wasm = reservoirKinds.get(config.kind, "kind").wasm?.(model);
  if (!wasm) return undefined;
  checkArguments(wasm, config.kind);
  const element = precision === "float32" ? 4 : 8;
  const capacity = stepsPerChunk(element * size);
  const { regions, totalBytes } = layOutRegions<string>({
    x: element * (size + below),
    inputs: element * capacity * inputSize,
    states: element * capacity * size,
    ...Object.fromEntries(
      wasm.arguments.flatMap((argument, k) => (typeof argument === "number" ? [] : [[nameOf(k), bytesOf(argument, element)]])),
    ),
  });
  return totalBytes > wasmMemoryLimit ? undefined : { wasm, capacity, regions, totalBytes };
}

const nameOf = (argument: number): string => `argument ${argument}`;

const bytesOf = (argument: Exclude<KindWasm["arguments"][number], number>, element: number): number =>
  argument instanceof Uint32Array ? argument.byteLength : element * argument.length;

function describe(model: RegisteredModel, { capacity, totalBytes }: KindMap): EnginePlan {
  const { details } = planOf("cpu", model);
  return {
    engine: "cpu",
    summary: `the kind "${model.config.kind}" in WebAssembly SIMD, ${formatBytes(totalBytes)}`,
    bytes: totalBytes,
    details: { ...details, stepsPerChunk: capacity },
  };
}

/** @throws ArgumentError for arguments that no function can be given */
function checkArguments({ arguments: given }: KindWasm, kind: string): void {
  if (!Array.isArray(given)) throw new ArgumentError(`${kind}.wasm.arguments`, given, "a list");
  for (const [k, argument] of (given as KindWasm["arguments"]).entries()) {
    const field = `${kind}.wasm.arguments[${k}]`;
    if (typeof argument === "number" || argument instanceof Uint32Array) continue;
    if (typeof argument !== "object" || argument === null)
      throw new ArgumentError(field, argument, "a number, a Uint32Array or memory: an object with a length");
    if (!Number.isSafeInteger(argument.length) || argument.length < 0)
      throw new ArgumentError(`${field}.length`, argument.length, "a whole number of values");
  }
}

/** An instance of the package's module, or of the kind's own. @throws ArgumentError */
async function instanceOf({ wasm, totalBytes }: KindMap, kind: string): Promise<WasmInstance> {
  if (wasm.module === undefined) {
    await loadWasm();
    return wasmInstance(totalBytes - wasmReserved);
  }
  const field = `${kind}.wasm.module`;
  if (!(wasm.module instanceof Uint8Array)) throw new ArgumentError(field, wasm.module, "the bytes of a WebAssembly module");
  // Of a fixed size: arrays over a memory that grows would be empty.
  const pages = Math.ceil(totalBytes / 65536);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  try {
    const { instance } = await WebAssembly.instantiate(Uint8Array.from(wasm.module), { env: { memory } });
    return { exports: exportsOf<WasmInstance["exports"]>(instance), memory };
  } catch (error) {
    const what =
      error instanceof WebAssembly.CompileError
        ? "is no WebAssembly module of this host's"
        : `cannot be used; it may import nothing but env.memory, of which there are ${pages} pages`;
    throw ArgumentError.because(`${field} ${what}: ${reasonOf(error)}`, { field, cause: error });
  }
}

const reasonOf = (error: unknown): string => (error as Error).message.replace(/^WebAssembly\.\w+\(\): /, "");

/** A function that a module exports, whose traps name it. @throws ArgumentError if there is none */
function exported(instance: WasmInstance, wasm: KindWasm, role: "setup" | "run", kind: string): (...values: number[]) => void {
  const field = `${kind}.wasm.${role}`;
  const name = wasm[role];
  const call: unknown = Object.hasOwn(instance.exports, name) ? Reflect.get(instance.exports, name) : undefined;
  if (typeof call !== "function") throw new ArgumentError(field, name, "the name of a function that the module exports");
  return (...values) => {
    try {
      call(...values);
    } catch (error) {
      throw new SpillwayError("device", `${field}, the function "${name}", failed: ${reasonOf(error)}`, { field, cause: error });
    }
  };
}

class WasmKindStepper extends RegisteredStepper {
  readonly #instance: WasmInstance;
  readonly #isOwn: boolean;
  readonly #run: (...values: number[]) => void;
  readonly #takes: NonNullable<KindWasm["takes"]>;
  readonly #regions: KindMap["regions"];
  readonly #x: FloatArray;
  readonly #inputs: FloatArray;
  readonly #states: FloatArray;

  constructor(model: RegisteredModel, { wasm, capacity, regions }: KindMap, instance: WasmInstance) {
    super(model, capacity);
    const { buffer } = instance.memory;
    const view = (region: Region) => viewOf(buffer, model.precision, region, region.bytes / (model.precision === "float32" ? 4 : 8));
    const { kind } = model.config;
    this.#instance = instance;
    this.#isOwn = wasm.module !== undefined;
    const setup = exported(instance, wasm, "setup", kind);
    this.#run = exported(instance, wasm, "run", kind);
    this.#takes = wasm.takes?.bind(wasm) ?? (() => true);
    this.#regions = regions;
    this.#x = view(regions["x"]!);
    this.#inputs = view(regions["inputs"]!);
    this.#states = view(regions["states"]!);
    const given = wasm.arguments.map((argument, k) => {
      if (typeof argument === "number") return argument;
      const region = regions[nameOf(k)]!;
      if (argument instanceof Uint32Array) new Uint32Array(buffer, region.address, argument.length).set(argument);
      else argument.fill?.(view(region));
      return region.address;
    });
    setup(...given);
  }

  override advance(steps: number, step: number, sequence: number): number {
    const { size, inputSize } = this.model;
    const inputs = this.inputs.subarray(0, steps * inputSize);
    if (!this.#takes(inputs)) return super.advance(steps, step, sequence);
    this.#x.set(this.x);
    this.#inputs.set(inputs);
    const { x, inputs: from, states: to } = this.#regions;
    this.#run(x!.address, from!.address, to!.address, steps, step | 0, sequence | 0);
    const states = this.#states.subarray(0, steps * size);
    if (firstNonFinite(states) >= 0 || firstNonFinite(this.#x) >= 0) return super.advance(steps, step, sequence);
    this.states.set(states);
    this.x.set(this.#x);
    return steps;
  }

  override async dispose(): Promise<void> {
    if (!this.#isOwn) releaseInstance(this.#instance);
  }
}
