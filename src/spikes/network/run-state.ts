// What a network carries from step to step: its lists, those of plastic projections at the start,
// and what a state must be before a network is put into it. Engines count on that, and do not look.
import { ArgumentError } from "@spillway/core/errors.js";
import { allocate, type FloatArray } from "@spillway/numerics";
import type { NetworkModel, NetworkPlan, NeuronRange, PlannedSpikeTiming, PlasticTable } from "./plan.js";

/** Lists of a state in the network's precision, and in whole numbers. */
export const realLists = ["potential", "recovery", "currents", "filtered"] as const;
export const wholeLists = ["held", "pending"] as const;
/** Lists that are empty without plastic projections that need them. */
export const plasticLists = ["fired", "plastic", "resources"] as const;

/** What a network carries from step to step. Row d of the pending input arrives d + 1 steps on. */
export interface NetworkRunState {
  /** Steps since the start: the counter of what is drawn. */
  readonly step: number;
  /** N values, from rest. */
  readonly potential: FloatArray;
  /** Rise of an adaptive threshold, or Izhikevich's recovery: N values, 0 for plain neurons. */
  readonly recovery: FloatArray;
  /** Currents of the receptors, R x N, and behind them as many rises if some are alpha-shaped. */
  readonly currents: FloatArray;
  /** Steps for which a potential is still held, N values. */
  readonly held: Int32Array;
  /** ringRows x (R N), whole units. */
  readonly pending: Int32Array;
  /** Filtered spikes, N values: 0 in populations that keep none. */
  readonly filtered: FloatArray;
  /**
   * How often each source fired, now and at each earlier time that plastic projections look back
   * to: rows of N + I values, newest first. Empty, as the two lists behind it, without such
   * projections.
   */
  readonly fired: Int32Array;
  /**
   * Of each projection with spike-timing-dependent plasticity: sizes of weights in units, then
   * traces of its sources, a row for each time of `fired`, then traces of its targets. If its delay
   * is dendritic, one row of sources and as many of targets.
   */
  readonly plastic: FloatArray;
  /** Of each projection with short-term plasticity: u, x and the last step of its sources. */
  readonly resources: Float64Array;
}

/** What plastic projections carry. */
export type PlasticState = Pick<NetworkRunState, "fired" | "plastic" | "resources">;

/** The synapses of a projection with spike-timing-dependent plasticity. */
export type TimingTable = PlasticTable & { readonly projection: { readonly plasticity: PlannedSpikeTiming } };

/** Times whose spikes are kept: this one, the last, and as far back as delays reach. */
export function keptTimes({ historySteps }: { readonly historySteps: number }): number {
  return 1 + Math.max(1, historySteps);
}

type PlasticPlan = NetworkPlan & Partial<Pick<NetworkModel, "plastic">>;

/** What plastic projections carry before the first step; empty lists if there are none. */
export function initialPlasticity(model: PlasticPlan): PlasticState {
  const state = emptyPlasticity(model);
  for (const { table, weights } of timingWeights(model, model.plastic ?? [], state.plastic)) {
    const { least, most } = table.projection.plasticity;
    for (let s = 0; s < weights.length; s++) weights[s] = Math.max(least, Math.min(most, table.units[s]!));
  }
  for (const { first, size } of shortTermRanges(model)) state.resources.fill(1, first + size, first + 2 * size);
  return state;
}

/** Zeros in place of what plastic projections carry. */
export function emptyPlasticity(model: PlasticPlan): PlasticState {
  const { plastic = [], precision, size, inputs, projections } = model;
  const isPlastic = projections.some(({ plasticity }) => plasticity !== null);
  const values = plastic.filter(isTiming).reduce((sum, table) => sum + valuesOf(table, model), 0);
  return {
    fired: new Int32Array(isPlastic ? keptTimes(model) * (size + inputs) : 0),
    plastic: allocate(precision, values),
    resources: new Float64Array(shortTermRanges(model).reduce((sum, { size }) => sum + 3 * size, 0)),
  };
}

/** Parts of `resources`, of each projection with short-term plasticity: 3 numbers a source. */
export function shortTermRanges({ projections }: NetworkPlan): NeuronRange[] {
  let next = 0;
  return projections.flatMap(({ plasticity, source: { size } }) => {
    if (plasticity?.kind !== "shortTerm") return [];
    next += 3 * size;
    return [{ first: next - 3 * size, size }];
  });
}

/** Numbers of a projection in `plastic`: weights, traces of sources, of targets. */
function valuesOf(table: TimingTable, model: NetworkPlan): number {
  const { source, target } = table.projection;
  const [ofSources, ofTargets] = traceRows(table, model);
  return table.packed.length + ofSources * source.size + ofTargets * target.size;
}

/** The weights in `plastic`, as parts of it. */
function* timingWeights(plan: NetworkPlan, tables: readonly PlasticTable[], values: FloatArray) {
  let at = 0;
  for (const table of tables.filter(isTiming)) {
    yield { table, weights: values.subarray(at, at + table.packed.length) };
    at += valuesOf(table, plan);
  }
}

/**
 * Of how many times traces of sources and of targets are kept: of all those whose spikes are on
 * their way to the synapse.
 */
export function traceRows({ projection }: TimingTable, model: NetworkPlan): readonly [number, number] {
  const rows = keptTimes(model);
  return projection.plasticity.isDendritic ? [1, rows] : [rows, 1];
}

/** The first weight of a state that is beyond the bounds of its projection, if there is one. */
export function weightOutside(plan: NetworkPlan, tables: readonly PlasticTable[], values: FloatArray): number | undefined {
  for (const { table, weights } of timingWeights(plan, tables, values)) {
    const { least, most } = table.projection.plasticity;
    const found = weights.find((weight) => !(weight >= least && weight <= most));
    if (found !== undefined) return found;
  }
  return undefined;
}

export function isTiming(table: PlasticTable): table is TimingTable {
  return table.projection.plasticity?.kind === "stdp";
}

/** How often a channel of inputs can spike in a step. */
export const mostSpikes = 65_535;

/**
 * @param start a state of the network, for the lengths
 * @throws ArgumentError for a state in which this network cannot be
 */
export function checkState(state: NetworkRunState, start: NetworkRunState, plan: NetworkPlan, plastic: readonly PlasticTable[]): void {
  if (typeof state !== "object" || state === null) throw new ArgumentError("state", state, "what getState() gives");
  const { step } = state;
  if (!Number.isInteger(step) || step < 0 || step >= 2 ** 32) throw new ArgumentError("state.step", step, "a whole number of 32 bits");
  for (const name of [...realLists, ...wholeLists, ...plasticLists]) {
    const values: unknown = state[name];
    const { length } = start[name];
    if (!ArrayBuffer.isView(values)) throw new ArgumentError(`state.${name}`, values, `an array of ${length} values`);
    if (state[name].length !== length) throw new ArgumentError(`state.${name}`, state[name].length, `${length} values`);
  }
  for (const name of [...realLists, "plastic", "resources"] as const) {
    const at = state[name].findIndex((value) => !Number.isFinite(value));
    if (at >= 0) throw new ArgumentError(`state.${name}[${at}]`, state[name][at], "a finite number");
  }
  for (const { first, size, neuron } of plan.populations) within(state.held, first, size, neuron.refractorySteps, "held");
  const sources = plan.size + plan.inputs;
  for (let row = 0; row < state.fired.length; row += sources) {
    within(state.fired, row, plan.size, 1, "fired");
    within(state.fired, row + plan.size, plan.inputs, mostSpikes, "fired");
  }
  const outside = weightOutside(plan, plastic, state.plastic);
  if (outside !== undefined) throw new ArgumentError("state.plastic", outside, "weights in units within the bounds of their plasticity");
  for (const { first, size } of shortTermRanges(plan)) {
    within(state.resources, first, 2 * size, 1, "resources");
    within(state.resources, first + 2 * size, size, step, "resources");
  }
}

/** @throws ArgumentError unless all of these values lie between 0 and `most` */
function within(values: ArrayLike<number>, first: number, count: number, most: number, name: string): void {
  for (let k = first; k < first + count; k++)
    if (!(values[k]! >= 0 && values[k]! <= most)) throw new ArgumentError(`state.${name}[${k}]`, values[k], `a number from 0 to ${most}`);
}
