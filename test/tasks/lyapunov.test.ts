// Every Lyapunov exponent that the tasks quote against an estimate of our own: the growth of the
// distance between two series of the generator, pulled together again and again (Benettin et al.
// 1976, Phys. Rev. A 14).
import { describe, expect, it } from "vitest";
import { henon, knownLyapunovExponent, logistic, mackeyGlass, type SeriesTask, samplingInterval, tasks } from "../../src/tasks/index.js";
import { casesOf } from "../exhaustive.js";

const distance = (a: ArrayLike<number>, b: ArrayLike<number>) => Math.sqrt(Array.from(a).reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0));

/**
 * Mean growth rate of the distance under `advance`, which takes `time`; the first tenth of the
 * rounds is left out.
 */
function growthRate(advance: (state: number[]) => number[], start: number[], time: number, rounds: number): number {
  const apart = 1e-7;
  let state = start;
  let other = start.map((x, i) => x + apart * Math.cos(i));
  let before = distance(state, other);
  let sum = 0;
  for (let round = 0; round < rounds; round++) {
    state = advance(state);
    other = advance(other);
    const after = distance(state, other);
    if (round >= rounds / 10) sum += Math.log(after / before);
    other = other.map((x, i) => state[i]! + ((x - state[i]!) * apart) / after);
    before = distance(state, other);
  }
  return sum / (time * (rounds - Math.ceil(rounds / 10)));
}

describe("knownLyapunovExponent", () => {
  // [task, options, time of a round, rounds, relative tolerance]
  const flows = [
    ["lorenz", {}, 1, 4000, 0.02],
    ["rossler", {}, 10, 1500, 0.05],
    ["multiscroll", {}, 0.5, 4000, 0.03],
    ["multiscroll", { a: 35 }, 0.5, 2000, 0.03],
    ["doubleScroll", {}, 10, 1500, 0.05],
    ["rabinovichFabrikant", {}, 5, 3000, 0.05],
    ["lorenz96", {}, 0.5, 1000, 0.05],
    ["lorenz96", { N: 40 }, 0.5, 1000, 0.05],
    ["kuramotoSivashinsky", {}, 20, 60, 0.15],
  ] as const;

  it.each(casesOf(flows, ([name]) => name === "rossler"))("%s %j", (name, options, time, rounds, tolerance) => {
    const task = tasks.find(name) as SeriesTask;
    // The exponent needs the flow, not its last digits: steps four times as long as a series takes.
    const step = 4 * (task.options["step"]!.default as number);
    const known = knownLyapunovExponent(name, options)!;
    const transient = samplingInterval(name) * 100;
    const start = Array.from(task.generate(1, { ...options, step, dt: transient, discard: 5 }).data);
    const advance = (state: number[]) => Array.from(task.generate(2, { ...options, initialState: state, dt: time, step }).row(1));
    const found = growthRate(advance, start, time, rounds);
    expect(Math.abs(found - known.value)).toBeLessThan(tolerance * known.value);
  });

  it("henon", () => {
    const found = growthRate((state) => Array.from(henon(11, { initialState: state }).row(10)), [0, 0], 10, 5000);
    expect(found).toBeCloseTo(0.419, 2);
    expect(knownLyapunovExponent("henon")!.value).toBeCloseTo(0.419, 3);
  });

  it.each([
    [3.9, 0.496],
    [4, Math.LN2],
  ])("logistic, r = %d", (r, expected) => {
    // One dimension has the exact derivative: the mean of ln |r (1 - 2x)|.
    const series = logistic(200_000, { r, initialState: 0.3 }).data;
    const found = series.reduce((sum, x) => sum + Math.log(Math.abs(r * (1 - 2 * x))), 0) / series.length;
    expect(found).toBeCloseTo(expected, 2);
    expect(knownLyapunovExponent("logistic", { r })!.value).toBe(expected);
  });

  it.each([
    [17, 0.00513],
    [30, 0.0071],
  ])("mackeyGlass, tau = %d", (tau, expected) => {
    const count = tau * 5;
    const advance = (state: number[]) => {
      const series = mackeyGlass(501 + count, { tau, dt: 0.2, step: 0.2, initialState: state[count]!, history: state.slice(0, count) });
      return Array.from(series.data.slice(500));
    };
    const start = Array.from(mackeyGlass(count + 1, { tau, dt: 0.2, step: 0.2, discard: 10_000 }).data);
    const found = growthRate(advance, start, 100 + tau, 700);
    expect(Math.abs(found - expected)).toBeLessThan(0.1 * expected);
    expect(knownLyapunovExponent("mackeyGlass", { tau })!.value).toBe(expected);
  });

  it("is known for the parameters it was found for and for no others", () => {
    expect(knownLyapunovExponent("lorenz", { dt: 0.02, rho: 28 })?.value).toBe(0.9056);
    expect(knownLyapunovExponent("lorenz", { rho: 20 })).toBeUndefined();
    expect(knownLyapunovExponent("mso")).toBeUndefined();
    expect(knownLyapunovExponent("no such task")).toBeUndefined();
  });

  it("counts time in the unit of dt, or in iterations", () => {
    expect(samplingInterval("lorenz")).toBe(0.03);
    expect(samplingInterval("lorenz", { dt: 0.02 })).toBe(0.02);
    expect(samplingInterval("henon")).toBe(1);
  });
});
