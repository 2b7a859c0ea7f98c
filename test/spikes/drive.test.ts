// The one path from a case to the rows that drive a reservoir, and that every entry takes it.
import { describe, expect, it } from "vitest";
import { encoded } from "../../src/experiment/data/encode.js";
import { parseExperiment } from "../../src/experiment/index.js";
import { Matrix } from "../../src/index.js";
import { Front } from "../../src/pipeline/front.js";
import { drivingRows, rangeOf } from "../../src/spikes/drive.js";
import { binSpikes, type EncoderConfig, LiquidStateMachine, patternInputs, poissonPattern, SpikePattern } from "../../src/spikes/index.js";

const series = Matrix.from(Array.from({ length: 30 }, (_, t) => [Math.sin(t / 3), 2 + Math.cos(t / 4)]));
const other = Matrix.from(Array.from({ length: 20 }, (_, t) => [3 * Math.sin(t / 5), t / 20]));
const reservoir = { kind: "spiking", size: 12, timeStep: 2 } as const;

describe("what drives a reservoir", () => {
  it("is the amplitudes of a pattern's spikes in the steps of the liquid, whichever entry is taken", async () => {
    const { times, neurons } = poissonPattern({ neuronCount: 4, durationMs: 60, rateHz: 200, seed: 1 });
    const amplitudes = times.map((_, i) => 1 + (i % 3));
    const pattern = new SpikePattern({ times, neurons, amplitudes }, { durationMs: 60, neuronCount: 4 });
    const rows = drivingRows(pattern, { bins: { binMs: 2 } });
    expect(rows.data).toEqual(binSpikes(pattern, { binMs: 2, values: "amplitudes" }).data);
    await using liquid = await LiquidStateMachine.create({ ...reservoir, inputSize: 4 });
    expect(patternInputs(liquid, pattern).data).toEqual(rows.data);
    expect(new Front({ reservoir, encoder: { type: "pattern" } }).apply([pattern]).row(0).data).toEqual(rows.data);
  });

  it.each([
    { encoder: "latency", frameMs: 20 },
    { encoder: "rate", frameMs: 20, maxRateHz: 200, seed: 7 },
    { encoder: "cochleagram", sampleRate: 8000, channels: 3, frameMs: 1 },
  ])("is the same of a pipeline and of an experiment: %j", (config) => {
    const { encoder, ...options } = config;
    const isSound = encoder === "cochleagram";
    const [train, test] = (isSound ? [series, other].map((one) => Matrix.from(one.toArrays().map(([x]) => [x!]))) : [series, other]) as [
      Matrix,
      Matrix,
    ];
    const type = isSound ? { type: "cochleagram" } : { type: "spikes", encoder, binMs: 2 };
    const front = new Front({ reservoir, scaler: isSound ? "none" : "unit", encoder: { ...type, ...options } as never }).fit([train]);
    const experiment = parseExperiment({
      name: "x",
      data: { cases: "." },
      encode: { encoder, ...options },
      reservoir,
      task: "classify",
    });
    const cases = (one: Matrix) => ({ sequences: [Matrix.from(one, "float64")], labels: ["a"] });
    const parts = encoded(experiment, { train: cases(train), test: cases(test) }, {});
    expect(front.apply([train]).row(0).toArrays()).toEqual(parts.train.cases.row(0).toArrays());
    expect(front.apply([test]).row(0).toArrays()).toEqual(parts.test.cases.row(0).toArrays());
  });

  it("draws a seeded encoder by the name of the case", () => {
    const encoder: EncoderConfig = { encoder: "rate", frameMs: 5, maxRateHz: 200, seed: 7 };
    const options = { encoder, range: rangeOf([series]), bins: { binMs: 2 } };
    const one = drivingRows(series, options, 0);
    expect(drivingRows(series, options, 0)).toEqual(one);
    expect(drivingRows(series, options, 1)).not.toEqual(one);
  });
});
