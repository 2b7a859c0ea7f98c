// Combinations of every kind that exported programs hold: series, and which members take part.
import { Matrix, RandomStream, seedKeys } from "../../packages/numerics/src/index.js";
import type { ForecasterData, ForecasterOptions } from "../../src/model/index.js";
import { lorenz } from "../../src/tasks/index.js";

export interface Combination {
  readonly name: string;
  /** The members that take part. */
  readonly names: readonly string[];
  readonly data: ForecasterData;
  /** Rows that follow, and what is known of them and of those after them. */
  readonly next: Matrix;
  readonly ahead?: Matrix | undefined;
  readonly options: ForecasterOptions;
  readonly steps: number;
}

const draws = new RandomStream(seedKeys(3).weights, 42);
const column = (from: number, to: number, f: (t: number) => number) =>
  Matrix.from(Array.from({ length: to - from }, (_, t) => [f(from + t)]));
const noise = (t: number, c = 0) => draws.uniform(t, c);
const monthly = (t: number) => (120 + 0.8 * t) * (1 + 0.2 * Math.sin((2 * Math.PI * t) / 12)) + 4 * noise(t);
const hourly = (t: number) => 50 + 12 * Math.sin((2 * Math.PI * t) / 24) + 3 * Math.sin(t / 40) + 2 * noise(t);
const gappy = (t: number) => (t % 101 === 50 || (t > 402 && t % 5 > 2) ? Number.NaN : hourly(t));
const both = (from: number, to: number) =>
  Matrix.from(Array.from({ length: to - from }, (_, k) => [hourly(from + k), monthly(from + k) - 150]));
const grown = (from: number, to: number) =>
  Matrix.from(Array.from({ length: to - from }, (_, k) => [from + k + noise(from + k), (from + k) ** 1.5]));
const seven = 7;
const next = (f: (t: number) => number, rows: number) => column(rows, rows + 2 * seven, f);
const reservoir = { seed: 1 };
const chaos = lorenz(2000, { dt: 0.02 });

export const combinations: readonly Combination[] = [
  {
    name: "years, of which there are few",
    names: ["theta", "damped", "ets"],
    ...{ data: column(0, 14, (t) => 30 + t * t + noise(t)), next: next((t) => 30 + t * t, 14), options: { horizon: 4 }, steps: 120 },
  },
  {
    name: "years below 0 with an end",
    names: ["theta", "damped", "ets"],
    ...{
      data: column(0, 14, (t) => -30 - t + 5 * noise(t)),
      next: next((t) => -30 - t, 14),
      options: { horizon: 4, bounds: [-70, -20] },
      steps: 40,
    },
  },
  {
    name: "months with a season that is multiplied",
    names: ["loop", "theta", "damped", "ets", "seasonalNaive"],
    ...{ data: column(0, 144, monthly), next: next(monthly, 144), options: { horizon: 12, season: 12, reservoir }, steps: 20 },
  },
  {
    name: "hours",
    names: ["loop", "direct", "theta", "damped", "ets", "seasonalNaive"],
    ...{ data: column(0, 400, hourly), next: next(hourly, 400), options: { horizon: 24, season: 24, reservoir }, steps: 60 },
  },
  {
    name: "two columns, one of them below 0, with equal weights",
    names: ["loop", "direct", "theta", "damped", "ets", "seasonalNaive"],
    ...{ data: both(0, 300), next: both(300, 314), options: { horizon: 12, season: 12, reservoir, weights: "equal" }, steps: 30 },
  },
  {
    name: "a system without noise, in which polynomials take part",
    names: ["loop", "direct", "theta", "damped", "ets", "nvar"],
    ...{
      data: chaos.subarray(0, 1900),
      next: chaos.subarray(1900, 1914),
      options: { horizon: 40, reservoir: { ...reservoir, size: 60 }, weights: "equal" },
      steps: 70,
    },
  },
  {
    name: "polynomials alone, which leave their range",
    names: ["nvar"],
    ...{ data: grown(0, 300), next: grown(300, 314), options: { horizon: 12, members: ["nvar"] }, steps: 60 },
  },
  {
    name: "a loop, beside which nothing takes part",
    names: ["loop"],
    ...{
      data: column(0, 90, monthly),
      next: next(monthly, 90),
      options: { horizon: 12, members: ["loop", "direct"], reservoir },
      steps: 30,
    },
  },
  {
    name: "windows alone",
    names: ["direct"],
    ...{ data: column(0, 200, (t) => hourly(t) - 60), next: next(hourly, 200), options: { horizon: 7, members: ["direct"] }, steps: 17 },
  },
  {
    name: "hours of which some are missing",
    names: ["loop", "direct", "theta", "damped", "ets", "seasonalNaive"],
    ...{ data: column(0, 400, gappy), next: next(gappy, 400), options: { horizon: 24, season: 24, missing: "hold", reservoir }, steps: 30 },
  },
  {
    name: "hours with a mask of those that are missing and what is known",
    names: ["loop", "direct", "theta", "damped", "ets", "seasonalNaive"],
    data: { series: column(0, 400, gappy), known: column(0, 400, (t) => Math.sin(t / 5)) },
    ...{ next: next(gappy, 400), ahead: column(400, 460, (t) => Math.sin(t / 5)), steps: 30 },
    options: { horizon: 24, season: 24, missing: "mask", reservoir },
  },
  {
    name: "classical members beside what is known",
    names: ["theta", "ets"],
    data: { series: column(0, 60, monthly), known: column(0, 60, (t) => t % 7) },
    ...{ next: next(monthly, 60), ahead: column(60, 100, (t) => t % 7), steps: 14 },
    options: { horizon: 6, season: 12, members: ["theta", "ets"] },
  },
  {
    name: "a loop in integers",
    names: ["loop", "theta", "damped", "ets"],
    ...{ data: column(0, 120, monthly), next: next(monthly, 120), steps: 20 },
    options: { horizon: 12, members: ["theta", "damped", "ets", "loop"], reservoir: { ...reservoir, arithmetic: "integer" } },
  },
];
