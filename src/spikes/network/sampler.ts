// Random numbers of a description, each by one word of 32 bits: by the inverse of their
// distribution, or, if they are whole, by thresholds. Rule 13 of docs/numerics.md.
import { ArgumentError } from "@spillway/core/errors.js";
import { normalCdf, normalQuantile, portableExp, portableLog } from "@spillway/numerics";
import { stepsIn } from "../steps.js";
import type { DistributionConfig } from "./config.js";
import type { WordSampler, WordSteps } from "./plan.js";

/** Normal numbers by one word lie within this many deviations. */
const reach = 6.5;

/** The share of a distribution below x. */
function below(x: number, given: DistributionConfig): number {
  switch (given.distribution) {
    case "constant":
      return x < given.value ? 0 : 1;
    case "uniform":
      return Math.max(0, Math.min(1, (x - given.from) / (given.to - given.from)));
    case "exponential":
      return x <= 0 ? 0 : 1 - portableExp(-x / given.mean);
    case "lognormal":
      return x <= 0 ? 0 : normalShare(portableLog(x), given);
    default:
      return normalShare(x, given);
  }
}

function normalShare(x: number, { mean, deviation }: { readonly mean: number; readonly deviation: number }): number {
  return deviation === 0 ? (x < mean ? 0 : 1) : normalCdf((x - mean) / deviation);
}

/** The bounds of a distribution that are given. */
function boundsOf(given: DistributionConfig): { least: number; most: number; clips: boolean } {
  if (given.distribution === "constant") return { least: given.value, most: given.value, clips: false };
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, outside } = given;
  return { least, most, clips: outside === "clip" };
}

/** @throws ArgumentError if the bounds leave nothing to draw */
function checkBounds(given: DistributionConfig, field: string): void {
  if (given.distribution === "uniform" && given.from > given.to)
    throw new ArgumentError(`${field}.from`, given.from, `at most to, ${given.to}`);
  const { least, most, clips } = boundsOf(given);
  if (least > most) throw new ArgumentError(`${field}.least`, least, `at most most, ${most}`);
  if (given.distribution === "constant" || clips) return;
  const isConstant = "deviation" in given ? given.deviation === 0 : given.distribution === "uniform" && given.from === given.to;
  const share = below(most, given) - below(least, given);
  const only = "deviation" in given ? given.mean : given.distribution === "uniform" ? given.from : 0;
  const outside = isConstant ? only < least || only > most : share < 1e-6;
  if (outside) throw new ArgumentError(field, given, "bounds that hold more than a millionth of the numbers, or outside: clip");
}

/** A distribution as a sampler. @throws ArgumentError */
export function samplerOf(given: DistributionConfig, field: string): WordSampler {
  checkBounds(given, field);
  const { least, most, clips } = boundsOf(given);
  const open = { low: 0, share: 1, least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };
  if (given.distribution === "constant") return { family: "constant", a: given.value, b: 0, ...open };
  const [a, b] =
    given.distribution === "uniform"
      ? [given.from, given.to - given.from]
      : [given.mean, given.distribution === "exponential" ? 0 : given.deviation];
  const plain: WordSampler = { family: given.distribution, a, b, ...open };
  if (clips) return { ...plain, least, most };
  // A bound that no word reaches changes nothing.
  const low = least <= leastOf(plain) ? 0 : below(least, given);
  const high = most >= mostOf(plain) ? 1 : below(most, given);
  return { ...plain, low, share: high - low, least, most };
}

/** What a sampler gives by a word of 32 bits. */
export function sample({ family, a, b, low, share, least, most }: WordSampler, word: number): number {
  const u = low + share * ((word + 0.5) * 2 ** -32);
  let value = a;
  if (family === "normal") value = a + b * normalQuantile(u);
  else if (family === "lognormal") value = portableExp(a + b * normalQuantile(u));
  else if (family === "uniform") value = a + b * u;
  else if (family === "exponential") value = -a * portableLog(1 - u);
  return value < least ? least : value > most ? most : value;
}

/** A number that no draw is below. */
export function leastOf({ family, a, b, least, most }: WordSampler): number {
  let value = a;
  if (family === "normal") value = a - reach * b;
  else if (family === "lognormal") value = portableExp(a - reach * b);
  else if (family === "exponential") value = 0;
  return Math.min(most, Math.max(value, least));
}

/** A number that no draw is above. */
export function mostOf({ family, a, b, least, most }: WordSampler): number {
  let value = a;
  if (family === "normal") value = a + reach * b;
  else if (family === "lognormal") value = portableExp(a + reach * b);
  else if (family === "uniform") value = a + b;
  else if (family === "exponential") value = 22.9 * a;
  return Math.max(least, Math.min(value, most));
}

/** The same numbers times a factor. Below 0 it is for constant, uniform and normal ones. */
export function scaled(given: DistributionConfig, factor: number): DistributionConfig {
  if (factor === 1) return given;
  if (given.distribution === "constant") return { ...given, value: given.value * factor };
  const times = (low: number | undefined, high: number | undefined) => {
    const bound = factor < 0 ? high : low;
    return bound === undefined ? undefined : bound * factor;
  };
  const bounds = { least: times(given.least, given.most), most: times(given.most, given.least) };
  if (given.distribution === "uniform")
    return { ...given, from: times(given.from, given.to)!, to: times(given.to, given.from)!, ...bounds };
  if (given.distribution === "exponential") return { ...given, mean: given.mean * factor, ...bounds };
  if (given.distribution === "lognormal") return { ...given, ...bounds, mean: given.mean + portableLog(factor) };
  return { ...given, mean: given.mean * factor, deviation: given.deviation * Math.abs(factor), ...bounds };
}

const words = 4294967296;

/** A share of all words as the first word that is beyond it. */
function threshold(share: number): number {
  return Math.min(words - 1, Math.floor(share * words + 0.5));
}

/** The longest delay that a packed synapse may have, in steps. */
const longestDelay = 65534;

/**
 * Delays in whole steps, halves up. @throws ArgumentError for a delay under one step that is not 0,
 * or one that is too long
 */
export function delaySteps(given: DistributionConfig, timeStep: number, field: string): WordSteps {
  const none = new Uint32Array(0);
  const refused = (value: number) =>
    new ArgumentError(
      field,
      value,
      `ms of at least half a step of ${timeStep} ms, or 0${given.distribution === "constant" ? "" : "; give least"}`,
    );
  if (given.distribution === "constant") {
    const first = stepsIn(given.value, timeStep);
    if (given.value !== 0 && first < 1) throw refused(given.value);
    return { first: checkLongest(first, timeStep, field), thresholds: none };
  }
  const sampler = samplerOf(given, field);
  const least = leastOf(sampler);
  const bounds = boundsOf(given);
  const most = Number.isFinite(bounds.most) ? bounds.most : mostOf(sampler);
  // Bounds such as 0.05 and 6.35 with steps of 0.1 lie on the edge of a step: a last bit must not
  // make another one.
  const first = Math.floor(least / timeStep + 0.5 + 1e-9);
  const { clips } = bounds;
  const last = checkLongest(clips ? stepsIn(most, timeStep) : Math.ceil(most / timeStep - 0.5 - 1e-9), timeStep, field);
  if (first < 1) throw refused(least);
  const from = clips ? 0 : below(bounds.least, given);
  const to = clips ? 1 : below(bounds.most, given);
  const thresholds = Uint32Array.from({ length: Math.max(0, last - first) }, (_, k) =>
    threshold((below((first + k + 0.5) * timeStep, given) - from) / (to - from)),
  );
  return { first, thresholds };
}

function checkLongest(steps: number, timeStep: number, field: string): number {
  if (steps <= longestDelay) return steps;
  throw new ArgumentError(field, steps * timeStep, `at most ${longestDelay} steps of ${timeStep} ms`);
}

/** The most spikes from outside that a neuron may get in a step, on average. */
const mostSpikes = 500;

/** Spikes of a Poisson process in a step. @throws ArgumentError for a mean above 500 */
export function poissonSteps(rate: number, timeStep: number, field: string): WordSteps {
  const mean = rate * timeStep * 0.001;
  if (mean > mostSpikes) throw new ArgumentError(field, rate, `a rate that gives at most ${mostSpikes} spikes a step of ${timeStep} ms`);
  const thresholds: number[] = [];
  let term = portableExp(-mean);
  let sum = 0;
  while (thresholds.length < 24 || thresholds.at(-1)! < words - 1) {
    sum += term;
    const next = threshold(sum);
    // The terms may add up to a last bit below 1: from where they add nothing, all is below.
    thresholds.push(thresholds.length > mean && term < 2 ** -34 ? words - 1 : next);
    term *= mean / thresholds.length;
  }
  return { first: 0, thresholds: Uint32Array.from(thresholds) };
}

/** The whole number of a word: `first` + how many thresholds are at most the word. */
export function stepsOf({ first, thresholds }: WordSteps, word: number): number {
  let low = 0;
  let count = thresholds.length;
  while (count > 0) {
    const half = count >>> 1;
    if (thresholds[low + half]! <= word) {
      low += half + 1;
      count -= half + 1;
    } else count = half;
  }
  return first + low;
}

/** The largest whole number that there is. */
export function mostSteps({ first, thresholds }: WordSteps): number {
  return first + thresholds.length;
}
