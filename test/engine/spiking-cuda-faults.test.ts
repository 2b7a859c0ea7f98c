// A spiking reservoir on a device, binning there, and networks, when the driver fails: any call at
// its first or last use. The error is the driver's, and all that was taken is given back.
import { describe, expect, it } from "vitest";
import { FaultyDriver } from "../../packages/gpu/src/fault-injection.js";
import { type Context, type DriverCall, openDevice } from "../../packages/gpu/src/index.js";
import { Matrix } from "../../packages/numerics/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { deviceEngine } from "../../src/engine/cuda/index.js";
import { openNetwork } from "../../src/engine/cuda/network/index.js";
import { binSpikesOnDevice, DeviceTemplates } from "../../src/spikes/gpu/index.js";
import { PatternTemplates, poissonPattern } from "../../src/spikes/index.js";
import { build } from "../../src/spikes/liquid/kind.js";
import {
  drawNetwork,
  microcircuit,
  type NetworkModel,
  type NetworkPlan,
  planNetwork,
  type StepSpikes,
} from "../../src/spikes/network/index.js";
import { casesOf } from "../exhaustive.js";
import { plasticNetwork } from "../spikes/network/plastic-network.js";
import { bits } from "./contract.js";

const model = build({ kind: "spiking", size: 40, inputSize: 2, seed: 1, background: { current: 14, deviation: 2 } });
const inputs = new Matrix(
  9,
  2,
  Float32Array.from({ length: 18 }, (_, i) => (i % 5 === 0 ? 1 : 0)),
);
const pattern = poissonPattern({ seed: 1, neuronCount: 3, durationMs: 50, rateHz: 100 });
const templates = new PatternTemplates(["a"], [[1, 2, 3, 4, 5, 6]], { bins: 2, channels: 3 });

/** Runs a spiking reservoir in three chunks, saves its state, and goes a step further from it. */
async function reservoir(context: Context): Promise<unknown> {
  const engine = deviceEngine({ name: "sim", open: () => context, stepsPerChunk: 4 });
  const session = await engine.open(model);
  try {
    const states = Matrix.zeros(9, 40, "float32");
    await session.run({ inputs }, { into: states });
    session.setState(session.getState());
    return [bits(states.data), bits(session.step(inputs.row(0)).slice())];
  } finally {
    await session.dispose();
  }
}

async function detection(context: Context): Promise<unknown> {
  using there = new DeviceTemplates(context, templates);
  using bins = await binSpikesOnDevice(context, pattern, { bins: 4, values: "amplitudes" });
  return [bins.toMatrix().data, await there.match(pattern)];
}

/** Runs a network with and without recording, and goes on from a state of it. */
const network =
  (of: NetworkPlan | NetworkModel, inputs: StepSpikes | undefined) =>
  async (context: Context): Promise<unknown> => {
    await using there = await openNetwork(context, of);
    await there.advance(6, inputs, false);
    const state = there.getState();
    const spikes = await there.advance(6, inputs, true);
    there.setState(state);
    return [state, spikes, await there.advance(6, inputs, true), there.getWeights(0), there.getState()];
  };
const plastic = drawNetwork(planNetwork(plasticNetwork));
const given = { offsets: Uint32Array.from({ length: 7 }, (_, t) => 2 * t), neurons: Uint32Array.from({ length: 12 }, (_, s) => s % 5) };

it("a spiking reservoir's chunks are waited for by events, not by holding up the event loop", async () => {
  const driver = new FaultyDriver(simulatedDriver());
  const context = openDevice({ driver, onLeak: () => undefined });
  const engine = deviceEngine({ name: "sim", open: () => context, stepsPerChunk: 4 });
  const session = await engine.open(model);
  const before = driver.uses.get("cuEventQuery") ?? 0;
  await session.run({ inputs }, {});
  // Nine steps are three chunks.
  expect((driver.uses.get("cuEventQuery") ?? 0) - before).toBeGreaterThanOrEqual(3);
  await session.dispose();
  context.dispose();
});

describe.each([
  ["a spiking reservoir", reservoir],
  ["binning and detection", detection],
  ["a plastic network", network(plastic, given)],
  ["a network drawn there", network(planNetwork(microcircuit({ scale: 0.002, drive: "poisson" })), undefined)],
] as const)("%s, where a driver call fails", async (_, work) => {
  const healthy = new FaultyDriver(simulatedDriver());
  const first = openDevice({ driver: healthy, onLeak: () => undefined });
  const expected = await work(first);
  first.dispose();
  const uses = [...healthy.uses].filter(
    ([call]) => !/^cuGetError|Query$|^cuDeviceGet|^cuFuncGetParamInfo$|^cuInit$|^cuDevicePrimary/.test(call),
  );

  it("makes calls that can fail", () => {
    expect(uses.length).toBeGreaterThan(10);
  });

  it.each(casesOf(uses, ([call]) => /^cu(MemAllocFromPoolAsync|LaunchKernelEx|MemcpyDtoHAsync)$/.test(call)))(
    "gives everything back: %s, of %i uses",
    async (call: DriverCall, count) => {
      for (const use of new Set([1, count])) {
        const driver = new FaultyDriver(simulatedDriver(), [{ call, use, code: 400 }]);
        let context: Context;
        try {
          context = openDevice({ driver, onLeak: () => undefined });
        } catch {
          continue;
        }
        const error = await work(context).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        if (error !== undefined) expect(String(error)).toMatch(/CUDA_ERROR_|cu[A-Z]/);
        if (error !== undefined && !context.loss) {
          expect(
            context.held().filter(({ kind }) => kind !== "module"),
            `${call}, use ${use}`,
          ).toEqual([]);
          expect(await work(context)).toEqual(expected);
        }
        try {
          context.dispose();
        } catch {
          // The call that failed was one of closing.
        }
      }
    },
  );
});
