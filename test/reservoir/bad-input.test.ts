// What a user gets wrong of a reservoir that runs: a sentence that names it, before anything runs.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ReservoirComputer, ReservoirEnsemble, ridge, runEnsemble, type TrainedReadout } from "../../src/index.js";

const series = Float64Array.from({ length: 30 }, (_, t) => ((t * 37) % 30) / 15 - 1);
const sink = () => ridge().accumulator({ stateSize: 4, inputSize: 1, outputSize: 1 });
let computer: ReservoirComputer;
let readout: TrainedReadout;
let ensemble: ReservoirEnsemble;

beforeAll(async () => {
  computer = await ReservoirComputer.create({ size: 4, seed: 1 }, { engine: "cpu" });
  readout = ridge().fit(await computer.run(series), series);
  ensemble = await ReservoirEnsemble.create([{ size: 4 }, { size: 5 }], { engine: "cpu" });
});
afterAll(async () => {
  await computer.dispose();
  await ensemble.dispose();
});

async function drain(chunks: unknown, options?: unknown): Promise<void> {
  for await (const _ of computer.stream(chunks as never, options as never));
}

const calls: Readonly<Record<string, (options: unknown) => Promise<unknown>>> = {
  run: (options) => computer.run(series, options as never),
  batch: (options) => computer.batch([series], options as never),
  generate: (options) => computer.generate(3, readout, options as never),
  train: (options) => computer.train(series, series, sink(), options as never),
  stream: (options) => drain([series], options),
  ensemble: (options) => ensemble.run(series, options as never),
};

describe("a reservoir that runs", () => {
  it.each(Object.entries(calls))("%s refuses options that there are not, and options that are none", async (_, call) => {
    await expect(call({ sinal: undefined })).rejects.toThrow('unknown field "sinal": did you mean "signal"?');
    await expect(call(null)).rejects.toThrow("options is null; it takes an object of options");
  });

  it.each(Object.entries(calls))(
    "%s takes an AbortSignal and not its controller, and a function to be told of progress",
    async (_, call) => {
      await expect(call({ signal: new AbortController() })).rejects.toThrow(
        "it takes an AbortSignal, such as the `signal` of an AbortController",
      );
      if (call !== calls["stream"]) await expect(call({ onProgress: "log" })).rejects.toThrow('onProgress is "log"; it takes a function');
    },
  );

  // A typed array would make 0 of null and 0.5 of "0.5".
  it("takes numbers alone in a row", () => {
    expect(() => computer.step([null] as never)).toThrow("input[0] is null; it takes a finite number");
    expect(() => computer.step(["0.5"] as never)).toThrow('input[0] is "0.5"; it takes a finite number');
  });

  it("takes lists where there are several", async () => {
    await expect(computer.batch(undefined as never)).rejects.toThrow("sequences is missing; it takes a list of series");
    await expect(computer.batch(series as never)).rejects.toThrow("sequences is a Float64Array; it takes a list of series");
    await expect(computer.batch([series], { teachers: 3 as never })).rejects.toThrow("teachers is 3; it takes a list of series");
    await expect(drain(5)).rejects.toThrow("chunks is 5; it takes an iterable of series");
    await expect(ensemble.run({ each: 5 as never })).rejects.toThrow("inputs.each is 5; it takes a list of series");
    await expect(ReservoirEnsemble.create({ size: 3 } as never)).rejects.toThrow("it takes a list of descriptions or models");
    await expect(runEnsemble([{ size: 3 }, null as never], series)).rejects.toThrow(
      "configs[1] is null; it takes a description of a reservoir or a model",
    );
  });

  it("keeps nothing but what it knows to keep", async () => {
    await expect(computer.batch([series], { keep: "lst" as never })).rejects.toThrow('keep is "lst"; it takes "all", "last"');
    await expect(ensemble.run(series, { keep: "states" as never })).rejects.toThrow('keep is "states"; it takes "all", "last" or "none"');
  });

  it("takes a sink, a matrix for states, a readout with an intercept, and a state that was kept", async () => {
    await expect(computer.train(series, series, {} as never)).rejects.toThrow("sink is {}; it takes what sums training rows");
    const training = { targets: series, sinks: [sink(), undefined as never] };
    await expect(ensemble.run(series, { training })).rejects.toThrow("training.sinks[1] is missing; it takes what sums training rows");
    await expect(computer.run(series, { into: new Float32Array(120) as never })).rejects.toThrow(
      "into is a Float32Array; it takes a Matrix",
    );
    const bare = { ...readout.toJSON(), weights: readout.weights, intercept: undefined as never };
    await expect(computer.generate(3, bare)).rejects.toThrow("the readout's intercept is missing; its 1 output take as many values");
    expect(() => {
      computer.state = undefined as never;
    }).toThrow("state is missing; it takes one that was kept");
  });
});
