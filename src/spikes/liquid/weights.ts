// The weights between a spiking reservoir's neurons as a matrix in mV, and back: for rules that
// learn, and for your own networks.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { option, resolve } from "@spillway/core/options.js";
import { checkSparse, isSparse, type Matrix, type SparseMatrix, toSparse } from "@spillway/numerics";
import type { SpikingModel, SynapseTable } from "../../reservoir/spiking-model.js";
import { grouped } from "../grouped.js";
import { notNegative } from "../options.js";
import { stepsIn } from "../steps.js";
import { buildSpikingModel } from "./kind.js";
import { inUnits } from "./synapses.js";

/** W in mV, N x N in binary64: row r holds what reaches neuron r, column c what leaves neuron c. */
export function synapticWeights(model: SpikingModel): SparseMatrix<Float64Array> {
  const { size, synapses, fractionBits } = checkHas("model", model, "the model of a liquid", "config", "synapses");
  const { offsets, targets, weights } = synapses;
  const sources = new Uint32Array(targets.length);
  for (let source = 0; source < size; source++) sources.fill(source, offsets[source], offsets[source + 1]);
  const { offsets: rowOffsets, order } = grouped(targets, size);
  const values = Float64Array.from(order, (s) => weights[s]! / 2 ** fractionBits);
  return { rows: size, cols: size, rowOffsets, columns: order.map((s) => sources[s]!), values };
}

/** The options of `withSynapticWeights`. */
export const synapticWeightsTable = { delayMs: option(notNegative("ms"), 0, "The delay of synapses that are new.") };

/**
 * The model with other weights in mV (N x N), rounded to units of 2^-fractionBits. Synapses that
 * were there keep their delays; new ones have the delay of `delayMs` (default 0); those that are 0
 * or absent are gone.
 * @throws ArgumentError for a matrix of another shape, weights that are not finite, or sums that do
 * not fit 32 bits
 */
export function withSynapticWeights(
  model: SpikingModel,
  weights: Matrix | SparseMatrix,
  options: { readonly delayMs?: number | undefined } = {},
): SpikingModel {
  checkHas("model", model, "the model of a liquid", "config", "synapses");
  const { delayMs } = resolve(synapticWeightsTable, options);
  const { size, fractionBits, config } = model;
  const matrix = isSparse(weights) ? weights : toSparse(weights);
  if (matrix.rows !== size || matrix.cols !== size)
    throw new ArgumentError("weights", `${matrix.rows} x ${matrix.cols}`, `a ${size} x ${size} matrix`);
  checkSparse(matrix, "weights");
  const fresh = stepsIn(delayMs, config.timeStep);
  if (fresh > 0xfffe) throw new ArgumentError("delayMs", delayMs, `at most 65534 steps of ${config.timeStep} ms`);
  const delayOf = delaysOf(model.synapses);
  const bySource: { target: number; units: number; delay: number }[][] = Array.from({ length: size }, () => []);
  for (let target = 0; target < size; target++) {
    for (let p = matrix.rowOffsets[target]!; p < matrix.rowOffsets[target + 1]!; p++) {
      const [source, value] = [matrix.columns[p]!, matrix.values[p]!];
      if (!Number.isFinite(value)) throw new ArgumentError(`weights[${target}, ${source}]`, value, "finite numbers of mV");
      const units = inUnits(value, fractionBits, `weights[${target}, ${source}]`);
      if (units !== 0) bySource[source]!.push({ target, units, delay: delayOf.get(source * size + target) ?? fresh });
    }
  }
  const offsets = new Uint32Array(size + 1);
  const all = bySource.flatMap((list, source) => {
    list.sort((a, b) => a.delay - b.delay || a.target - b.target);
    offsets[source + 1] = offsets[source]! + list.length;
    return list;
  });
  const synapses: SynapseTable = {
    offsets,
    targets: Uint32Array.from(all, ({ target }) => target),
    weights: Int32Array.from(all, ({ units }) => units),
    delays: Uint16Array.from(all, ({ delay }) => delay),
  };
  return buildSpikingModel(config, { ...model, synapses });
}

function delaysOf({ offsets, targets, delays }: SynapseTable): Map<number, number> {
  const size = offsets.length - 1;
  const found = new Map<number, number>();
  for (let source = 0; source < size; source++) {
    for (let s = offsets[source]!; s < offsets[source + 1]!; s++) found.set(source * size + targets[s]!, delays[s]!);
  }
  return found;
}
