// Notices reservoirs whose neurons sit at the ends of tanh, where one input looks like another. It
// changes nothing and stops nothing.
import { warnOnce } from "@spillway/core/warning.js";
import { Matrix } from "@spillway/numerics";
import { GramAccumulator, type RidgeAccumulator } from "../../readout/index.js";
import type { AnyModel } from "../../reservoir/index.js";

/** Beyond this tanh changes by less than 0.02 for one unit of its argument. */
const bound = 0.99;

/** How many of the states that it was given are beyond +-0.99. */
export class SaturationCount {
  #beyond = 0;
  #all = 0;

  add(states: ArrayLike<number>): void {
    for (let i = 0; i < states.length; i++) if (Math.abs(states[i]!) > bound) this.#beyond++;
    this.#all += states.length;
  }

  /** From 0 to 1. */
  get share(): number {
    return this.#all === 0 ? 0 : this.#beyond / this.#all;
  }
}

/**
 * The share of neurons whose root mean square over training rows is above 0.99, by the sums that
 * were made of those rows.
 */
export function shareOfSums(sink: RidgeAccumulator): number {
  const { features, shape, rows, featureCount } = sink;
  const { stateSize } = shape;
  let squares: (i: number) => number;
  if (sink instanceof GramAccumulator) {
    const sums = sink.squares();
    squares = (i) => sums[i]!;
  } else {
    // X = Q R: the squares of a column of R sum up to those of X's.
    const { data } = sink.factor().triangle();
    squares = (i) => {
      let sum = 0;
      for (let j = 0; j <= i; j++) sum += data[j * featureCount + i]! ** 2;
      return sum;
    };
  }
  let beyond = 0;
  for (let i = 0; i < stateSize; i++) {
    const isSquared = features.state === "squareHalf" && i % 2 === 1;
    if (squares(i) / rows > bound ** (isSquared ? 4 : 2)) beyond++;
  }
  return beyond / stateSize;
}

/**
 * Warns, once a process, if more than half of the states of a reservoir with tanh are beyond
 * +-0.99, and names the column of the inputs with the largest root mean square.
 */
export function warnWhereSaturated(model: AnyModel, share: number, inputs: readonly unknown[]): void {
  const parts = model.kind === "composite" ? model.parts : [model];
  if (share <= 0.5 || parts.some((part) => part.kind !== undefined || part.activation !== "tanh")) return;
  warnOnce(
    "SpillwaySaturationWarning",
    `${Math.round(100 * share)} % of this reservoir's states are beyond +-0.99, where tanh is flat and inputs look alike: ${largestOf(inputs.filter((one) => one instanceof Matrix))}` +
      "standardise the inputs or take a smaller inputScaling, and look for a large bias or spectralRadius",
  );
}

/** The column with the largest root mean square, in words; nothing without columns. */
function largestOf(inputs: readonly Matrix[]): string {
  const cols = inputs[0]?.cols ?? 0;
  const squares = new Float64Array(cols);
  let rows = 0;
  for (const one of inputs) {
    for (let i = 0; i < one.data.length; i++) squares[i % cols]! += one.data[i]! ** 2;
    rows += one.rows;
  }
  if (cols === 0 || rows === 0) return "";
  const column = squares.reduce((best, square, c) => (square > squares[best]! ? c : best), 0);
  return `input ${column} drives it most, with a root mean square of ${Math.sqrt(squares[column]! / rows).toPrecision(3)}; `;
}
