// Ising models: what they are, their energy, and what a spin feels. Nothing here draws.
import { checkHas } from "@spillway/core/checks.js";
import { ArgumentError } from "@spillway/core/errors.js";
import { number, whole } from "@spillway/core/options.js";

/**
 * n spins s_i of -1 or 1 with the energy
 *
 *     E = -sum over pairs of J_ij s_i s_j - sum over i of h_i s_i
 */
export interface IsingModel {
  /** n. */
  readonly spins: number;
  /** [i, j, J_ij] of every pair that is coupled, each once. */
  readonly couplings: readonly (readonly [number, number, number])[];
  /** h, n values; left out, zeros. */
  readonly fields?: ArrayLike<number> | undefined;
}

/** A checked model by spins: each one's neighbours, in rising order, and their couplings. */
export interface Neighbourhoods {
  readonly spins: number;
  /** Where the neighbours of a spin begin, n + 1 values. */
  readonly offsets: Uint32Array;
  readonly neighbours: Uint32Array;
  readonly couplings: Float64Array;
  readonly fields: Float64Array;
}

/** @throws ArgumentError for couplings that are of no two different spins, or come twice */
export function neighbourhoodsOf(model: IsingModel): Neighbourhoods {
  const { spins, couplings, fields } = checkHas("model", model, "a model of spins and couplings");
  whole({ atLeast: 1, atMost: 2 ** 24 }).read(spins, "model.spins");
  if (!Array.isArray(couplings)) throw new ArgumentError("model.couplings", couplings, "a list of [i, j, J]");
  if (fields !== undefined && fields.length !== spins)
    throw ArgumentError.shape(`model.fields holds ${fields.length} values; ${spins} spins take as many`, { field: "model.fields" });
  const own = Float64Array.from({ length: spins }, (_, i) => number().read(fields?.[i] ?? 0, `model.fields[${i}]`));
  const rows = Array.from({ length: spins }, (): Map<number, number> => new Map());
  for (const [e, coupling] of couplings.entries()) {
    const path = `model.couplings[${e}]`;
    const [i, j, value] = Array.isArray(coupling) ? (coupling as readonly unknown[]) : [];
    const isSpin = (v: unknown): v is number => Number.isInteger(v) && (v as number) >= 0 && (v as number) < spins;
    if (!isSpin(i) || !isSpin(j) || i === j || rows[i]!.has(j))
      throw new ArgumentError(path, `[${[i, j].join(", ")}, ...]`, `two different spins from 0 to ${spins - 1} and J, each pair once`);
    const read = number().read(value, `${path}[2]`);
    rows[i]!.set(j, read);
    rows[j]!.set(i, read);
  }
  const offsets = new Uint32Array(spins + 1);
  rows.forEach(({ size }, i) => {
    offsets[i + 1] = offsets[i]! + size;
  });
  const neighbours = new Uint32Array(offsets[spins]!);
  const values = new Float64Array(offsets[spins]!);
  rows.forEach((row, i) => {
    [...row.keys()]
      .sort((a, b) => a - b)
      .forEach((j, m) => {
        neighbours[offsets[i]! + m] = j;
        values[offsets[i]! + m] = row.get(j)!;
      });
  });
  return { spins, offsets, neighbours, couplings: values, fields: own };
}

/** h_i + sum over j of J_ij s_j, neighbours rising; `first` is where the spins begin. */
export function fieldAt({ offsets, neighbours, couplings, fields }: Neighbourhoods, s: ArrayLike<number>, i: number, first = 0): number {
  let sum = fields[i]!;
  for (let m = offsets[i]!; m < offsets[i + 1]!; m++) sum += couplings[m]! * s[first + neighbours[m]!]!;
  return sum;
}

/** E of the spins from `first` on. */
export function energyAt(model: Neighbourhoods, s: ArrayLike<number>, first = 0): number {
  let sum = 0;
  // Half of what couples, and all of the field: s_i (h_i + f_i) / 2.
  for (let i = 0; i < model.spins; i++) sum += s[first + i]! * (model.fields[i]! + fieldAt(model, s, i, first));
  return -0.5 * sum;
}

/**
 * The energy of n spins. @throws ArgumentError for a malformed model, or another number of spins
 */
export function isingEnergy(model: IsingModel, spins: ArrayLike<number>): number {
  const checked = neighbourhoodsOf(model);
  if (spins.length !== checked.spins) throw ArgumentError.shape(`spins holds ${spins.length} values; the model has ${checked.spins}`);
  return energyAt(checked, spins);
}
