// A liquid as a network of populations: the same neurons and synapses in the other description.
import { ArgumentError } from "@spillway/core/errors.js";
import type { SpikingModel, SynapseTable } from "../../reservoir/spiking-model.js";
import type { NetworkOptions, PopulationOptions, ProjectionOptions } from "../network/config.js";
import { initialPotentials } from "./build.js";

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
  const { config, size, inputSize, synapses, inputSynapses, fractionBits } = model;
  const { timeStep, precision, seed, background, inhibitory, stateTimeConstant } = config;
  const drawn = "0: networks draw spikes and currents from outside by other counters";
  if (background.rate > 0) throw new ArgumentError("background.rate", background.rate, drawn);
  if (background.deviation > 0) throw new ArgumentError("background.deviation", background.deviation, drawn);
  if (inputSize > 0 && !inputSynapses) throw new ArgumentError("input.mode", config.input.mode, "spikes: currents have no synapses");
  const inhibitoryCount = Math.round(inhibitory.share * size);
  const runs: readonly Run[] = [
    { name: "E", first: 0, size: size - inhibitoryCount },
    { name: "I", first: size - inhibitoryCount, size: inhibitoryCount },
  ].filter((run) => run.size > 0);
  const potentials = initialPotentials(config);
  const populations: Record<string, PopulationOptions> = Object.fromEntries(
    runs.map(({ name, first, size: count }) => [
      name,
      {
        size: count,
        neuron: name === "E" ? config.neuron : inhibitory.neuron,
        receptors: {
          excitatory: { timeConstant: config.synapses.excitatoryTimeConstant },
          inhibitory: { timeConstant: config.synapses.inhibitoryTimeConstant },
        },
        current: background.current,
        initialPotential: potentials === "rest" ? potentials : Array.from({ length: count }, (_, k) => potentials(first + k)),
        stateTimeConstant,
      },
    ]),
  );
  const listed = (table: SynapseTable, source: Run) => runs.flatMap((target) => projectionsOf(table, source, target, model));
  const projections = runs.flatMap((source) => listed(synapses, source));
  if (inputSize > 0) {
    populations["input"] = { size: inputSize, neuron: null };
    projections.push(...listed(inputSynapses!, { name: "input", first: 0, size: inputSize }));
  }
  return { kind: "network", timeStep, precision, seed, fractionBits, populations, projections };
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
