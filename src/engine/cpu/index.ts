// The CPU engine: WebAssembly SIMD, in Node and in browsers, one thread or several.
import { formatBytes } from "@spillway/core/bytes.js";
import { loadWasm, wasmInstance, wasmMemoryLimit, wasmReserved } from "@spillway/numerics/wasm/index.js";
import { isOwnActivation } from "../../reservoir/activations.js";
import { EngineUnavailableError } from "../../reservoir/engine/errors.js";
import type { Engine, EngineOptions, EnginePlan, EngineSession } from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { SpikingModel } from "../../reservoir/spiking-model.js";
import { networkOf } from "../../spikes/liquid/as-network.js";
import { drawNetwork } from "../../spikes/network/draw.js";
import { type Stepper, stepperSession } from "../host-steps.js";
import { clockFor } from "../phase-clock.js";
import { SpikingStepper } from "../spiking-stepper.js";
import { cpuMicroseconds } from "./cost.js";
import { planIntegerMemory } from "./integer-memory.js";
import { IntegerStepper, integerPlan } from "./integer-stepper.js";
import { expectedMemory, type MemoryMap, planMemory } from "./memory.js";
import { WasmNetwork } from "./network.js";
import { checkNetworkFits, type NetworkMemory, planNetworkMemory, rowsAtOnce } from "./network-memory.js";
import { OwnActivationStepper, preactivationsOf } from "./own-activation.js";
import { openKind, planKind } from "./registered.js";
import { WasmStepper } from "./stepper.js";
import { WorkerTeam } from "./team.js";
import { whyOneThread } from "./thread.js";

/** WebAssembly SIMD. */
export const cpuEngine: Engine = {
  name: "cpu",
  supports: new Set(["ownActivations", "cells", "integers", "registeredKinds"]),
  cost: { microseconds: cpuMicroseconds, limit: wasmMemoryLimit, bytes: expectedMemory },

  async probe() {
    try {
      await loadWasm();
      return { available: true, reason: "WebAssembly SIMD compiles here", device: deviceName() };
    } catch (error) {
      return { available: false, reason: `its WebAssembly module does not load here: ${(error as Error).message}` };
    }
  },

  plan(model, options) {
    if (model.kind === "registered") return planKind(model);
    if (model.kind === "spiking") return describeSpikingPlan(model, planNetworkMemory(networkOf(model), 1), options);
    if (model.config.arithmetic === "integer") return planIntegers(model, options);
    return describePlan(model, planMemory(model), threadsOf(options));
  },

  async open(model, options) {
    if (model.kind === "registered") return openKind(model, options);
    if (model.kind === "spiking") return openSpiking(model, options);
    if (model.config.arithmetic === "integer") return openIntegers(model, options);
    const threads = threadsOf(options);
    const map = planMemory(model);
    const plan = describePlan(model, map, threads);
    await loadWasm();
    if (threads.count === 1) {
      const { exports, memory } = wasmInstance(map.totalBytes - wasmReserved);
      return stepperSession(model, plan, stepperOf(model, map, memory, exports), clockFor(options));
    }
    const kernel = model.precision === "float32" ? "run32" : "run64";
    const { exports, memory, team } = await WorkerTeam.load(threads.count, map.totalBytes, kernel);
    const stepper = stepperOf(model, map, memory, exports, team);
    return stepperSession(model, plan, stepper, clockFor(options));
  },

  async openNetwork(plan, { threads }) {
    checkNetworkFits(plan);
    return WasmNetwork.open(drawNetwork(plan), threads);
  },
};

/** How many threads a reservoir gets, and why not those that were asked for. */
interface Threads {
  readonly count: number;
  readonly why?: string | undefined;
}

function threadsOf(options: EngineOptions | undefined): Threads {
  const wanted = options?.threads ?? 1;
  const why = wanted === 1 ? undefined : whyOneThread();
  return why === undefined ? { count: wanted } : { count: 1, why: `${wanted} threads were asked for, and ${why}` };
}

function stepperOf(...[model, ...rest]: ConstructorParameters<typeof WasmStepper>): Stepper {
  if (!isOwnActivation(model.activation)) return new WasmStepper(model, ...rest);
  return new OwnActivationStepper(model, new WasmStepper(preactivationsOf(model), ...rest));
}

async function openSpiking(model: SpikingModel, options: EngineOptions | undefined): Promise<EngineSession> {
  const network = networkOf(model);
  const memory = planNetworkMemory(network, 1);
  const plan = describeSpikingPlan(model, memory, options);
  await loadWasm();
  return stepperSession(model, plan, new SpikingStepper(model, network, new WasmNetwork(network, memory)), clockFor(options));
}

/** @throws EngineUnavailableError for more than one thread */
function oneThread(options: EngineOptions | undefined, what: string): void {
  const threads = options?.threads ?? 1;
  if (threads !== 1) throw new EngineUnavailableError("cpu", `threads is ${threads}; ${what} runs in one thread, so it takes 1`);
}

/** @throws EngineUnavailableError for more than one thread */
function planIntegers(model: ReservoirModel, options: EngineOptions | undefined): EnginePlan {
  oneThread(options, "a reservoir in integers");
  return integerPlan("cpu", model, planIntegerMemory(model));
}

async function openIntegers(model: ReservoirModel, options: EngineOptions | undefined): Promise<EngineSession> {
  const plan = planIntegers(model, options);
  await loadWasm();
  const map = planIntegerMemory(model);
  const stepper = new IntegerStepper(model, map, wasmInstance(map.totalBytes - wasmReserved));
  return stepperSession(model, plan, stepper, clockFor(options));
}

/** @throws EngineUnavailableError for more than one thread */
function describeSpikingPlan(
  model: SpikingModel,
  { model: network, totalBytes }: NetworkMemory,
  options: EngineOptions | undefined,
): EnginePlan {
  oneThread(options, "a spiking reservoir");
  const synapses = model.synapses.targets.length;
  return {
    engine: "cpu",
    summary: `WebAssembly SIMD, ${synapses.toLocaleString("en")} synapses by source and delay, ${formatBytes(totalBytes)}`,
    bytes: totalBytes,
    details: { precision: model.precision, neuron: model.config.neuron.type, synapses, threads: 1, stepsPerChunk: rowsAtOnce(network) },
  };
}

function describePlan(model: ReservoirModel, map: MemoryMap, { count, why }: Threads): EnginePlan {
  const layout = map.dense
    ? `dense, ${map.dense.panels} panels of ${map.dense.panelRows} rows`
    : `sparse, ${map.sparse!.slices} slices of ${map.sparse!.sliceRows} rows, ${map.sparse!.wide ? 32 : 16}-bit column offsets`;
  const own = isOwnActivation(model.activation) ? `, ${model.activation} in JavaScript on one thread` : "";
  const run = count === 1 ? `one thread${why ? ` (${why})` : ""}` : `${count} threads`;
  return {
    engine: "cpu",
    summary: `WebAssembly SIMD, ${layout}, ${run}, ${formatBytes(map.totalBytes)}${own}`,
    bytes: map.totalBytes,
    details: {
      precision: model.precision,
      storage: map.dense ? "dense" : "sparse",
      threads: count,
      ...(why ? { oneThread: why } : {}),
      stepsPerChunk: map.capacity,
    },
  };
}

function deviceName(): string {
  const os = globalThis.process?.getBuiltinModule?.("node:os");
  const cpu = os?.cpus()[0]?.model.trim();
  return cpu ? `${cpu}, ${os!.cpus().length} threads` : "this browser's WebAssembly";
}
