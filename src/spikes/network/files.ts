// A network as a file: its description, which determines every synapse, and what it carries from
// step to step. Synapses are not written: they are drawn again.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { FormatError, readSafetensors, type SafetensorsTensor, writeSafetensors } from "@spillway/io";
import type { FloatArray } from "@spillway/numerics";
import type { NetworkOptions } from "./config.js";
import { type NetworkRunState, plasticLists, realLists, wholeLists } from "./run-state.js";
import { SpikingNetwork, type SpikingNetworkOptions, spikingNetworkTable } from "./spiking-network.js";

const kind = "spillway-network";

/** How a list is written. */
const typeOf = (data: FloatArray | Int32Array) => (data instanceof Int32Array ? "I32" : data instanceof Float32Array ? "F32" : "F64");

/** The lists of a state that a file has: those of plastic projections only if there are some. */
const writtenLists = (state: NetworkRunState) => [...realLists, ...wholeLists, ...plasticLists.filter((name) => state[name].length > 0)];

/** Writes a network's description and state to a safetensors file. @throws FileError */
export async function saveNetwork(path: string, network: SpikingNetwork): Promise<void> {
  checkHas("network", network, "a SpikingNetwork", "getState");
  const state = await network.getState();
  const tensors: Record<string, SafetensorsTensor> = {};
  for (const name of writtenLists(state)) {
    const data = state[name];
    tensors[name] = { dtype: typeOf(data), shape: [data.length], data };
  }
  await writeSafetensors(path, tensors, { kind, version: "1", step: String(state.step), config: JSON.stringify(network.config) });
}

/**
 * Draws the network of a file again, and puts it into its state: it goes on with the bits that the
 * saved one would have had.
 *
 * @throws FileError if the file cannot be read; FormatError if it is no network's; as
 * `SpikingNetwork.create`
 */
export async function loadNetwork(path: string, options: SpikingNetworkOptions = {}): Promise<SpikingNetwork> {
  resolve(spikingNetworkTable, options);
  const { tensors, metadata } = await readSafetensors(path);
  const wrong = (what: string, cause?: unknown) => new FormatError("safetensors", path, what, {}, cause);
  if (metadata["kind"] !== kind) throw wrong(`this is no network; its metadata have no kind "${kind}"`);
  if (metadata["version"] !== "1") throw wrong(`networks of version ${metadata["version"]} are not known here, only 1`);
  const step = Number(metadata["step"]);
  const config = parsed(metadata["config"] ?? "", wrong);
  const network = await SpikingNetwork.create(config, options);
  try {
    const start = await network.getState();
    const lists = writtenLists(start).map((name) => {
      const [tensor, dtype] = [tensors[name], typeOf(start[name])];
      if (tensor?.dtype !== dtype) throw wrong(`the tensor "${name}" is ${tensor ? tensor.dtype : "missing"}; it takes ${dtype}`);
      return [name, tensor.data];
    });
    await network.setState({ ...start, ...Object.fromEntries(lists), step });
    return network;
  } catch (error) {
    await network.dispose();
    throw error instanceof ArgumentError ? wrong(error.message, error) : error;
  }
}

function parsed(text: string, wrong: (what: string, cause?: unknown) => Error): NetworkOptions {
  try {
    return JSON.parse(text) as NetworkOptions;
  } catch (error) {
    throw wrong("its description is no JSON", error);
  }
}
