// A liquid as a network of populations: the same neurons and synapses as a description of a
// network, and as the model that engines run.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { seedKeys } from "@spillway/numerics";
import type { SpikingModel, SynapseTable } from "../../reservoir/spiking-model.js";
import type { NetworkOptions, PopulationOptions, ProjectionOptions } from "../network/config.js";
import { initialValues } from "../network/draw.js";
import type { NetworkModel } from "../network/plan.js";
import { planNetwork } from "../network/planning.js";
import { backgroundChance, backgroundUnits, initialPotentials } from "./kind.js";

/** The neurons of a population, or the channels of inputs, within those of the liquid. */
interface Run {
  readonly name: string;
  readonly first: number;
  readonly size: number;
}

/**
 * A liquid's description as a network of populations: E, I and, if there are inputs, `input`. Every
 * synapse is listed with its weight and delay, so learned weights are kept. Given the same spikes it
 * fires the same spikes and has the same states, to the bit, on every engine. It is a reservoir,
 * too: `{ ...liquidNetwork(model), rowMs: model.config.timeStep }`.
 *
 * @throws ArgumentError for input of currents, and for a background that is drawn while the liquid
 * runs: networks draw theirs by other counters
 */
export function liquidNetwork(model: SpikingModel): NetworkOptions {
  checkHas("model", model, "the model of a liquid", "config", "synapses");
  const { config, inputSize, synapses, inputSynapses } = model;
  const { background } = config;
  const drawn = "0: networks draw spikes and currents from outside by other counters";
  if (background.rate > 0) throw new ArgumentError("background.rate", background.rate, drawn);
  if (background.deviation > 0) throw new ArgumentError("background.deviation", background.deviation, drawn);
  if (inputSize > 0 && !inputSynapses) throw new ArgumentError("input.mode", config.input.mode, "spikes: currents have no synapses");
  const runs = runsOf(model);
  const potentials = initialPotentials(config);
  const bare = withoutSynapses(model);
  const populations: Record<string, PopulationOptions> = { ...bare.populations };
  if (potentials !== "rest")
    for (const { name, first, size } of runs)
      populations[name] = { ...populations[name]!, initialPotential: Array.from({ length: size }, (_, k) => potentials(first + k)) };
  const listed = (table: SynapseTable, source: Run) => runs.flatMap((target) => projectionsOf(table, source, target, model));
  const projections = runs.flatMap((source) => listed(synapses, source));
  if (inputSize > 0) projections.push(...listed(inputSynapses!, { name: "input", first: 0, size: inputSize }));
  return { ...bare, populations, projections };
}

/** Excitatory neurons, then inhibitory ones. */
function runsOf({ config: { inhibitory }, size }: SpikingModel): readonly Run[] {
  const inhibitoryCount = Math.round(inhibitory.share * size);
  return [
    { name: "E", first: 0, size: size - inhibitoryCount },
    { name: "I", first: size - inhibitoryCount, size: inhibitoryCount },
  ].filter((run) => run.size > 0);
}

/** The neurons at rest, and the channels of input spikes. */
function withoutSynapses(model: SpikingModel): NetworkOptions {
  const { config, inputSize, inputSynapses, fractionBits } = model;
  const { timeStep, precision, seed, background, inhibitory, stateTimeConstant } = config;
  const populations: Record<string, PopulationOptions> = {};
  for (const { name, size } of runsOf(model))
    populations[name] = {
      size,
      neuron: name === "E" ? config.neuron : inhibitory.neuron,
      receptors: {
        excitatory: { timeConstant: config.synapses.excitatoryTimeConstant },
        inhibitory: { timeConstant: config.synapses.inhibitoryTimeConstant },
      },
      current: background.current,
      initialPotential: "rest",
      stateTimeConstant,
    };
  if (inputSize > 0 && inputSynapses) populations["input"] = { size: inputSize, neuron: null };
  return { kind: "network", timeStep, precision, seed, fractionBits, populations, projections: [] };
}

/**
 * A liquid as engines run it: with its synapses as they were drawn or learned, and rule 12's inputs
 * and background. @throws ArgumentError for delays that are too long beside so many neurons
 */
export function networkOf(model: SpikingModel): NetworkModel {
  const { config, size, precision, synapses, inputSynapses, initialPotential, ringRows } = model;
  const round = precision === "float32" ? Math.fround : (value: number) => value;
  const plan = planNetwork(withoutSynapses(model));
  const { cellBits, inputs } = plan;
  if (ringRows > 2 ** (32 - cellBits))
    throw new ArgumentError("synapses.delay", (ringRows - 1) * config.timeStep, `delays below ${2 ** (32 - cellBits)} steps here`);
  const tables = inputs > 0 ? [synapses, inputSynapses!] : [synapses];
  const count = tables.reduce((sum, { targets }) => sum + targets.length, 0);
  const offsets = new Uint32Array(size + inputs + 1);
  const [packed, units] = [new Uint32Array(count), new Int32Array(count)];
  let [firstSource, from] = [0, 0];
  for (const { offsets: own, targets, weights, delays } of tables) {
    for (let j = 0; j < own.length; j++) offsets[firstSource + j] = from + own[j]!;
    for (let s = 0; s < targets.length; s++) packed[from + s] = (delays[s]! << cellBits) | (targets[s]! + (weights[s]! < 0 ? size : 0));
    units.set(weights, from);
    firstSource += size;
    from += targets.length;
  }
  return {
    ...plan,
    kind: "network",
    ringRows,
    expectedSynapses: count,
    oneSign: false,
    synapses: { offsets, packed, cellBits, units, signs: new Int8Array(size + inputs).fill(1) },
    plastic: [],
    drive: initialValues(plan).drive,
    initialPotential,
    liquid: {
      inputWeights: model.inputWeights,
      current: round(config.background.current),
      key: seedKeys(config.seed).noise,
      // 21845 is the variance of a sum of four random bytes.
      noiseScale: round(config.background.deviation / Math.sqrt(21845)),
      backgroundChance: backgroundChance(config),
      backgroundUnits: backgroundUnits(config),
    },
  };
}

/** The synapses from one run to another: weights below 0 act on the inhibitory receptor. */
function projectionsOf(
  { offsets, targets, weights, delays }: SynapseTable,
  source: Run,
  target: Run,
  { fractionBits, config }: SpikingModel,
): ProjectionOptions[] {
  const lists: Record<"excitatory" | "inhibitory", number[][]> = { excitatory: [], inhibitory: [] };
  for (let j = 0; j < source.size; j++)
    for (let s = offsets[source.first + j]!; s < offsets[source.first + j + 1]!; s++) {
      const i = targets[s]! - target.first;
      if (i < 0 || i >= target.size) continue;
      const list = weights[s]! < 0 ? lists.inhibitory : lists.excitatory;
      list.push([j, i, weights[s]! / 2 ** fractionBits, delays[s]! * config.timeStep]);
    }
  return (["excitatory", "inhibitory"] as const)
    .filter((receptor) => lists[receptor].length > 0)
    .map((receptor) => ({
      ...{ from: source.name, to: target.name, receptor, weight: 0, delay: 0 },
      connect: { rule: "list", synapses: lists[receptor] },
    }));
}
