// The maps and the series in closed form: henon, logistic, mso, memoryTask.
import { describe, expect, it } from "vitest";
import { henon, logistic, memoryTask, mso, msoFrequencies } from "../../src/tasks/index.js";

describe("henon", () => {
  it("starts (0, 0), (1, 0), (-0.4, 0.3), (1.076, -0.12)", () => {
    // 1 - 1.4 * 0 + 0; 1 - 1.4 + 0 and .3; 1 - 1.4 * .16 + .3 and -.12.
    const expected = [0, 0, 1, 0, -0.4, 0.3, 1.076, -0.12];
    Array.from(henon(4).data).forEach((value, i) => {
      expect(value).toBeCloseTo(expected[i]!, 12);
    });
  });

  it("leaves out the first iterates with discard", () => {
    expect(henon(5, { discard: 20 }).data).toEqual(henon(25).data.slice(40));
  });

  it("says where it diverges", () => {
    expect(() => henon(100, { a: 3 })).toThrow(/^henon: the series is (-Infinity|NaN) at row \d+: it diverges from this start/);
  });
});

describe("logistic", () => {
  it("starts 0.5, 0.975, 0.0950625 at r = 3.9", () => {
    const [x0, x1, x2] = logistic(3).data;
    expect(x0).toBe(0.5);
    expect(x1).toBeCloseTo(0.975, 15);
    expect(x2).toBeCloseTo(0.0950625, 15);
  });

  it("agrees with the closed form at r = 4: x(t) = sin^2(2^t asin(sqrt(x(0))))", () => {
    const series = logistic(20, { r: 4, initialState: 0.3 }).data;
    const angle = Math.asin(Math.sqrt(0.3));
    series.forEach((x, t) => {
      expect(x).toBeCloseTo(Math.sin(2 ** t * angle) ** 2, 8);
    });
  });

  it("refuses r above 4 and starts outside (0, 1)", () => {
    expect(() => logistic(10, { r: 4.1 })).toThrow("logistic: r is 4.1; it takes a number above 0 and at most 4");
    expect(() => logistic(10, { initialState: 1 })).toThrow("logistic: initialState is 1; it takes a number above 0 and below 1");
  });
});

describe("mso", () => {
  it("is the sum of its sines", () => {
    const series = mso(1000, { frequencies: msoFrequencies, normalise: false, discard: 9000 }).data;
    series.forEach((value, row) => {
      const t = 9000 + row;
      expect(value).toBeCloseTo(
        [0.2, 0.311, 0.42, 0.51, 0.63, 0.74, 0.85, 0.97].reduce((sum, frequency) => sum + Math.sin(frequency * t), 0),
        11,
      );
    });
  });

  it("spans -1 to 1 by default", () => {
    const series = Array.from(mso(500).data);
    expect(Math.min(...series)).toBe(-1);
    expect(Math.max(...series)).toBe(1);
  });

  it("leaves a single sample as it is, though it spans nothing", () => {
    expect(Array.from(mso(1).data)).toEqual([0]);
  });

  it("refuses frequencies that are not positive", () => {
    expect(() => mso(10, { frequencies: [0.2, 0] })).toThrow("mso: frequencies is an array of 2; it takes one or more numbers above 0");
    expect(() => mso(10, { frequencies: [] })).toThrow("mso: frequencies is an array of 0; it takes one or more numbers above 0");
  });
});

describe("memoryTask", () => {
  it("asks for the input 1 to K steps ago, from the first row on", () => {
    const { inputs, targets } = memoryTask(200, { delays: 12, seed: 5 });
    expect([inputs.rows, inputs.cols, targets.rows, targets.cols]).toEqual([200, 1, 200, 12]);
    for (let t = 12; t < 200; t++) for (let k = 1; k <= 12; k++) expect(targets.at(t, k - 1)).toBe(inputs.at(t - k, 0));
    expect(targets.data.every((value) => value !== 0 && Math.abs(value) < 0.8)).toBe(true);
  });

  it("takes delays by name, 0 being the input itself", () => {
    const { inputs, targets } = memoryTask(50, { delays: [0, 7] });
    expect(targets.column(0)).toEqual(inputs.column(0));
    expect(targets.column(1).slice(7)).toEqual(inputs.column(0).slice(0, 43));
  });

  it("draws uniformly from [-amplitude, amplitude)", () => {
    const u = memoryTask(20_000, { delays: 1, amplitude: 0.5 }).inputs.data;
    expect(u.every((value) => value >= -0.5 && value < 0.5)).toBe(true);
    const variance = u.reduce((sum, value) => sum + value * value, 0) / u.length;
    expect(variance).toBeCloseTo(1 / 12, 2);
  });

  it("refuses delays below 0 and no delays", () => {
    const takes = "it takes a whole number of at least 1, or one or more whole numbers of at least 0";
    expect(() => memoryTask(10, { delays: [-1] })).toThrow(`memoryTask: delays is an array of 1; ${takes}`);
    expect(() => memoryTask(10, { delays: 0 })).toThrow(`memoryTask: delays is 0; ${takes}`);
  });
});
