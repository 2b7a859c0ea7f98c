// The CUDA engine: one device, real or simulated, that runs reservoirs by the plan that suits their
// shape. The package's index names the devices.
import { disposeQuietly } from "@spillway/core/disposal.js";
import { type Context, LibraryError, openDevice } from "@spillway/gpu";
import { denseOnDevice } from "@spillway/numerics/spectrum/radius.js";
import {
  type DeviceAbilities,
  type Engine,
  type EngineCost,
  type EngineOptions,
  type EnginePlan,
  type EngineSession,
  EngineUnavailableError,
  formatBytes,
} from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import type { EngineModel } from "../../reservoir/spiking-model.js";
import { Session } from "../session.js";
import { limitChunks } from "./chunk-limit.js";
import { type EngineDevice, givenDevice, isSimulated, ownDevice } from "./device.js";
import { ensembleMicroseconds } from "./ensemble/cost.js";
import { evaluateTogether } from "./ensemble/evaluation.js";
import { openTogether } from "./ensemble/index.js";
import { leastSquaresOnDevice } from "./least-squares.js";
import { freeMemory, usableMemory } from "./memory.js";
import { neighbourCounts } from "./neighbours.js";
import { whyNoCompiler } from "./persistent/kernel-code.js";
import { type Choice, checkOneWay, choices, describeChoice, type PlanTarget } from "./plan.js";
import { DeviceClock } from "./profile.js";
import { openKind, planKind } from "./registered.js";
import { type ModelShape, shapeOf } from "./shape.js";
import { whyNotSharded } from "./sharded/index.js";
import { denseRadiiOnDevice } from "./spectrum/dense.js";
import { drawnSpectralRadius, spectralRadiusOnDevice } from "./spectrum/index.js";
import { openSpiking, planSpiking } from "./spiking/index.js";
import { spinLimitOf } from "./spin-limit.js";
import { DeviceSteps } from "./steps.js";
import { drawRowSums, drawSparse } from "./streamed/drawn.js";
import { streamedLoops } from "./streamed/index.js";
import type { TimeLoop } from "./time-loop.js";

/** Which device an engine runs on. */
export interface DeviceEngineOptions {
  /** "cuda", "cuda:1", "sim". */
  readonly name: string;
  /** Opens the device, when it is first needed. */
  readonly open: () => Context;
  /**
   * The most steps of a chunk; default what suits memory and the time of a step. A device that is
   * simulated takes fewer.
   */
  readonly stepsPerChunk?: number | undefined;
}

interface CudaAbilities extends DeviceAbilities {
  beside(others: readonly Engine[]): DeviceEngine;
}

/** An engine on a device. */
export interface DeviceEngine extends Engine {
  readonly device: CudaAbilities;
  /** The device's context, opened if it is not yet. */
  context(): Context;
  /** Gives the device back; sessions on it end. The next use opens it again. */
  close(): void;
}

/**
 * An engine on the device that `open` opens. Nothing is opened before it is asked for something.
 */
export function deviceEngine({ name, open, stepsPerChunk }: DeviceEngineOptions): DeviceEngine {
  const device = ownDevice(() => {
    const context = open();
    if (stepsPerChunk !== undefined) limitChunks(context, stepsPerChunk);
    return context;
  });
  return engineOf(name, device, stepsPerChunk);
}

const ofContexts = new WeakMap<Context, DeviceEngine>();

/**
 * The engine on a device that is open, one for each context: "sim", "cuda" or "cuda:1". Disposing
 * of it is its owner's matter.
 */
export function contextEngine(context: Context): DeviceEngine {
  const known = ofContexts.get(context);
  if (known) return known;
  const { ordinal } = context.info;
  const simulated = isSimulated(context);
  const engine = simulated
    ? engineOf("sim", givenDevice(context), simulatedChunk)
    : engineOf(ordinal === 0 ? "cuda" : `cuda:${ordinal}`, givenDevice(context));
  if (simulated) limitChunks(context, simulatedChunk);
  ofContexts.set(context, engine);
  return engine;
}

/** A simulated device draws and measures slower than the host at any size. */
const leastDrawn = 1000;

/** Steps of a chunk on the simulated device: few enough to be interrupted. */
export const simulatedChunk = 16;

/** What the functions of an engine share. */
interface EngineParts {
  readonly name: string;
  readonly device: EngineDevice;
  readonly stepsPerChunk?: number | undefined;
  /** Engines whose devices may share a reservoir. */
  readonly others: readonly DeviceEngine[];
}

function engineOf(name: string, device: EngineDevice, stepsPerChunk?: number, others: readonly DeviceEngine[] = []): DeviceEngine {
  const parts = { name, device, stepsPerChunk, others };
  return {
    name,
    supports: new Set(["integers", "registeredKinds", "plans"]),
    cost: costOf(parts),
    device: abilitiesOf(parts),

    async probe() {
      try {
        const { info } = device.context();
        const [major, minor] = info.computeCapability;
        const reason = `${info.name} opens, compute capability ${major}.${minor}, ${formatBytes(info.totalMemory)}`;
        return { available: true, reason, device: info.name };
      } catch (error) {
        return { available: false, reason: withoutPaths(error as Error) };
      }
    },

    plan: (model, options) => planOn(parts, model, options),
    open: async (model, options) => openOn(parts, model, { ...options, spinLimit: spinLimitOf(options?.spinLimit) }),
    openNetwork: async (plan) => (await import("./network/index.js")).openNetwork(device.context(), plan, { engine: name }),
    context: () => device.context(),
    close: () => device.close(),
  };
}

/** Where a reservoir runs; without `memory`, where it would run on devices that are not in use. */
function targetOf({ name, device, stepsPerChunk, others }: EngineParts, memory?: number): PlanTarget {
  const context = device.context();
  const { info } = context;
  const most = Math.min(usableMemory(info), memory ?? Number.POSITIVE_INFINITY);
  const peers = others.length > 0 ? [context, ...others.map((other) => other.context())] : undefined;
  const memoryOf = (peer: Context) =>
    memory === undefined ? usableMemory(peer.info) : Math.min(usableMemory(peer.info), freeMemory(peer));
  return { engine: name, device: info, memory: most, stepsPerChunk, whyNoCompiler: () => whyNoCompiler(context), peers, memoryOf };
}

function costOf(parts: EngineParts): EngineCost {
  const { device, others } = parts;
  return {
    microseconds(shapes) {
      if (shapes.length > 1) {
        const rates = shapes.filter((shape): shape is ModelShape => !("kind" in shape));
        return rates.length === shapes.length ? ensembleMicroseconds(rates, device.context().info) : undefined;
      }
      const shape = shapes[0]!;
      // Measured on an H200: 5.3 us for 1e4 neurons with 1e6 synapses, 20 us for 1e5 with 1e8, 0.2 %
      // of them used in a step.
      if ("kind" in shape) return 4.5 + 8e-5 * shape.size + 4e-7 * shape.synapses;
      return choices(shape, targetOf(parts))[0]!.loop.microsecondsPerStep;
    },

    /** Of all devices that may share W. */
    get limit() {
      const contexts = [device.context(), ...others.map((other) => other.context())];
      const distinct = whyNotSharded(contexts) === undefined ? [...new Set(contexts)] : contexts.slice(0, 1);
      return distinct.reduce((sum, { info }) => sum + usableMemory(info), 0);
    },
  };
}

function abilitiesOf({ name, device, stepsPerChunk, others }: EngineParts): CudaAbilities {
  const peers = () => others.map((other) => other.context());
  return {
    get leastDrawn() {
      return isSimulated(device.context()) ? Number.POSITIVE_INFINITY : leastDrawn;
    },
    get leastRadii() {
      return isSimulated(device.context()) ? Number.POSITIVE_INFINITY : denseOnDevice.leastMatrices;
    },
    drawRowSums: (weights) => drawRowSums(device.context(), weights),
    drawSparse: (weights) => drawSparse(device.context(), weights),
    spectralRadius: (matrix, options) =>
      "draws" in matrix
        ? drawnSpectralRadius(device.context(), matrix, options, peers())
        : spectralRadiusOnDevice(device.context(), matrix, options),
    denseRadii: (blocks) => denseRadiiOnDevice(device.context(), blocks),
    leastSquares: (x, y, options) => leastSquaresOnDevice(device.context(), x, y, options),
    neighbourCounts: (space, xs, options) => neighbourCounts(device.context(), space, xs, options),
    async openEnsemble(models, options) {
      const rates = models.filter((model) => model.kind === undefined);
      return rates.length === models.length ? openTogether(device.context(), name, rates, options) : undefined;
    },
    evaluate: (work) => evaluateTogether(device.context(), name, work),
    context: () => device.context(),
    beside(engines) {
      const devices = engines.filter((other): other is DeviceEngine => "context" in other);
      return engineOf(name, device, stepsPerChunk, devices);
    },
  };
}

function planOn(parts: EngineParts, model: EngineModel, options?: EngineOptions): EnginePlan {
  const { name: engine, device, stepsPerChunk } = parts;
  if (model.kind === undefined) {
    const shape = shapeOf(model);
    const here = targetOf(parts);
    const found = choices(shape, here, options);
    return describeChoice(found[0]!, shape, here, found);
  }
  checkOneWay(model.config.kind, options);
  const setting = { engine, stepsPerChunk };
  return model.kind === "spiking" ? planSpiking(device.context(), model, setting) : planKind(device.context(), model, setting);
}

async function openOn(parts: EngineParts, model: EngineModel, options: EngineOptions): Promise<EngineSession> {
  const { name: engine, device, stepsPerChunk } = parts;
  if (model.kind === undefined) return openRates(parts, model, options);
  checkOneWay(model.config.kind, options);
  const setting = { engine, stepsPerChunk };
  return model.kind === "spiking"
    ? openSpiking(device.context(), model, setting, options)
    : openKind(device.context(), model, setting, options);
}

async function openRates(parts: EngineParts, model: ReservoirModel, options: EngineOptions): Promise<EngineSession> {
  const { name } = parts;
  const context = parts.device.context();
  const shape = shapeOf(model);
  const here = targetOf(parts, freeMemory(context));
  const found = choices(shape, here, options);
  const named = (options.plan ?? "auto") !== "auto";
  const { choice, loop } = await openFirst(name, context, model, found, options);
  try {
    const clock = options.profile ? clockOf(context, loop) : undefined;
    const steps = new DeviceSteps({
      ...{ context, model, loop, named, clock, spinLimit: options.spinLimit },
      capacity: choice.memory.capacity,
      compiled: loop.name === "named" && choice.loop.kernelSource === "nvrtc" ? "nvrtc" : undefined,
      openStreamed: async () => {
        if (!named) return openStreamed(context, model, shape);
        throw new EngineUnavailableError(
          name,
          `the plan "${options.plan}" closes no loop of this reservoir and readout; take "auto" or "streamed"`,
        );
      },
    });
    return new Session(model, describeChoice(choice, shape, here, found, loop.details), steps, clock);
  } catch (error) {
    disposeQuietly([loop]);
    throw error;
  }
}

/** An engine on a CUDA device of this machine, by its number. */
export function cudaEngine(device = 0): DeviceEngine {
  return deviceEngine({ name: device === 0 ? "cuda" : `cuda:${device}`, open: () => openDevice(device) });
}

/** The finding, then the advice. The paths that were tried are for `spillway info` to list. */
function withoutPaths(error: Error): string {
  if (!(error instanceof LibraryError)) return error.message;
  return "no NVIDIA driver was found; install it, or name its library by SPILLWAY_CUDA_LIBRARY (`spillway info` lists the paths that were tried)";
}

/** A clock that has what was spent before the session. */
function clockOf(context: Context, { kernelMilliseconds: milliseconds }: TimeLoop): DeviceClock {
  const clock = new DeviceClock(context);
  if (milliseconds !== undefined) clock.add({ phase: "compile", clock: "host", milliseconds });
  return clock;
}

/** Opens the first choice that the device takes. */
async function openFirst(
  engine: string,
  context: Context,
  model: ReservoirModel,
  found: readonly Choice[],
  options: EngineOptions = {},
): Promise<{ choice: Choice; loop: TimeLoop }> {
  for (const choice of found) {
    const loop = await choice.loop.open(context, model, { spinLimit: options.spinLimit, kernelSource: options.kernelSource });
    if (loop) return { choice, loop };
  }
  const tried = found.map(({ loop }) => `"${loop.name}"`).join(", ");
  throw new EngineUnavailableError(engine, `${context.info.name} does not take this reservoir by the plan ${tried}; take "auto"`);
}

async function openStreamed(context: Context, model: ReservoirModel, shape: ModelShape): Promise<TimeLoop> {
  return (await streamedLoops.plans(shape, context.info, {})[0]!.open(context, model, {}))!;
}
