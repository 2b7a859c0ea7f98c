import { describe, expect, it } from "vitest";
import { Forecaster, Matrix, NotFittedError, nrmse, ReservoirComputer, ridge, WorkInterruptedError } from "../../src/index.js";
import { mackeyGlass, narma } from "../../src/tasks/index.js";

const series = mackeyGlass(1200);
const reservoir = { size: 60, spectralRadius: 1.1, inputScaling: 1, bias: 0, seed: 1 };
/** The series itself into the reservoir, and a penalty that only `ridge` has. */
const plain = { standardise: false, readout: { lambda: 1e-6 } } as const;

/** Row t is sin(.2 t) + .5 sin(.311 t): a linear recurrence of order 4 gives every next row. */
const sines = new Matrix(
  900,
  1,
  Float64Array.from({ length: 900 }, (_, t) => Math.sin(0.2 * t) + 0.5 * Math.sin(0.311 * t)),
);
const linear = { ...reservoir, size: 12, activation: "identity", spectralRadius: 0.8, leakRate: 1, precision: "float64", seed: 2 } as const;

describe("a forecaster of a series", () => {
  it("continues a sum of sines, which a linear reservoir can do exactly", async () => {
    await using forecaster = await Forecaster.fit(sines.subarray(0, 700), {
      reservoir: linear,
      ...plain,
      readout: { solver: "qr", lambda: 1e-16 },
    });
    const forecast = await forecaster.forecast(200);
    expect(nrmse(sines.subarray(700), forecast)).toBeLessThan(1e-6);
  });

  it("is the reservoir run on rows 0 to T - 2 and ridge regression on rows 1 to T - 1", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 500), {
      reservoir,
      washout: 40,
      standardise: false,
      readout: { lambda: 1e-5 },
    });
    await using computer = await ReservoirComputer.create(reservoir);
    const states = await computer.run(series.subarray(0, 499));
    const readout = ridge({ lambda: 1e-5 }).fit(states, series.subarray(1, 500), { washout: 40 });
    expect(forecaster.readout.weights.data).toEqual(readout.weights.data);
    expect(forecaster.readout.intercept).toEqual(readout.intercept);
  });

  it("leaves its state at the end of the training rows", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 500), { reservoir });
    const onward = await forecaster.predict(series.subarray(500, 520));
    const again = await forecaster.predict(series.subarray(500, 520), { warmup: series.subarray(0, 500) });
    expect(onward).toEqual(again);
  });

  it.each([false, true])(
    "forecasts as its first row what it predicts from the last row it has seen (readout sees the input: %s)",
    async (input) => {
      await using forecaster = await Forecaster.fit(series.subarray(0, 500), { reservoir, standardise: true, readout: { input } });
      const predicted = await forecaster.predict(series.subarray(500, 510));
      const forecast = await forecaster.forecast(3);
      expect(forecast.at(0, 0)).toBe(predicted.at(9, 0));
    },
  );

  it("forecasts after a prefix of its own, and puts its state back", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 500), { reservoir });
    const before = forecaster.computer.state;
    const first = await forecaster.forecast(30);
    const elsewhere = await forecaster.forecast(30, { warmup: series.subarray(600, 800) });
    expect(forecaster.computer.state).toEqual(before);
    expect(await forecaster.forecast(30)).toEqual(first);
    forecaster.reset();
    await forecaster.predict(series.subarray(600, 800));
    expect(await forecaster.forecast(30)).toEqual(elsewhere);
  });

  it("predicts the same rows in one call of many steps and in several", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 500), { reservoir, standardise: true });
    const long = new Matrix(2400, 1, Float64Array.from([...series.data, ...series.data]));
    const whole = await forecaster.predict(long, { warmup: series.subarray(0, 200) });
    const parts = [await forecaster.predict(long.subarray(0, 7), { warmup: series.subarray(0, 200) })];
    parts.push(await forecaster.predict(long.subarray(7, 1500)), await forecaster.predict(long.subarray(1500)));
    expect(parts.flatMap((part) => Array.from(part.data))).toEqual(Array.from(whole.data));
  });

  it("trains on several series, each from the initial state with a washout of its own", async () => {
    const sequences = [series.subarray(0, 300), series.subarray(500, 900)];
    await using forecaster = await Forecaster.fit({ sequences }, { reservoir, ...plain, washout: 50 });
    await using computer = await ReservoirComputer.create(reservoir);
    const states = await computer.batch(sequences.map((one) => one.subarray(0, -1)));
    const readout = ridge().fit(
      states,
      sequences.map((one) => one.subarray(1)),
      { washout: 50 },
    );
    expect(forecaster.readout.weights.data).toEqual(readout.weights.data);
    expect(await forecaster.forecast(5)).toEqual(await forecaster.forecast(5, { warmup: sequences[1]! }));
  });

  it.each([
    { lambda: 1e-6, solver: "dual" },
    { lambda: 1e-6, solver: "auto" },
    { lambdas: [1e-6], selection: "leaveOneOut" },
  ] as const)("trains the same readout where the trainer goes over the rows again: %o", async (readout) => {
    const rows = series.subarray(0, 500);
    await using streamed = await Forecaster.fit(rows, { reservoir, ...plain, readout: { lambda: 1e-6, solver: "qr" } });
    await using kept = await Forecaster.fit(rows, { reservoir, ...plain, readout });
    expect(nrmse(await streamed.forecast(10), await kept.forecast(10))).toBeLessThan(1e-3);
  });

  it("gives the same bits on the reference engine", async () => {
    const options = { reservoir, standardise: true, readout: { input: true, transform: "squares" } } as const;
    await using cpu = await Forecaster.fit(series.subarray(0, 400), { ...options, engine: "cpu" });
    await using reference = await Forecaster.fit(series.subarray(0, 400), { ...options, engine: "reference" });
    expect(await cpu.forecast(40)).toEqual(await reference.forecast(40));
    expect(await cpu.predict(series.subarray(400, 460))).toEqual(await reference.predict(series.subarray(400, 460)));
  });

  it("refuses misspelt fields of its data, in every call, and takes those of a table beside them", async () => {
    const rows = series.subarray(0, 300);
    const wrong = (field: string) => ({ series: rows, [field]: rows });
    await expect(Forecaster.fit(wrong("timess"), { reservoir })).rejects.toThrow('unknown field "timess": did you mean "times"?');
    await expect(Forecaster.fit({ sequences: [rows, wrong("knwon")] }, { reservoir })).rejects.toThrow(
      'sequences[1]: unknown field "knwon": did you mean "known"?',
    );
    const plainOne = await Forecaster.fit({ series: rows, ...{ lines: [2], missing: 0, source: "a.csv" } }, { reservoir });
    const combined = await Forecaster.fit(rows, { horizon: 3, members: ["theta", "ets"] });
    for (const forecaster of [plainOne, combined]) {
      await expect(forecaster.warmUp(wrong("Series "))).rejects.toThrow('warmup: unknown field "Series "');
      await expect(forecaster.score(wrong("filed"))).rejects.toThrow('unknown field "filed": did you mean "filled"?');
      await expect(forecaster.update(wrong("knwon"), { weights: "keep" })).rejects.toThrow('unknown field "knwon"');
      await forecaster.dispose();
    }
  });

  it("keeps its reservoir when it is trained again on rows of the same width, and makes another for other widths", async () => {
    await using forecaster = await Forecaster.create({ reservoir });
    await forecaster.fit(series.subarray(0, 300));
    const { computer } = forecaster;
    await forecaster.fit(series.subarray(300, 600));
    expect(forecaster.computer).toBe(computer);
    await forecaster.fit(new Matrix(600, 2, series.data));
    expect(forecaster.computer.model.inputSize).toBe(2);
  });
});

describe("standardisation", () => {
  const far = new Matrix(
    1200,
    1,
    series.data.map((value) => 3e4 + 500 * value),
  );
  const options = { reservoir: { ...reservoir, precision: "float64" }, readout: { lambda: 1e-4 } } as const;

  it("makes units irrelevant: a shifted and scaled series gives shifted and scaled outputs", async () => {
    await using near = await Forecaster.fit(series.subarray(0, 600), { ...options, standardise: true });
    await using scaled = await Forecaster.fit(far.subarray(0, 600), { ...options, standardise: true });
    const expected = await near.forecast(20);
    const forecast = await scaled.forecast(20);
    for (let t = 0; t < 20; t++) expect(forecast.at(t, 0)).toBeCloseTo(3e4 + 500 * expected.at(t, 0), 4);
    const [first] = (await near.predict(series.subarray(600, 601))).data;
    expect((await scaled.predict(far.subarray(600, 601))).at(0, 0)).toBeCloseTo(3e4 + 500 * first!, 4);
  });

  it("closes the loop in the units of the inputs where only one side is standardised", async () => {
    const forecasts = [];
    for (const standardise of [true, "inputs"] as const) {
      await using forecaster = await Forecaster.fit(far.subarray(0, 600), { ...options, standardise, readout: { lambda: 1e-9 } });
      forecasts.push(await forecaster.forecast(5));
    }
    expect(nrmse(forecasts[0]!, forecasts[1]!)).toBeLessThan(1e-2);
  });

  it("takes the mean off a constant column, which is then 0", async () => {
    const inputs = new Matrix(600, 2, new Float64Array(1200).fill(0.2));
    for (let t = 0; t < 600; t++) inputs.data[2 * t] = far.data[t]!;
    await using forecaster = await Forecaster.fit({ inputs, targets: far.subarray(1, 601) }, { ...options, standardise: true });
    expect(forecaster.computer.state.input[1]).toBe(0);
    expect(Math.abs(forecaster.computer.state.input[0]!)).toBeLessThan(3);
  });
});

describe("a forecaster of outputs from inputs", () => {
  it("learns NARMA-10 as a plain reservoir of 100 neurons does in NumPy (.304 on average)", async () => {
    const { inputs, targets } = narma(4200, { seed: 0 });
    const options = { size: 100, leakRate: 1, inputScaling: 0.1, bias: 0.1, connectionProbability: 1, seed: 3 };
    await using forecaster = await Forecaster.fit(
      { inputs: inputs.subarray(0, 2200), targets: targets.subarray(0, 2200) },
      { reservoir: { ...options, spectralRadius: 0.95 }, washout: 200, standardise: false, readout: { lambda: 1e-8 } },
    );
    expect(await forecaster.score({ inputs: inputs.subarray(2200), targets: targets.subarray(2200) })).toBeLessThan(0.36);
  });

  it("forecasts with inputs from outside after its own outputs", async () => {
    const outside = Float64Array.from({ length: 600 }, (_, t) => Math.cos(0.7 * t) + Math.sin(0.13 * t * t));
    const y = new Float64Array(601);
    for (let t = 0; t < 600; t++) y[t + 1] = 0.6 * y[t]! + outside[t]!;
    const inputs = Array.from({ length: 600 }, (_, t) => [y[t]!, outside[t]!]);
    await using forecaster = await Forecaster.fit(
      { inputs: inputs.slice(0, 500), targets: y.subarray(1, 501) },
      { reservoir: { ...linear, size: 4 }, standardise: true, readout: { solver: "qr", lambda: 1e-18, input: true } },
    );
    const forecast = await forecaster.forecast(50, { inputs: outside.subarray(500, 550) });
    expect(forecast.at(0, 0)).toBeCloseTo(y[500]!, 6);
    expect(forecast.at(49, 0)).toBeCloseTo(y[549]!, 6);
  });

  it("scores by any metric, without the washout, from where it stands", async () => {
    const { inputs, targets } = narma(900, { seed: 1 });
    await using forecaster = await Forecaster.fit({ inputs: inputs.subarray(0, 600), targets: targets.subarray(0, 600) }, { reservoir });
    const before = forecaster.computer.state;
    const test = { inputs: inputs.subarray(600), targets: targets.subarray(600) };
    const score = await forecaster.score(test, { washout: 20, metric: (target, predicted) => target.rows * 1000 + predicted.cols });
    expect(score).toBe(280_001);
    expect(forecaster.computer.state).toEqual(before);
    const nrmseOf = nrmse(test.targets, await forecaster.predict(test.inputs));
    forecaster.computer.state = before;
    expect(await forecaster.score(test)).toBe(nrmseOf);
  });
});

describe("a forecaster with output feedback", () => {
  const feedback = { ...reservoir, feedback: { scaling: 0.5 }, noiseLevel: 1e-4, seed: 4 };

  it("forces the targets while it trains and feeds back its own outputs when it forecasts", async () => {
    const constant = (rows: number) => new Matrix(rows, 1, new Float64Array(rows).fill(0.2));
    await using forecaster = await Forecaster.fit(
      { inputs: constant(500), targets: series.subarray(0, 500) },
      { reservoir: feedback, ...plain },
    );
    await using computer = await ReservoirComputer.create(feedback);
    const states = await computer.run(constant(500), { teacher: series.subarray(0, 500) });
    const readout = ridge().fit(states, series.subarray(0, 500), { washout: 100 });
    expect(forecaster.readout.weights.data).toEqual(readout.weights.data);
    const generated = await computer.generate(30, readout, { inputs: constant(30) });
    expect(Array.from((await forecaster.forecast(30, { inputs: constant(30) })).data)).toEqual(Array.from(generated.data));
  });

  it("takes a series alone, and no inputs", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 500), { reservoir: { ...feedback, bias: 0.2 } });
    expect(forecaster.computer.model.inputSize).toBe(0);
    const forecast = await forecaster.forecast(20);
    expect(await forecaster.predict({ steps: 20 })).toEqual(forecast);
  });

  it("predicts row t from the true rows before it, under teacher forcing", async () => {
    await using forecaster = await Forecaster.fit(series.subarray(0, 1000), { reservoir: { ...feedback, bias: 0.2 } });
    const [first] = (await forecaster.forecast(1)).data;
    const score = await forecaster.score(series.subarray(1000, 1100));
    const forced = await forecaster.predict({ steps: 100 }, { teacher: series.subarray(1000, 1100) });
    expect(forced.at(0, 0)).toBe(first);
    expect(nrmse(series.subarray(1000, 1100), forced)).toBe(score);
    expect(score).toBeLessThan(0.05);
  });
});

describe("long work", () => {
  it("reports progress over all series and stops when it is told to", async () => {
    const sequences = [series.subarray(0, 600), series.subarray(0, 400)];
    const reported: number[] = [];
    const forecaster = await Forecaster.create({ reservoir: { size: 400 } });
    await forecaster.fit({ sequences }, { onProgress: (done, total) => reported.push(done / total) });
    expect(reported.at(-1)).toBe(1);
    expect(reported).toEqual([...reported].sort((a, b) => a - b));
    await expect(forecaster.fit(series, { signal: AbortSignal.abort() })).rejects.toThrow(WorkInterruptedError);
    await forecaster.dispose();
  });

  it("has nothing to say before it is trained", async () => {
    const forecaster = await Forecaster.create({ reservoir });
    await expect(forecaster.forecast(3)).rejects.toThrow(NotFittedError);
    await expect(forecaster.toBytes()).rejects.toThrow("this forecaster is not trained yet; call fit first");
  });
});
