import { afterEach, describe, expect, it } from "vitest";
import { type CreateOptions, Matrix, ReservoirComputer, type ReservoirOptions, runEnsemble } from "../../src/index.js";

const open: ReservoirComputer[] = [];
async function create(config: ReservoirOptions, options?: CreateOptions): Promise<ReservoirComputer> {
  const computer = await ReservoirComputer.create(config, options);
  open.push(computer);
  return computer;
}
afterEach(async () => {
  for (const computer of open.splice(0)) await computer.dispose();
});

const wave = Float64Array.from({ length: 50 }, (_, t) => ((t * 37) % 50) / 25 - 1);

describe("ReservoirComputer", () => {
  it("takes a series in any form and returns T x N states", async () => {
    const computer = await create({ size: 20 });
    const states = await computer.run(wave);
    expect([states.rows, states.cols]).toEqual([50, 20]);
    for (const same of [Array.from(wave), Float32Array.from(wave), Array.from(wave, (value) => [value]), new Matrix(50, 1, wave)]) {
      computer.reset();
      expect((await computer.run(same)).data).toEqual(states.data);
    }
  });

  it("refuses options it does not know, a description that is none, and a closed loop without a readout", async () => {
    await expect(create({ size: 5 }, { engin: "cpu" } as CreateOptions)).rejects.toThrow('unknown field "engin": did you mean "engine"?');
    await expect(create("5" as never)).rejects.toThrow('config is "5"');
    const computer = await create({ size: 5 });
    await expect(computer.generate(3, undefined as never)).rejects.toThrow("readout is missing; it takes a trained readout");
  });

  // Fed back, an infinite output times the zeros that pad the engine's matrices would be NaN there
  // for good.
  it.each(["cpu", "reference", "sim"])("ends a closed loop whose output is not finite, and can go on after that: %s", async (engine) => {
    for (const [feedback, step] of [
      [undefined, 50],
      [{}, 51],
    ] as const) {
      const computer = await create({ size: 5, ...(feedback && { feedback }) }, { engine });
      const fresh = await computer.run(wave);
      const weights = new Matrix(1, 5, new Float64Array(5).fill(1e300));
      const features = { state: "plain", input: false, squares: false } as const;
      const readout = { weights, intercept: Float64Array.of(1e300), features, stateSize: 5, inputSize: 1 };
      const inputs = feedback && wave.slice(0, 3);
      await expect(computer.generate(3, readout, inputs && { inputs })).rejects.toThrow(
        `the output that is fed back is not finite after step ${step}`,
      );
      computer.reset();
      expect((await computer.run(wave)).data).toEqual(fresh.data);
    }
  });

  it("says which engine runs it and why", async () => {
    const computer = await create({ size: 20 });
    expect(computer.engine.name).toBe("cpu");
    expect(computer.engine.reason).toMatch(/auto: /);
    expect(computer.engine.plan.summary).toMatch(/WebAssembly SIMD, sparse/);
    expect((await create({ size: 20 }, { engine: "reference" })).engine.reason).toMatch(/asked for/);
  });

  it("streams chunks with the bits of one run, keeping every k-th state across chunks", async () => {
    const computer = await create({ size: 30, noiseLevel: 0.1 });
    const whole = await computer.run(wave);
    computer.reset();
    const rows: number[][] = [];
    async function* chunks() {
      for (const [from, to] of [
        [0, 7],
        [7, 8],
        [8, 40],
        [40, 50],
      ] as const)
        yield wave.slice(from, to);
    }
    for await (const states of computer.stream(chunks(), { every: 3 })) rows.push(...states.toArrays());
    expect(rows).toEqual(whole.toArrays().filter((_, t) => (t + 1) % 3 === 0));
  });

  it("says which chunk of a stream is wrong, and where in it", async () => {
    const computer = await create({ size: 5 });
    const reading = async () => {
      for await (const _ of computer.stream([[1, 2], [3], [4, Number.NaN]]));
    };
    await expect(reading()).rejects.toThrow("chunk 2 is NaN at row 1, column 0; it takes finite numbers");
  });

  it("writes into a caller's matrix", async () => {
    const computer = await create({ size: 10 });
    const into = Matrix.zeros(25, 10, "float32");
    expect(await computer.run(wave, { into, every: 2 })).toBe(into);
    await expect(computer.run(wave, { into })).rejects.toThrow("into is a 25 x 10 float32 matrix; it takes 50 x 10 of float32");
  });

  it("saves its state and resumes from it", async () => {
    const computer = await create({ size: 10, noiseLevel: 0.2 });
    await computer.run(wave);
    const saved = computer.state;
    const after = await computer.run(wave);
    const other = await create({ size: 10, noiseLevel: 0.2 });
    other.state = saved;
    expect(await other.run(wave)).toEqual(after);
  });

  it("runs without inputs", async () => {
    const computer = await create({ size: 10, inputSize: 0, bias: 1 });
    expect((await computer.run(Matrix.zeros(5, 0))).rows).toBe(5);
  });

  it.each([
    [[], "inputs is empty; it takes at least one row"],
    [[1, Number.NaN], "inputs is NaN at row 1, column 0; it takes finite numbers"],
    [
      [1, 1e300],
      "inputs is Infinity at row 1, column 0 (beyond float32; scale the data or take precision float64); it takes finite numbers",
    ],
    [[[1, 2]], "inputs has 2 columns; this reservoir takes 1 (inputSize)"],
    [[[1], [2, 3]], "inputs: row 1 holds 2 values and row 0 holds 1; every row takes the same number"],
    ["1,2,3", 'inputs is "1,2,3"; it takes a Matrix, a Float32Array, a Float64Array, or an array of numbers or rows'],
  ])("refuses %j", async (inputs, sentence) => {
    const computer = await create({ size: 5 });
    await expect(computer.run(inputs as number[])).rejects.toThrow(sentence);
  });

  it("refuses a step of another width, a teacher without feedback, an empty batch", async () => {
    const computer = await create({ size: 5, inputSize: 2 });
    expect(() => computer.step([1])).toThrow("input holds 1 value; this reservoir takes 2 (inputSize)");
    expect(() => computer.step(0.5 as never)).toThrow("input is 0.5; it takes a list of 2 numbers (inputSize)");
    expect(() => computer.step([1, Number.POSITIVE_INFINITY])).toThrow("input[1] is Infinity; it takes a finite number");
    await expect(computer.run([[1, 2]], { teacher: [1] })).rejects.toThrow("teacher was given; this reservoir has no feedback to force");
    await expect(computer.batch([])).rejects.toThrow("sequences is empty; it takes at least one sequence");
    await expect(computer.batch([[[1, 2]], []])).rejects.toThrow("sequences[1] is empty");
  });

  it("refuses a second call while one is running", async () => {
    const computer = await create({ size: 300 });
    const { state } = computer;
    const first = computer.run(Matrix.zeros(20000, 1, "float32"));
    await expect(computer.run(wave)).rejects.toThrow("still running another call");
    expect(() => computer.reset()).toThrow("still running another call");
    expect(() => {
      computer.state = state;
    }).toThrow("still running another call");
    await first;
  });

  it("refuses a readout of another reservoir", async () => {
    const computer = await create({ size: 5 });
    const readout = {
      features: { state: "plain", input: false, squares: false },
      stateSize: 6,
      inputSize: 1,
      weights: Matrix.zeros(1, 6),
      intercept: new Float64Array(1),
    } as const;
    await expect(computer.generate(3, readout)).rejects.toThrow(
      "the readout was trained on 6 neurons and 1 input; this reservoir has 5 and 1",
    );
  });

  it("refuses an engine that does not exist and a reservoir that does not fit, before allocating", async () => {
    await expect(create({ size: 5 }, { engine: "tpu" })).rejects.toThrow(
      'the engine "tpu" is not available: there is no engine of that name; it takes "auto", "cpu"',
    );
    await expect(create({ size: 5 }, { threads: 0 })).rejects.toThrow("threads is 0; it takes a whole number from 1 to 64");
    await expect(create({ size: 40_000, connectionProbability: 1 })).rejects.toThrow(
      /would take 5\.96 GiB and the limit is 4\.00 GiB: take fewer neurons/,
    );
    await expect(create({ size: 40_000, inputSize: 30_000, connectionProbability: 0 })).rejects.toThrow(
      /would take 4\.47 GiB and the limit is 4\.00 GiB/,
    );
  });

  it("refuses before anything is drawn what takes more than the engine or the machine has besides its weights", async () => {
    await expect(create({ size: 1e8, topology: "ring" }, { engine: "cpu" })).rejects.toThrow(
      /would take 4\.\d+ GiB and the limit is 4\.00 GiB/,
    );
    await expect(create({ size: 2e6, connectionProbability: 1 }, { engine: "reference" })).rejects.toThrow(
      /drawing the weights of 2000000 neurons in the memory of this machine would take 29\.\d+? TiB and the limit is/,
    );
    const silent = { kind: "spiking", size: 2 ** 28, connectivity: { type: "random", probability: 0 } } as const;
    await expect(create(silent as never, { engine: "cpu" })).rejects.toThrow(/would take 6\.\d+ GiB and the limit is 4\.00 GiB/);
  });

  it("has the radius of a W with every connection by power iteration on a device as on the host", async () => {
    const config = { size: 5, connectionProbability: 1, radiusMethod: "power", seed: 1 } as const;
    const [host, device] = [await create(config, { engine: "cpu" }), await create(config, { engine: "sim" })];
    expect(device.model.measuredRadius).toBe(host.model.measuredRadius);
    expect(device.model.weights).toEqual(host.model.weights);
    await Promise.all([host.dispose(), device.dispose()]);
  });

  it("does not hold a matrix of one's own to the density of the description", async () => {
    const size = 100_000;
    const weights = {
      rows: size,
      cols: size,
      rowOffsets: new Uint32Array(size + 1),
      columns: new Uint32Array(0),
      values: new Float32Array(0),
    };
    const computer = await create({ size, storage: "sparse", spectralRadius: null }, { engine: "cpu", matrices: { weights } });
    expect(computer.model.size).toBe(size);
    await computer.dispose();
  });

  it("counts the connections a topology is told, not a density, when it asks whether a reservoir fits", async () => {
    const options = { size: 100_000, spectralRadius: null } as const;
    for (const topology of [
      { type: "smallWorld", neighbours: 2 },
      { type: "fixedInDegree", degree: 2 },
    ] as const) {
      const computer = await create({ ...options, topology });
      expect(computer.engine.plan.bytes).toBeLessThan(2 ** 26);
      await computer.dispose();
    }
  });

  it("refuses ensemble targets that are not finite or do not go with every member's series", async () => {
    const sink = { features: { state: "plain", input: false, squares: false }, add: () => {} } as const;
    const training = (targets: Float64Array) => ({ training: { targets, sinks: [sink, sink] } });
    const configs = [{ size: 4 }, { size: 6 }];
    const each = [new Float64Array(50), new Float64Array(20)];
    await expect(runEnsemble(configs, { each }, training(new Float64Array(50)))).rejects.toThrow(
      "training.targets has 50 rows and inputs has 20; they take the same number",
    );
    await expect(runEnsemble(configs, each[0]!, training(new Float64Array(50).fill(Number.NaN)))).rejects.toThrow(
      "training.targets is NaN at row 0, column 0",
    );
  });

  it("refuses an ensemble that does not fit, matrices beyond the precision, and ragged targets, by name", async () => {
    await expect(runEnsemble([{ size: 40_000, connectionProbability: 1 }], wave)).rejects.toThrow(/5\.96 GiB and the limit is 4\.00 GiB/);
    await expect(
      create(
        { size: 2 },
        {
          matrices: {
            weights: [
              [0, 1e300],
              [0, 0],
            ],
          },
        },
      ),
    ).rejects.toThrow("weights is 1e+300; it takes values that float32 can hold");
    const computer = await create({ size: 4 });
    const sink = { features: { state: "plain", input: false, squares: false } as const, add: () => {} };
    await expect(computer.train(wave, [[1], [2, 3]], sink)).rejects.toThrow(expect.objectContaining({ name: "ArgumentError" }));
  });

  it("runs an ensemble over one series or one each", async () => {
    const configs = [
      { size: 4, seed: 1 },
      { size: 6, seed: 2 },
    ];
    const states = await runEnsemble(configs, wave);
    expect(states.map((matrix) => [matrix.rows, matrix.cols])).toEqual([
      [50, 4],
      [50, 6],
    ]);
    const last = await runEnsemble(configs, { each: [wave, wave.slice(0, 20)] }, { keep: "last" });
    expect(last[0]!.row(0)).toEqual(states[0]!.row(49));
    expect(last[1]!.row(0)).toEqual(states[1]!.row(19));
    await expect(runEnsemble([], wave)).rejects.toThrow("configs is empty");
  });
});

describe("many short runs in a row", () => {
  it("let the event loop have its turn", async () => {
    const computer = await create({ size: 20 });
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    for (let runs = 0; turns <= 3 && runs < 50_000; runs++) await computer.run(wave);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});
