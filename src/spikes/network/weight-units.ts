// The unit that a network's weights are whole numbers of: 2^-fractionBits mV, one for all of them.
import { ArgumentError } from "@spillway/core/errors.js";
import { warnOnce } from "@spillway/core/warning.js";
import type { PlannedProjection, WordSampler } from "./plan.js";
import { leastOf, mostOf, sample } from "./sampler.js";
import { expectedSynapses } from "./wiring.js";

/** What of a projection its unit depends on. */
export interface WeighedProjection
  extends Pick<PlannedProjection, "rule" | "source" | "target" | "receptor" | "selfConnections" | "weight"> {
  /** Its index in the description. */
  readonly index: number;
  /** The population that it leads to. */
  readonly to: number;
  /** Of stdp the largest weight that there may be, mV; else 0. */
  readonly mostWeight: number;
  /** Of shortTerm the share of a weight that a spike after a long rest brings; else 1. */
  readonly release: number;
}

/** Spikes from outside: the weight of one, and how many a step may bring. */
export interface WeighedBackground {
  readonly field: string;
  readonly weight: number;
  readonly most: number;
}

/** Bits of a fraction at most. */
export const mostFractionBits = 40;
/** Units of a weight at most: a sum of two has 32 bits with its sign. */
export const mostUnits = 2 ** 30;
/** A weight is rounded well if it changes by no more than this share of itself. */
const tolerance = 1e-3;
/** The share of a projection's weights that may be rounded worse: to choose bits, and unsaid. */
const [mayBeWorse, mayBeUnsaid] = [0.001, 0.02];
const words = 1024;

/** The largest size of a weight of a projection, mV. */
export function largestSize({ rule, weight }: Pick<PlannedProjection, "rule" | "weight">): number {
  const listed = rule.rule === "list" ? rule.synapses.reduce((most, each) => Math.max(most, Math.abs(each[2] ?? 0)), 0) : 0;
  return Math.max(listed, Math.abs(leastOf(weight)), Math.abs(mostOf(weight)));
}

/**
 * The bits of a network whose description leaves them open: the most, up to 24, with which every
 * weight has 16 bits; more if they round small weights badly and sums still fit.
 */
export function chooseFractionBits(projections: readonly WeighedProjection[], backgrounds: readonly WeighedBackground[]): number {
  const ofSynapses = projections.reduce((most, each) => Math.max(most, largestSize(each), each.mostWeight), 0);
  const largest = backgrounds.reduce((most, { weight }) => Math.max(most, weight), ofSynapses);
  if (largest === 0) return 12;
  let bits = 0;
  while (bits < 24 && largest * 2 ** (bits + 1) < 65535) bits++;
  if (bits === 0 && largest >= 65535) throw new ArgumentError("projections.weight", largest, "weights below 65535 mV, or fractionBits 0");
  const sizes = weightsOf(projections, backgrounds);
  const isGood = (k: number) => sizes.every(({ weights }) => roundedBadly(weights, k).share <= mayBeWorse);
  const limit = Math.min(mostUnits / largest, 2 ** 31 / Math.max(largest, largestSum(projections, backgrounds)));
  let more = bits;
  while (!isGood(more) && more < mostFractionBits && 2 ** (more + 1) < limit) more++;
  return more;
}

/** Warns if bits round more than two in a hundred weights of a field by over a thousandth. */
export function warnOfRounded(all: readonly Weights[], bits: number): void {
  const [worst] = all.map(({ field, weights }) => ({ field, ...roundedBadly(weights, bits) })).sort((a, b) => b.share - a.share);
  if (worst === undefined || worst.share <= mayBeUnsaid) return;
  const percent = (share: number) => `${Number((100 * share).toPrecision(2))} %`;
  warnOnce(
    "SpillwayWeightsWarning",
    `${worst.field}: ${percent(worst.share)} of the weights are rounded by more than a thousandth of themselves, ${percent(worst.zero)} to 0. ` +
      `All weights of a network are whole numbers of one unit, here 2^-${bits} mV (fractionBits), and sums of them have 32 bits. ` +
      "Take more fractionBits if they were given or are a liquid's, smaller large weights, or bounds (most) for a wide distribution",
  );
}

/** @throws ArgumentError if so many units that can reach a neuron at once do not fit 32 bits */
export function checkLargest(units: number, fractionBits: number): void {
  if (units < 2 ** 31) return;
  let bits = fractionBits;
  while (units / 2 ** (fractionBits - bits) >= 2 ** 31) bits--;
  const reaches = Math.round(units / 2 ** fractionBits);
  throw new ArgumentError("fractionBits", fractionBits, `at most ${bits} here, since up to ${reaches} mV can reach a neuron at once`);
}

/** Sizes of what spikes bring, mV. */
export interface Weights {
  readonly field: string;
  readonly weights: Iterable<number>;
}

/** All weights of a network. */
export function weightsOf(projections: readonly WeighedProjection[], backgrounds: readonly WeighedBackground[]): Weights[] {
  return [
    ...projections.map(({ index, rule, weight, release }) => {
      const listed = rule.rule === "list" ? rule.synapses.flatMap((each) => (each.length === 4 ? [each[2]!] : [])) : [];
      const drawn = rule.rule === "list" && listed.length === rule.synapses.length ? [] : drawnWeights(weight);
      return { field: `projections[${index}].weight`, weights: [...listed, ...drawn].map((each) => Math.abs(each) * release) };
    }),
    ...backgrounds.map(({ field, weight }) => ({ field, weights: [weight] })),
  ];
}

/** Weights at equal steps of the share below them. */
function drawnWeights(weight: WordSampler): number[] {
  if (weight.family === "constant") return [weight.a];
  return Array.from({ length: words }, (_, k) => sample(weight, (k + 0.5) * (2 ** 32 / words)));
}

function roundedBadly(weights: Iterable<number>, bits: number): { readonly share: number; readonly zero: number } {
  let [bad, zero, all] = [0, 0, 0];
  for (const weight of weights) {
    if (weight === 0) continue;
    all++;
    const units = weight * 2 ** bits;
    const whole = Math.floor(units + 0.5);
    if (Math.abs(whole - units) > tolerance * units) bad++;
    if (whole === 0) zero++;
  }
  return { share: bad / Math.max(1, all), zero: zero / Math.max(1, all) };
}

/** mV that hardly any neuron's synapses of a receptor add up to, and the most background spikes. */
function largestSum(projections: readonly WeighedProjection[], backgrounds: readonly WeighedBackground[]): number {
  const sums = new Map<string, number>();
  for (const each of projections) {
    const cell = `${each.to} ${each.receptor}`;
    sums.set(cell, (sums.get(cell) ?? 0) + sumOnto(each));
  }
  return (
    [...sums.values()].reduce((most, sum) => Math.max(most, sum), 0) +
    backgrounds.reduce((all, { weight, most }) => Math.max(all, weight * most), 0)
  );
}

/** The sum of a projection's weights onto a neuron, with eight deviations of number and weight. */
function sumOnto(projection: WeighedProjection): number {
  const { rule, source, target, weight, mostWeight } = projection;
  if (rule.rule === "list") {
    const sums = new Map<number, number>();
    const usual = largestSize({ rule: { rule: "allToAll" }, weight });
    for (const [, to, own] of rule.synapses) sums.set(to!, (sums.get(to!) ?? 0) + Math.max(mostWeight, Math.abs(own ?? usual)));
    return [...sums.values()].reduce((most, sum) => Math.max(most, sum), 0);
  }
  const expected = expectedSynapses(projection) / target.size;
  const isExact = rule.rule === "fixedInDegree" || rule.rule === "oneToOne" || rule.rule === "allToAll";
  const isOnce = rule.rule === "bernoulli" || rule.rule === "distance";
  const number = isExact
    ? Math.ceil(expected)
    : Math.min(isOnce ? source.size : Number.POSITIVE_INFINITY, expected + 8 * Math.sqrt(expected) + 16);
  if (mostWeight > 0) return number * mostWeight;
  const sizes = drawnWeights(weight).map(Math.abs);
  const mean = sizes.reduce((all, each) => all + each, 0) / sizes.length;
  const square = sizes.reduce((all, each) => all + each * each, 0) / sizes.length;
  // The steps leave out some of a long tail, whose largest number is added.
  const typical = 1.25 * number * mean + 8 * Math.sqrt(number * square);
  const extremes = [sample(weight, 0), sample(weight, 2 ** 32 - 1)].map(Math.abs);
  return Math.min(number * Math.max(...extremes), typical + Math.max(...extremes));
}
