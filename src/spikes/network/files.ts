// A network as a file: its description, which determines every synapse, and what it carries from
// step to step. Synapses are not written: they are drawn again.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { FormatError, readSafetensors, type SafetensorsTensor, writeSafetensors } from "@spillway/io";
import type { FloatArray } from "@spillway/numerics";
import type { NetworkOptions } from "./config.js";
import type { NetworkRunState } from "./session.js";
import { SpikingNetwork, type SpikingNetworkOptions, spikingNetworkTable } from "./spiking-network.js";

const kind = "spillway-network";
const lists = ["potential", "recovery", "currents", "filtered"] as const;
const wholes = ["held", "pending"] as const;
/** What only networks with plastic projections carry. */
const plasticLists = ["plastic", "resources"] as const;

/** Writes a network's description and state to a safetensors file. @throws FileError */
export async function saveNetwork(path: string, network: SpikingNetwork): Promise<void> {
  checkHas("network", network, "a SpikingNetwork", "getState");
  const state = await network.getState();
  const tensors: Record<string, SafetensorsTensor> = {};
  for (const name of lists) {
    const data = state[name];
    tensors[name] = { dtype: data instanceof Float32Array ? "F32" : "F64", shape: [data.length], data };
  }
  for (const name of wholes) tensors[name] = { dtype: "I32", shape: [state[name].length], data: state[name] };
  if (state.fired.length > 0) {
    tensors["fired"] = { dtype: "I32", shape: [state.fired.length], data: state.fired };
    for (const name of plasticLists) {
      const data = state[name];
      if (data.length > 0) tensors[name] = { dtype: data instanceof Float32Array ? "F32" : "F64", shape: [data.length], data };
    }
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
    const type = network.config.precision === "float32" ? "F32" : "F64";
    const list = (name: string, dtype: string) => {
      const tensor = tensors[name];
      if (tensor?.dtype !== dtype) throw wrong(`the tensor "${name}" is ${tensor ? tensor.dtype : "missing"}; it takes ${dtype}`);
      return tensor.data;
    };
    const start = await network.getState();
    const carried = (name: "fired" | (typeof plasticLists)[number]) => {
      if (start[name].length === 0) return start[name];
      return list(name, name === "fired" ? "I32" : name === "resources" ? "F64" : type);
    };
    const state = {
      step,
      ...Object.fromEntries(lists.map((name) => [name, list(name, type) as FloatArray])),
      ...Object.fromEntries(wholes.map((name) => [name, list(name, "I32") as Int32Array])),
      ...Object.fromEntries((["fired", ...plasticLists] as const).map((name) => [name, carried(name)])),
    } as unknown as NetworkRunState;
    await network.setState(state);
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
