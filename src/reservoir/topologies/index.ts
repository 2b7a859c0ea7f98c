// The list of topologies. A new one is one file and one line here.
import { ArgumentError, under } from "@spillway/core/errors.js";
import { callback } from "@spillway/core/options.js";
import { Registry } from "@spillway/core/registry.js";
import { checkSparse, firstNonFinite } from "@spillway/numerics";
import { blockDiagonal } from "./block-diagonal.js";
import { custom } from "./custom.js";
import { cycleWithJumps } from "./cycle-with-jumps.js";
import { delayLine } from "./delay-line.js";
import { erdosRenyi } from "./erdos-renyi.js";
import { fixedInDegree } from "./fixed-in-degree.js";
import { orthogonal } from "./orthogonal.js";
import { ring } from "./ring.js";
import { smallWorld } from "./small-world.js";
import type { Topology, TopologyConfig, TopologyContext, TopologyMatrix, TopologySize } from "./topology.js";

export type { TopologyConfig } from "./topology.js";

/** Every topology, by name. */
export const topologies = new Registry<Topology>(
  {
    kind: "topology",
    register: "registerTopology",
    needs: {
      expectedNonzeros: callback("a function of options and { size, connectionProbability }"),
      build: callback("a function of options and context that gives { matrix, radius }"),
    },
  },
  [erdosRenyi, fixedInDegree, ring, cycleWithJumps, delayLine, smallWorld, orthogonal, blockDiagonal, custom],
);

/**
 * Registers a topology under its name, for `create`, experiment files, model files and the lab.
 * @throws ArgumentError for a name that is taken or malformed, or a field that is missing
 */
export function registerTopology<Options>(topology: Topology<Options>): void {
  topologies.register(topology);
}

/** Refuses options that do not go with N. @throws ArgumentError */
export function checkTopology(config: TopologyConfig, size: number): void {
  under("topology", () => topologies.get(config.type).check?.(config, size));
}

/** Connections that a description will have, on average over seeds. */
export function expectedNonzeros({ topology, ...of }: TopologySize & { readonly topology: TopologyConfig }): number {
  const count = topologies.get(topology.type).expectedNonzeros(topology, of);
  if (count >= 0) return Math.min(count, of.size ** 2);
  throw new ArgumentError(`expectedNonzeros of the topology ${topology.type}`, count, "a number of at least 0");
}

/** Whether connectionProbability changes how many connections a topology has. */
export function takesProbability(of: Pick<TopologySize, "size"> & { readonly topology: TopologyConfig }): boolean {
  const connections = (connectionProbability: number) => expectedNonzeros({ ...of, connectionProbability });
  return connections(0.1) !== connections(0.2);
}

/** Draws the unscaled matrix of a topology. @throws ArgumentError if it gives none of N x N */
export function buildTopology(config: TopologyConfig, context: TopologyContext): TopologyMatrix {
  const built = topologies.get(config.type).build(config, context);
  const { size } = context;
  const name = `the matrix of the topology ${config.type}`;
  const { matrix, radius } = built ?? {};
  if (matrix?.rows !== size || matrix.cols !== size) throw new ArgumentError(name, matrix, `a sparse ${size} x ${size} matrix`);
  if (!builtIn.has(config.type)) {
    const { rowOffsets, columns, values } = matrix;
    if (!(rowOffsets instanceof Uint32Array && columns instanceof Uint32Array && values instanceof Float64Array))
      throw new ArgumentError(name, matrix, "rowOffsets and columns as Uint32Array, values as Float64Array");
    checkSparse(matrix, name);
    const bad = firstNonFinite(values);
    if (bad >= 0) throw new ArgumentError(`value ${bad} of ${name}`, values[bad], "a finite number");
  }
  if (radius !== undefined && !(radius >= 0 && radius < Infinity))
    throw new ArgumentError(`the radius of the topology ${config.type}`, radius, "a finite number of at least 0, or nothing");
  return built;
}

const builtIn: ReadonlySet<string> = new Set(topologies.names());
