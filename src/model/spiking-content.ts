// A spiking reservoir as tensors and notes, and back. What else a model file holds is in
// content.ts.
import { firstFall, type Matrix } from "@spillway/numerics";
import type { NetworkState, SpikingModel, SynapseTable } from "../reservoir/index.js";
import { floats, type MutableContent } from "./mutable-content.js";
import { stableJson } from "./stable-json.js";
import type { TensorReader } from "./tensor-reader.js";

/**
 * Tensors `${prefix}synapses.offsets`, `.targets`, `.weights` (whole units) and `.delays` (steps),
 * the same of `inputSynapses` for input of spikes or
 * `inputWeights` (N x I) for input of currents, and `initialPotential` (N); note
 * `${prefix}reservoir` with the configuration. All else follows from that.
 */
export function putSpiking(content: MutableContent, prefix: string, model: SpikingModel): void {
  const { synapses, inputSynapses, inputWeights, initialPotential, size, config } = model;
  putTable(content, `${prefix}synapses`, synapses);
  if (inputSynapses) putTable(content, `${prefix}inputSynapses`, inputSynapses);
  if (inputWeights) content.tensors[`${prefix}inputWeights`] = floats(inputWeights.data, [size, inputWeights.cols]);
  content.tensors[`${prefix}initialPotential`] = floats(initialPotential);
  content.metadata[`${prefix}reservoir`] = stableJson({ config });
}

/** @throws ModelFileError if a tensor does not describe a network of this configuration */
export async function getSpiking(reader: TensorReader, prefix: string, note: { readonly config: unknown }): Promise<SpikingModel> {
  const [{ resolveSpikingConfig }, { buildSpikingModel }] = await Promise.all([
    import("../spikes/liquid/schema.js"),
    import("../spikes/liquid/kind.js"),
  ]);
  return reader.check(`reservoir "${prefix}reservoir"`, () => {
    const config = resolveSpikingConfig(note.config as Parameters<typeof resolveSpikingConfig>[0]);
    const { size, inputSize, precision, input } = config;
    return buildSpikingModel(config, {
      synapses: getTable(reader, `${prefix}synapses`, size, size),
      ...(input.mode === "spikes"
        ? { inputSynapses: getTable(reader, `${prefix}inputSynapses`, inputSize, size) }
        : { inputWeights: reader.matrix(`${prefix}inputWeights`, size, inputSize, precision) as Matrix }),
      initialPotential: reader.vector(`${prefix}initialPotential`, size, precision),
    });
  });
}

function putTable({ tensors }: MutableContent, name: string, { offsets, targets, weights, delays }: SynapseTable): void {
  tensors[`${name}.offsets`] = { dtype: "U32", shape: [offsets.length], data: offsets };
  tensors[`${name}.targets`] = { dtype: "U32", shape: [targets.length], data: targets };
  tensors[`${name}.weights`] = { dtype: "I32", shape: [weights.length], data: weights };
  tensors[`${name}.delays`] = { dtype: "U16", shape: [delays.length], data: delays };
}

function getTable(reader: TensorReader, name: string, sources: number, size: number): SynapseTable {
  const offsets = reader.indices(`${name}.offsets`, sources + 1);
  const targets = reader.indices(`${name}.targets`);
  const weights = reader.integers<Int32Array>(`${name}.weights`, "I32", targets.length);
  const delays = reader.integers<Uint16Array>(`${name}.delays`, "U16", targets.length);
  if (offsets[0] !== 0 || offsets[sources] !== targets.length)
    throw reader.error(
      `its tensor "${name}.offsets" goes from ${offsets[0]} to ${offsets[sources]}; by its targets it takes 0 to ${targets.length}`,
    );
  const fall = firstFall(offsets);
  if (fall >= 0) throw reader.error(`its tensor "${name}.offsets" falls after source ${fall}; it takes rising offsets`);
  for (let source = 0; source < sources; source++) {
    for (let s = offsets[source]!; s < offsets[source + 1]!; s++)
      checkSynapse(reader, name, { offsets, targets, weights, delays }, source, s, size);
  }
  return { offsets, targets, weights, delays };
}

function checkSynapse(
  reader: TensorReader,
  name: string,
  { offsets, targets, weights, delays }: SynapseTable,
  source: number,
  s: number,
  size: number,
): void {
  const [target, delay] = [targets[s]!, delays[s]!];
  if (target >= size) throw reader.error(`its tensor "${name}.targets" holds ${target} at ${s}; it takes neurons below ${size}`);
  if (Math.abs(weights[s]!) > 2 ** 24)
    throw reader.error(`its tensor "${name}.weights" holds ${weights[s]} at ${s}; it takes at most 2^24 units`);
  if (delay > 0xfffe) throw reader.error(`its tensor "${name}.delays" holds ${delay} at ${s}; it takes at most 65534 steps`);
  const isFirst = s === offsets[source];
  if (isFirst || delay > delays[s - 1]! || (delay === delays[s - 1] && target > targets[s - 1]!)) return;
  throw reader.error(`its synapses "${name}" of source ${source} are out of order at ${s}; they take rising delays, then targets`);
}

/** Tensors `state.network.*`: what a spiking network carries besides its filtered spikes. */
export function putNetwork(
  { tensors }: MutableContent,
  prefix: string,
  { potential, recovery, excitatory, inhibitory, held, pending }: NetworkState,
): void {
  for (const [name, data] of Object.entries({ potential, recovery, excitatory, inhibitory }))
    tensors[`${prefix}state.network.${name}`] = floats(data);
  for (const [name, data] of Object.entries({ held, pending }))
    tensors[`${prefix}state.network.${name}`] = { dtype: "I32", shape: [data.length], data };
}

/** @throws ModelFileError if the state is not one of this network */
export function getNetwork(reader: TensorReader, prefix: string, { size, precision, ringRows, config }: SpikingModel): NetworkState {
  const list = (name: string, length = size) => reader.vector(`${prefix}state.network.${name}`, length, precision);
  const held = reader.integers<Int32Array>(`${prefix}state.network.held`, "I32", size);
  const bad = held.findIndex((steps) => steps < 0);
  if (bad >= 0) throw reader.error(`its tensor "${prefix}state.network.held" holds ${held[bad]} at ${bad}; it takes numbers of at least 0`);
  return {
    potential: list("potential"),
    recovery: list("recovery", config.neuron.type === "leakyIntegrateAndFire" ? 0 : size),
    excitatory: list("excitatory"),
    inhibitory: list("inhibitory"),
    held,
    pending: reader.integers<Int32Array>(`${prefix}state.network.pending`, "I32", ringRows * 2 * size),
  };
}
