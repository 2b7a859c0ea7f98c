// Checks a network's description and fills in its defaults: its fields are described in config.ts
// and projection-config.ts.
import { ArgumentError } from "@spillway/core/errors.js";
import { suggestion } from "@spillway/core/near-names.js";
import { object, type Resolved, resolve } from "@spillway/core/options.js";
import { type NetworkConfig, type NetworkOptions, networkTable, type PopulationConfig, populationTable } from "./config.js";
import type { ProjectionConfig, ProjectionPlasticityConfig, projectionTable, ReadPlasticity } from "./projection-config.js";

/** Above it the exponential of a neuron's upswing leaves binary32. */
const steepest = 80;

const takes = "an object that describes a network, at least {kind, populations}";

/**
 * Fills in defaults and checks every field of a network's description. @throws ArgumentError naming
 * the field, the value and what it takes
 */
export function resolveNetworkConfig(options: NetworkOptions): NetworkConfig {
  if (typeof options !== "object" || options === null) throw new ArgumentError("network", options, takes);
  const { populations: given, projections, ...rest } = resolve(networkTable, options);
  const names = Object.keys(given);
  if (names.length === 0) throw new ArgumentError("populations", given, "at least one population");
  for (const name of names)
    if (/[[\]:]|^\d*$/.test(name)) throw new ArgumentError("populations", name, "names without [, ] and :, and not of digits alone");
  const populations = Object.fromEntries(names.map((name) => [name, readPopulation(name, given)]));
  return {
    ...rest,
    populations,
    projections: projections.map((each, i) => readProjection(each, `projections[${i}]`, populations, rest.timeStep)),
  };
}

function readPopulation(name: string, all: Readonly<Record<string, Readonly<Record<string, unknown>>>>): PopulationConfig {
  const field = `populations.${name}`;
  const fields = withLike(name, all, []);
  const config = object(populationTable).read(fields, field);
  const type = config.neuron?.type;
  for (const each of ["current", "initialPotential"] as const) {
    const value = config[each];
    if (Array.isArray(value) && value.length !== config.size)
      throw new ArgumentError(`${field}.${each}`, value, `a number, or one for each of the ${config.size} neurons`);
  }
  if (config.neuron?.type === "adaptiveExponential") {
    const { threshold, slopeFactor, peakPotential, resetPotential } = config.neuron;
    const highest = threshold + steepest * slopeFactor;
    if (peakPotential <= threshold || peakPotential > highest)
      throw new ArgumentError(
        `${field}.neuron.peakPotential`,
        peakPotential,
        `a potential above threshold, ${threshold} mV, and at most ${steepest} slopeFactor higher, ${highest} mV`,
      );
    if (resetPotential >= peakPotential)
      throw new ArgumentError(`${field}.neuron.resetPotential`, resetPotential, `a potential below peakPotential, ${peakPotential} mV`);
  } else if (config.neuron && config.neuron.type !== "izhikevich") {
    const { threshold, restingPotential, reset, resetPotential } = config.neuron;
    // Neurons that rest above their threshold fire on their own; a reset to a value stops that.
    if (reset === "subtract" && threshold <= restingPotential)
      throw new ArgumentError(`${field}.neuron.threshold`, threshold, `a potential above restingPotential, ${restingPotential} mV`);
    if (reset === "value" && resetPotential >= threshold)
      throw new ArgumentError(`${field}.neuron.resetPotential`, resetPotential, `a potential below threshold, ${threshold} mV`);
  }
  if (config.capacitance !== null && type === "izhikevich")
    throw new ArgumentError(`${field}.capacitance`, config.capacitance, "null: Izhikevich neurons have none");
  const receptors = Object.keys(config.receptors);
  if (config.neuron && receptors.length === 0) throw new ArgumentError(`${field}.receptors`, config.receptors, "at least one receptor");
  const conducting = Object.values(config.receptors).some(({ reversalPotential }) => reversalPotential !== null);
  if (conducting && type === "izhikevich")
    throw new ArgumentError(`${field}.receptors`, receptors, "currents: Izhikevich neurons have no leak to share");
  for (const [name, { timeConstant, shape }] of Object.entries(config.receptors))
    if (timeConstant === 0 && (shape === "alpha" || conducting || type === "adaptiveExponential"))
      throw new ArgumentError(
        `${field}.receptors.${name}.timeConstant`,
        timeConstant,
        "more than 0 ms with shape alpha, beside conductances and for adaptiveExponential neurons",
      );
  if (config.background) receptorOf(config.background.receptor, config, `${field}.background.receptor`);
  return config;
}

/** The fields of a population, those of the one that it is like beneath them. */
function withLike(
  name: string,
  all: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  path: readonly string[],
): Readonly<Record<string, unknown>> {
  const { like, ...own } = all[name]!;
  if (like === undefined) return own;
  const field = `populations.${name}.like`;
  if (typeof like !== "string" || !Object.hasOwn(all, like))
    throw new ArgumentError(field, like, `the name of a population${suggestion(String(like), Object.keys(all))}`);
  if (like === name || path.includes(like)) throw new ArgumentError(field, like, "a population that is not like this one itself");
  return { ...withLike(like, all, [...path, name]), ...own };
}

/** A population and a slice of it: "E", "E[0:100]". */
export interface Slice {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** @throws ArgumentError if there is no such population or slice */
export function sliceOf(value: string, field: string, populations: Readonly<Record<string, PopulationConfig>>): Slice {
  const [, name, from, to] = /^([^[]*)(?:\[(\d*):(\d*)\])?$/.exec(value) ?? [];
  if (name === undefined || !Object.hasOwn(populations, name)) {
    const names = Object.keys(populations);
    throw new ArgumentError(field, value, `a population, or a slice such as ${names[0]}[0:10]${suggestion(name ?? value, names)}`);
  }
  const { size: most } = populations[name]!;
  const slice = { name, from: Number(from || 0), to: to ? Number(to) : most };
  if (slice.from >= slice.to || slice.to > most) throw new ArgumentError(field, value, `a slice within ${name}[0:${most}]`);
  return slice;
}

/** The index of a receptor in its population. @throws ArgumentError */
export function receptorOf(name: string | undefined, population: PopulationConfig, field: string): number {
  const names = Object.keys(population.receptors);
  if (name === undefined && names.length === 1) return 0;
  const index = names.indexOf(name ?? "");
  if (index < 0) throw new ArgumentError(field, name, `one of the target's receptors: ${names.join(", ")}`);
  return index;
}

function readProjection(
  { receptor, delay, plasticity, ...rest }: Resolved<typeof projectionTable>,
  field: string,
  populations: Readonly<Record<string, PopulationConfig>>,
  timeStep: number,
): ProjectionConfig {
  sliceOf(rest.from, `${field}.from`, populations);
  const target = populations[sliceOf(rest.to, `${field}.to`, populations).name]!;
  if (target.neuron === null) throw new ArgumentError(`${field}.to`, rest.to, "a population of neurons; inputs only send spikes");
  const index = receptorOf(receptor, target, `${field}.receptor`);
  return {
    ...rest,
    receptor: Object.keys(target.receptors)[index]!,
    delay: delay ?? { distribution: "constant", value: timeStep },
    plasticity: plasticity && readPlasticity(plasticity, `${field}.plasticity`),
  };
}

function readPlasticity(written: ReadPlasticity, field: string): ProjectionPlasticityConfig {
  if (written.kind === "shortTerm") return written;
  const { weightDependence, referenceWeight, minimumWeight, maximumWeight } = written;
  if (minimumWeight >= maximumWeight)
    throw new ArgumentError(`${field}.minimumWeight`, minimumWeight, `a size below maximumWeight, ${maximumWeight}`);
  const isBounded = weightDependence === "bounded";
  if (isBounded !== (referenceWeight === null))
    throw new ArgumentError(
      `${field}.referenceWeight`,
      referenceWeight,
      isBounded ? "null, as weights are measured by their bounds; it is for powerLaw" : "a weight above 0 with powerLaw",
    );
  return {
    ...written,
    potentiationExponent: written.potentiationExponent ?? (isBounded ? 0 : 0.4),
    depressionExponent: written.depressionExponent ?? (isBounded ? 0 : 1),
  };
}
