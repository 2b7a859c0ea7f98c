// From a checked description to a plan: ranges, constants and samplers, before a synapse is drawn.
import { ArgumentError } from "@spillway/core/errors.js";
import { type PhiloxKey, type Seed, seedKeys } from "@spillway/numerics";
import { decay } from "../neurons/leaky-integrate-and-fire.js";
import { stepsIn } from "../steps.js";
import type { DistributionConfig, NetworkConfig, NetworkOptions, PopulationConfig, ProjectionConfig, SpikeTimingConfig } from "./config.js";
import type { NetworkPlan, NeuronRange, PlannedPlasticity, PlannedPopulation, PlannedProjection } from "./plan.js";
import { neuronOf, receptorsOf, resistanceOf } from "./planned-neurons.js";
import { checkConductances, checkRule, checkSizes } from "./projection-checks.js";
import { delaySteps, leastOf, mostOf, mostSteps, poissonSteps, samplerOf, scaled } from "./sampler.js";
import { receptorOf, resolveNetworkConfig, sliceOf } from "./schema.js";
import { chooseFractionBits, largestSize, mostUnits, type WeighedBackground, warnOfRounded, weightsOf } from "./weight-units.js";
import { expectedSynapses } from "./wiring.js";

/** The key of everything that is drawn for a network. */
export function networkKey(seed: Seed): PhiloxKey {
  const word = Number(seed);
  return Number.isInteger(word) && word >= 0 && word < 2 ** 32 && String(word) === String(seed) ? [word, 0] : seedKeys(seed).weights;
}

/**
 * Checks a description and plans its network, without drawing a synapse. @throws ArgumentError
 * naming the field, the value and what it takes
 */
export function planNetwork(options: NetworkOptions): NetworkPlan {
  return plan(resolveNetworkConfig(options));
}

interface PopulationEntry extends NeuronRange {
  readonly name: string;
  readonly index: number;
  readonly config: PopulationConfig;
}

function plan(config: NetworkConfig): NetworkPlan {
  const names = Object.keys(config.populations);
  const size = Object.values(config.populations).reduce((sum, each) => sum + (each.neuron ? each.size : 0), 0);
  if (size === 0) throw new ArgumentError("populations", names.join(", "), "at least one population of neurons, as these are inputs");
  const next = { neuron: 0, input: size };
  const all = names.map((name, index): PopulationEntry => {
    const population = config.populations[name]!;
    const kind = population.neuron ? "neuron" : "input";
    next[kind] += population.size;
    return { name, index, first: next[kind] - population.size, size: population.size, config: population };
  });
  const entries = new Map(all.map((entry) => [entry.name, entry]));
  const drafts = config.projections.map((projection, index) => draft(projection, index, config, entries));
  const backgrounds = all.flatMap(({ name, config: each }) => backgroundOf(name, each, config.timeStep));
  const fractionBits = config.fractionBits ?? chooseFractionBits(drafts, backgrounds);
  warnOfRounded(weightsOf(drafts, backgrounds), fractionBits);
  const earlier = new Map<number, number>();
  const numbered = drafts.map((each) => {
    const { from, to, changes, mostWeight: _mostWeight, release: _release, ...projection } = each;
    const plasticity = changes?.(2 ** fractionBits) ?? null;
    const pair = names.length * to + from;
    const before = earlier.get(pair) ?? 0;
    earlier.set(pair, before + 1);
    return { ...projection, plasticity, number: pair + names.length * names.length * before, from, to };
  });
  const largestUnits = numbered.reduce((largest, each) => Math.max(largest, inUnits(largestSize(each), fractionBits, each.index)), 0);
  for (const { plasticity, index } of numbered)
    if (plasticity?.kind === "stdp")
      inUnits(plasticity.most / 2 ** fractionBits, fractionBits, `projections[${index}].plasticity.maximumWeight`);
  const projections = numbered.sort((a, b) => a.from - b.from || a.to - b.to || a.index - b.index);
  const constant = projections.filter(({ plasticity }) => plasticity === null);
  const signs = new Map(constant.map(({ from, sign }) => [from, sign]));
  const oneSign =
    largestUnits < 65536 &&
    constant.every((each) => !hasOwnWeights(each)) &&
    constant.every((each) => leastOf(each.weight) >= 0) &&
    constant.every((each) => signs.get(each.from) === each.sign);
  const populations = all.filter((entry) => entry.config.neuron).map((entry) => population(entry, config, fractionBits));
  const receptors = Math.max(...populations.map((each) => each.receptors.length));
  const longest = projections.reduce((most, each) => Math.max(most, longestOf(each)), 0);
  const cellBits = cellBitsFor(receptors * size, longest, config.timeStep, size);
  return {
    config,
    precision: config.precision,
    size,
    inputs: next.input - size,
    receptors,
    currents: populations.some((each) => each.receptors.some(({ rise }) => rise !== null)) ? 2 * receptors : receptors,
    fractionBits,
    ringRows: 1 + longest,
    cellBits,
    key: networkKey(config.seed),
    populations,
    inputPopulations: all.filter((entry) => !entry.config.neuron).map(({ config: _config, ...range }) => range),
    projections: projections.map(({ from: _from, to: _to, ...projection }) => projection),
    expectedSynapses: projections.reduce((sum, each) => sum + expectedSynapses(each), 0),
    largestUnits,
    oneSign,
    historySteps: projections.reduce((most, each) => (each.plasticity?.kind === "stdp" ? Math.max(most, longestOf(each)) : most), 0),
  };
}

/**
 * The bits of a cell's number; the others of a word hold the delay.
 * @throws ArgumentError for a longer delay
 */
function cellBitsFor(cells: number, longest: number, timeStep: number, size: number): number {
  const bits = Math.max(1, 32 - Math.clz32(cells - 1));
  const limit = 2 ** (32 - bits);
  if (longest < limit) return bits;
  throw new ArgumentError(
    "projections.delay",
    longest * timeStep,
    `delays below ${limit} steps of ${timeStep} ms, as there are ${size} neurons`,
  );
}

type Draft = Omit<PlannedProjection, "number" | "plasticity"> & {
  readonly from: number;
  readonly to: number;
  /** The plasticity with so many units a mV. */
  readonly changes: ((unitsPerMv: number) => PlannedPlasticity) | undefined;
  /** mV, of stdp; else 0. */
  readonly mostWeight: number;
  /** Of shortTerm; else 1. */
  readonly release: number;
};

/** Spikes from outside, if a population has some. */
function backgroundOf(name: string, population: PopulationConfig, timeStep: number): WeighedBackground[] {
  if (!population.background) return [];
  const field = `populations.${name}.background`;
  const { rate, weight } = population.background;
  const most = poissonSteps(rate, timeStep, `${field}.rate`).thresholds.length;
  return [{ field: `${field}.weight`, weight: Math.abs(weight) * resistanceOf(population), most }];
}

function draft(projection: ProjectionConfig, index: number, network: NetworkConfig, entries: ReadonlyMap<string, PopulationEntry>): Draft {
  const { populations, timeStep } = network;
  const field = `projections[${index}]`;
  const ranged = (value: string, end: string) => {
    const { name, from, to } = sliceOf(value, `${field}.${end}`, populations);
    const entry = entries.get(name)!;
    return { entry, range: { first: entry.first + from, size: to - from } };
  };
  const source = ranged(projection.from, "from");
  const target = ranged(projection.to, "to");
  const { connect, selfConnections, multiple } = projection;
  checkRule(projection, field, source.range, target.range, timeStep);
  const sign = meanOf(projection.weight) < 0 ? -1 : 1;
  const resistance = resistanceOf(target.entry.config);
  const weight = samplerOf(scaled(projection.weight, sign * resistance), `${field}.weight`);
  const receptor = receptorOf(projection.receptor, target.entry.config, `${field}.receptor`);
  checkConductances(projection, target.entry.config, leastOf(weight) * sign, field);
  const { plasticity } = projection;
  if (plasticity?.kind === "stdp")
    checkSizes(projection, plasticity, sign, leastOf(weight) / resistance, mostOf(weight) / resistance, field);
  return {
    index,
    from: source.entry.index,
    to: target.entry.index,
    source: source.range,
    target: target.range,
    receptor,
    rule: connect.rule === "list" ? { ...connect, synapses: inSteps(connect.synapses, target.entry.config, timeStep) } : connect,
    selfConnections,
    multiple,
    sign,
    weight,
    delay: delaySteps(projection.delay, timeStep, `${field}.delay`),
    changes: plasticity ? (unitsPerMv) => plasticityOf(projection, network, resistance * unitsPerMv) : undefined,
    mostWeight: plasticity?.kind === "stdp" ? plasticity.maximumWeight * resistance : 0,
    release: plasticity?.kind === "shortTerm" ? plasticity.release : 1,
  };
}

/** Listed synapses with weights in mV and delays in steps. */
function inSteps(synapses: readonly (readonly number[])[], target: PopulationConfig, timeStep: number): readonly (readonly number[])[] {
  return synapses.map((each) =>
    each.length === 2 ? each : [each[0]!, each[1]!, each[2]! * resistanceOf(target), stepsIn(each[3]!, timeStep)],
  );
}

/** The numbers of a step; `scale` units are one of the projection's weights. */
function plasticityOf({ plasticity }: ProjectionConfig, { timeStep, precision }: NetworkConfig, scale: number): PlannedPlasticity {
  if (plasticity!.kind === "shortTerm") {
    const { release, recoveryTimeConstant, facilitationTimeConstant } = plasticity!;
    return {
      kind: "shortTerm",
      release,
      recoveryRate: timeStep / recoveryTimeConstant,
      facilitationRate: facilitationTimeConstant === 0 ? null : timeStep / facilitationTimeConstant,
    };
  }
  const given = plasticity as SpikeTimingConfig;
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  const { minimumWeight, maximumWeight, referenceWeight, learningRate, depressionRatio } = given;
  const size = (referenceWeight ?? maximumWeight - minimumWeight) * scale;
  return {
    kind: "stdp",
    sourceKeep: round(decay(given.potentiationTimeConstant, timeStep)),
    targetKeep: round(decay(given.depressionTimeConstant, timeStep)),
    potentiation: round(learningRate * size),
    depression: round(learningRate * depressionRatio * size),
    potentiationExponent: given.potentiationExponent,
    depressionExponent: given.depressionExponent,
    isBounded: referenceWeight === null,
    perScale: round(1 / size),
    least: round(minimumWeight * scale),
    most: round(maximumWeight * scale),
    isDendritic: given.delay === "dendritic",
  };
}

function hasOwnWeights({ rule }: Pick<PlannedProjection, "rule">): boolean {
  return rule.rule === "list" && rule.synapses.some((synapse) => synapse.length === 4);
}

/** The longest delay of a projection in steps. */
function longestOf({ rule, delay }: Pick<PlannedProjection, "rule" | "delay">): number {
  const listed = rule.rule === "list" ? rule.synapses.reduce((most, each) => Math.max(most, each[3] ?? 0), 0) : 0;
  return Math.max(listed, mostSteps(delay));
}

/** @throws ArgumentError beyond 30 bits */
function inUnits(weight: number, fractionBits: number, index: number | string): number {
  const units = Math.floor(weight * 2 ** fractionBits + 0.5);
  if (Math.abs(units) <= mostUnits) return units;
  const field = typeof index === "number" ? `projections[${index}].weight` : index;
  throw new ArgumentError(
    field,
    weight,
    `weights of at most ${mostUnits / 2 ** fractionBits} mV with fractionBits ${fractionBits}; take fewer bits`,
  );
}

function meanOf(given: DistributionConfig): number {
  if (given.distribution === "constant") return given.value;
  if (given.distribution === "uniform") return given.from + given.to;
  return given.distribution === "normal" ? given.mean : 1;
}

function population(
  { name, index, first, size, config }: PopulationEntry,
  network: NetworkConfig,
  fractionBits: number,
): PlannedPopulation {
  const { timeStep, precision } = network;
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  const { background } = config;
  const field = `populations.${name}.background`;
  const ofBackground = background && receptorOf(background.receptor, config, `${field}.receptor`);
  if (background && background.weight < 0 && Object.values(config.receptors)[ofBackground!]!.reversalPotential !== null)
    throw new ArgumentError(`${field}.weight`, background.weight, "at least 0, as its receptor is a conductance");
  const planned = neuronOf(config, timeStep, round);
  return {
    name,
    index,
    first,
    size,
    neuron: planned,
    receptors: receptorsOf(config, planned, timeStep, round),
    background: background && {
      receptor: ofBackground!,
      units: inUnits(background.weight * resistanceOf(config), fractionBits, `${field}.weight`),
      counts: poissonSteps(background.rate, timeStep, `${field}.rate`),
    },
    stateKeep: config.stateTimeConstant === null ? null : round(decay(config.stateTimeConstant, timeStep)),
  };
}
