// The CUDA engine: one device, real or simulated, that runs reservoirs by the plan that suits their
// shape. The package's index names the devices.

import { disposeQuietly } from "../../core/disposal.js";
import { type Context, LibraryError, openDevice } from "../../gpu/index.js";
import { openOneByOne } from "../../reservoir/engine/one-by-one.js";
import { type Engine, type EngineOptions, EngineUnavailableError, formatBytes } from "../../reservoir/engine.js";
import type { ReservoirModel } from "../../reservoir/model.js";
import { openBatch } from "./batch/index.js";
import { limitChunks } from "./chunk-limit.js";
import { type EngineDevice, givenDevice, ownDevice } from "./device.js";
import { ensembleMicroseconds } from "./ensemble/cost.js";
import { openTogether } from "./ensemble/index.js";
import { measureTogether } from "./ensemble/measures.js";
import { sweepTogether } from "./ensemble/sweep.js";
import { forecastTogether } from "./ensemble/sweep-forecasts.js";
import { leastSquaresOnDevice } from "./least-squares.js";
import { freeMemory, usableMemory } from "./memory.js";
import { neighbourCounts } from "./neighbours.js";
import { whyNoCompiler } from "./persistent/kernel-code.js";
import { type Choice, checkOneWay, choices, describeChoice, type Place, planNames } from "./plan.js";
import { DeviceClock } from "./profile.js";
import { openKind, planKind } from "./registered.js";
import { DeviceSession } from "./session.js";
import { type ModelShape, shapeOf } from "./shape.js";
import { whyNotSharded } from "./sharded/index.js";
import { drawnSpectralRadius, spectralRadiusOnDevice } from "./spectrum/index.js";
import { openSpiking, planSpiking } from "./spiking/index.js";
import { spinLimitOf } from "./spin-limit.js";
import { drawRowSums, drawSparse } from "./streamed/drawn.js";
import { streamedLoops } from "./streamed/index.js";
import type { TimeLoop } from "./time-loop.js";
import { openTrainer } from "./training/index.js";

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

/** An engine on a device. */
export interface DeviceEngine extends Engine {
  /** The device's context, opened if it is not yet. */
  context(): Context;
  /** Gives the device back; sessions on it end. The next use opens it again. */
  close(): void;
  beside(others: readonly Engine[]): DeviceEngine;
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
  const simulated = context.core.driver.takesPtxOnly === true;
  const engine = simulated
    ? engineOf("sim", givenDevice(context), simulatedChunk)
    : engineOf(ordinal === 0 ? "cuda" : `cuda:${ordinal}`, givenDevice(context));
  if (simulated) limitChunks(context, simulatedChunk);
  ofContexts.set(context, engine);
  return engine;
}

/** Steps of a chunk on the simulated device: few enough to be interrupted. */
export const simulatedChunk = 16;

function engineOf(name: string, device: EngineDevice, stepsPerChunk?: number, others: readonly DeviceEngine[] = []): DeviceEngine {
  const place = (memory: number | undefined): Place => {
    const context = device.context();
    const { info } = context;
    const most = Math.min(usableMemory(info), memory ?? Number.POSITIVE_INFINITY);
    const peers = others.length > 0 ? [context, ...others.map((other) => other.context())] : undefined;
    const memoryOf = (peer: Context) =>
      memory === undefined ? usableMemory(peer.info) : Math.min(usableMemory(peer.info), freeMemory(peer));
    return { engine: name, device: info, memory: most, stepsPerChunk, whyNoCompiler: () => whyNoCompiler(context), peers, memoryOf };
  };

  const engine: DeviceEngine = {
    name,

    integers: true,

    /** Of all devices that may share W. */
    get weightLimit() {
      const contexts = [device.context(), ...others.map((other) => other.context())];
      const distinct = whyNotSharded(contexts) === undefined ? [...new Set(contexts)] : contexts.slice(0, 1);
      return distinct.reduce((sum, { info }) => sum + usableMemory(info), 0);
    },

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

    planNames,

    microsecondsPerStep: (shape) => choices(shape, place(undefined))[0]!.loop.microsecondsPerStep,

    microsecondsPerEnsembleStep: (shapes) => ensembleMicroseconds(shapes, device.context().info),

    drawRowSums: (weights) => drawRowSums(device.context(), weights),

    drawSparse: (weights) => drawSparse(device.context(), weights),

    spectralRadius: (matrix, radiusOptions) =>
      "draws" in matrix
        ? drawnSpectralRadius(
            device.context(),
            matrix,
            radiusOptions,
            others.map((other) => other.context()),
          )
        : spectralRadiusOnDevice(device.context(), matrix, radiusOptions),

    leastSquares: (x, y, workOptions) => leastSquaresOnDevice(device.context(), x, y, workOptions),

    neighbourCounts: (space, xs, workOptions) => neighbourCounts(device.context(), space, xs, workOptions),

    // Measured on an H200: 5.3 us for 1e4 neurons with 1e6 synapses, 20 us for 1e5 with 1e8, 0.2 %
    // of them used in a step.
    microsecondsPerSpikingStep: ({ size, synapses }) => 4.5 + 8e-5 * size + 4e-7 * synapses,

    plan(model, engineOptions) {
      if (model.kind === "spiking") {
        checkOneWay("spiking", engineOptions);
        return planSpiking(device.context(), model, { engine: name, stepsPerChunk });
      }
      const shape = shapeOf(model);
      const here = place(undefined);
      const found = choices(shape, here, engineOptions);
      return describeChoice(found[0]!, shape, here, found);
    },

    async open(model, asked) {
      const engineOptions = { ...asked, spinLimit: spinLimitOf(asked?.spinLimit) };
      if (model.kind === "spiking") {
        checkOneWay("spiking", asked);
        return openSpiking(device.context(), model, { engine: name, stepsPerChunk }, engineOptions);
      }
      const context = device.context();
      const shape = shapeOf(model);
      const here = place(freeMemory(context));
      const found = choices(shape, here, engineOptions);
      const named = (engineOptions.plan ?? "auto") !== "auto";
      const { choice, loop } = await openFirst(name, context, model, found, engineOptions);
      try {
        return new DeviceSession({
          ...{ context, model, loop, openTrainer, openBatch },
          clock: engineOptions.profile ? clockOf(context, loop) : undefined,
          spinLimit: engineOptions.spinLimit,
          named,
          plan: describeChoice(choice, shape, here, found, loop.details),
          capacity: choice.memory.capacity,
          compiled: loop.name === "named" && choice.loop.kernelSource === "nvrtc" ? "nvrtc" : undefined,
          openStreamed: async () => {
            if (!named) return openStreamed(context, model, shape);
            const { plan } = engineOptions;
            throw new EngineUnavailableError(
              name,
              `the plan "${plan}" closes no loop of this reservoir and readout; take "auto" or "streamed"`,
            );
          },
        });
      } catch (error) {
        disposeQuietly([loop]);
        throw error;
      }
    },

    planRegistered(model, engineOptions) {
      checkOneWay(model.config.kind, engineOptions);
      return planKind(device.context(), model, { engine: name, stepsPerChunk });
    },

    async openRegistered(model, engineOptions) {
      checkOneWay(model.config.kind, engineOptions);
      return openKind(device.context(), model, { engine: name, stepsPerChunk }, engineOptions);
    },

    async openEnsemble(models, engineOptions) {
      const rates = models.filter((model) => model.kind !== "spiking");
      const together = rates.length === models.length ? openTogether(device.context(), name, rates, engineOptions) : undefined;
      return together ?? openOneByOne(engine, models, engineOptions);
    },

    sweep: (work) => sweepTogether(device.context(), name, work),
    sweepForecasts: (work) => forecastTogether(device.context(), name, work),
    measure: (work) => measureTogether(device.context(), name, work),

    beside(engines) {
      const devices = engines.filter((other): other is DeviceEngine => "context" in other);
      return engineOf(name, device, stepsPerChunk, devices);
    },

    context: () => device.context(),
    close: () => device.close(),
  };
  return engine;
}

/** An engine on a CUDA device of this machine, by its number. */
export function cudaEngine(device = 0): DeviceEngine {
  return deviceEngine({ name: device === 0 ? "cuda" : `cuda:${device}`, open: () => openDevice(device) });
}

/** The finding, then the advice. The places that were tried are for `spillway info` to list. */
function withoutPaths(error: Error): string {
  if (!(error instanceof LibraryError)) return error.message;
  return "no NVIDIA driver was found; install it, or name its library by SPILLWAY_CUDA_LIBRARY (`spillway info` lists the places that were tried)";
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
