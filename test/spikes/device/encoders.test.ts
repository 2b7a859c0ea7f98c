// Encoders on a device: the spikes of the encoders on the host, bit for bit, in any order.
import { afterAll, describe, expect, it } from "vitest";
import "../../../src/index.js";
import { Matrix, RandomStream, seedKeys } from "../../../packages/numerics/src/index.js";
import { DeviceMatrix, DeviceSequences } from "../../../src/reservoir/index.js";
import { binPatternsOnDevice, type DeviceEncoderConfig, encodeOnDevice } from "../../../src/spikes/gpu/index.js";
import { ArgumentError, binSpikes, encodeSpikes, type SpikePattern } from "../../../src/spikes/index.js";
import { openTestDevice, size } from "../../gpu/device/device.js";

const context = openTestDevice();
afterAll(() => context.dispose());

/** Values from 0 to 1, both among them. */
function series(rows: number, cols: number, seed: number): Matrix<Float64Array> {
  const draws = new RandomStream(seedKeys(seed).weights, 78);
  const out = Matrix.zeros(rows, cols);
  for (let i = 0; i < out.data.length; i++) out.data[i] = i % 7 === 0 ? i % 2 : draws.uniform(0, i);
  return out;
}

const spikes = ({ times, neurons, durationMs, neuronCount }: SpikePattern) => ({ times, neurons, durationMs, neuronCount });

const configs: readonly DeviceEncoderConfig[] = [
  { encoder: "rate", frameMs: 60, seed: 4 },
  { encoder: "rate", frameMs: 7.7, seed: "b", neuronsPerChannel: 3, minRateHz: 0, maxRateHz: 400 },
  { encoder: "rate", frameMs: 20, process: "regular", neuronsPerChannel: 4, minRateHz: 5, maxRateHz: 90 },
  { encoder: "latency", frameMs: 60 },
  { encoder: "latency", frameMs: 20, neuronsPerChannel: 3, threshold: 0.3, order: "weakFirst" },
  { encoder: "latency", frameMs: 50.5, curve: "logarithmic", timeConstantMs: 11, neuronsPerChannel: 2, neuronDelayMs: 0.7 },
  { encoder: "population", frameMs: 10, code: "latency", neuronsPerChannel: 7 },
  { encoder: "population", frameMs: 10, seed: 3 },
  { encoder: "population", frameMs: 3.3, seed: "a", neuronsPerChannel: 4, fieldWidth: 0.2, peakProbability: 1 },
  { encoder: "phase", frameMs: 30, seed: 1 },
  { encoder: "phase", frameMs: 7, jitterMs: 0, baseFrequencyHz: 90, phaseRange: 6.283185307179586, neuronsPerChannel: 2 },
  { encoder: "delta", stepMs: 2, threshold: 0.11 },
  { encoder: "delta", stepMs: 0.3, threshold: 0.017, start: [0.5, -1, 3] },
];

describe("encodeOnDevice", () => {
  it.each(configs)("gives the spikes of the host: %j", async (config) => {
    const given = [series(size(300, 9, 30), 3, 1), series(1, 3, 2), series(4, 3, 3)];
    const host = given.map((one, b) => encodeSpikes(one, "seed" in config ? { ...config, seed: `${config.seed}/${b}` } : config));
    using there = await encodeOnDevice(context, given, config);
    expect(there.toPatterns(context).map(spikes)).toEqual(host.map(spikes));
    using bins = await binPatternsOnDevice(context, there, { bins: 5 });
    expect(bins.toMatrices()).toEqual(host.map((pattern) => binSpikes(pattern, { bins: 5 })));

    const single = Matrix.from(given[0]!, "float32");
    using values = context.upload(single.data as Float32Array<ArrayBuffer>);
    using one = await encodeOnDevice(context, new DeviceMatrix(context, values, { rows: single.rows, cols: 3 }), config);
    expect(one.toPatterns(context).map(spikes)).toEqual([spikes(encodeSpikes(single, config))]);
  });

  it("encodes series that are on the device, and one that has no rows", async () => {
    const config = { encoder: "latency", frameMs: 10 } as const;
    using values = context.upload(Float64Array.of(0, 0.25, 1));
    using sequences = new DeviceSequences(context, values, { rows: [1, 0, 2], cols: 1 });
    using there = await encodeOnDevice(context, sequences, config);
    const host = [[0], [], [0.25, 1]].map((one) => encodeSpikes(new Matrix(one.length, 1, Float64Array.from(one)), config));
    expect(there.toPatterns(context).map(spikes)).toEqual(host.map(spikes));
  });

  it("names the value that it cannot encode, and series that do not go together", async () => {
    const config = { encoder: "latency", frameMs: 10 } as const;
    const bad = series(4, 3, 1);
    bad.data[7] = 1.5;
    await expect(encodeOnDevice(context, [series(2, 3, 1), bad], config)).rejects.toThrow(
      "the value at row 2, channel 1 of series[1] is 1.5; it takes values from 0 to 1",
    );
    bad.data[7] = Number.NaN;
    await expect(encodeOnDevice(context, [bad], { encoder: "delta", stepMs: 1, threshold: 1 })).rejects.toThrow(
      "is NaN; it takes finite numbers",
    );
    await expect(encodeOnDevice(context, [series(2, 3, 1), series(2, 2, 1)], config)).rejects.toThrow(
      "the number of channels of series[1] is 2",
    );
    await expect(encodeOnDevice(context, [], config)).rejects.toThrow("the number of series is 0");
    await expect(encodeOnDevice(context, [bad], { encoder: "phase", frameMs: 10 })).rejects.toThrow(ArgumentError);
    await expect(encodeOnDevice(context, [bad], { encoder: "cochlea", sampleRate: 8000 } as never)).rejects.toThrow(
      'encoder is "cochlea"; it takes "rate", "latency", "population", "phase", "delta" on a device',
    );
    await expect(encodeOnDevice(context, [bad], { encoder: "rate", frameMs: 10 })).rejects.toMatchObject({ field: "seed" });
  });

  it("gives back all memory that it took", async () => {
    const before = context.held().filter(({ kind }) => kind !== "module").length;
    (await encodeOnDevice(context, [series(3, 2, 1)], configs[0]!)).dispose();
    await expect(encodeOnDevice(context, [Float64Array.of(2)], configs[0]!)).rejects.toThrow("the value at row 0");
    expect(context.held().filter(({ kind }) => kind !== "module").length).toBe(before);
  });
});
