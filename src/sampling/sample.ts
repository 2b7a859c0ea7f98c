// Samples of an Ising model, and of one in a transverse field by path integrals.
import { ArgumentError } from "@spillway/core/errors.js";
import { given, type InputOf, number, option, resolve, seed, whole } from "@spillway/core/options.js";
import { Matrix, portableExp, portableLog, seedKeys } from "@spillway/numerics";
import { type WorkOptions, WorkPacer } from "../reservoir/index.js";
import { workTable } from "../reservoir/work.js";
import { Chains } from "./chains.js";
import { energyAt, type IsingModel, neighbourhoodsOf } from "./ising.js";

export const isingSampleTable = {
  ...workTable,
  /** One over the temperature. */
  beta: given(number({ atLeast: 0 }), "One over the temperature."),
  /** Sweeps over all spins. Default 1000. */
  sweeps: option(whole({ atLeast: 1, atMost: 2 ** 32 - 1 }), 1000, "Sweeps over all spins."),
  /** Sweeps before the first sample. Default 100. */
  washout: option(whole(), 100, "Sweeps before the first sample."),
  /** A sample is kept after every so many sweeps. Default 1. */
  every: option(whole({ atLeast: 1 }), 1, "A sample is kept after every so many sweeps."),
  /** Independent chains. Default 1. */
  chains: option(whole({ atLeast: 1, atMost: 2 ** 24 }), 1, "Independent chains."),
  /** Draws first spins and flips. Default "spillway". */
  seed: option(seed, "spillway", "Draws first spins and flips."),
};

/** How an Ising model is sampled. */
export interface IsingSampleOptions extends WorkOptions, InputOf<typeof isingSampleTable> {}

/** Samples of a model. */
export interface IsingSamples {
  /** Samples x n, -1 and 1: all of the first chain, then of the next. */
  readonly spins: Matrix<Float32Array>;
  /** The energy of each sample. */
  readonly energies: Float64Array;
}

/**
 * Samples of P(s) ~ exp(-beta E(s)) by heat-bath sweeps: spin after spin is drawn anew by its law
 * given all others. Portable arithmetic: the same samples everywhere.
 *
 * Source: R. J. Glauber 1963, "Time-dependent statistics of the Ising model", J. Math. Phys. 4.
 * @throws ArgumentError for a malformed model or options, WorkInterruptedError
 */
export async function sampleIsing(model: IsingModel, options: IsingSampleOptions): Promise<IsingSamples> {
  const {
    beta,
    sweeps,
    washout,
    every,
    chains: count,
    seed: drawnFrom,
    signal,
    onProgress,
  } = resolve(isingSampleTable, options, "sampleIsing");
  if (washout >= sweeps) throw new ArgumentError("washout", washout, `fewer than the ${sweeps} sweeps`);
  const checked = neighbourhoodsOf(model);
  const each = Math.floor((sweeps - washout) / every);
  const spins = Matrix.zeros(count * each, checked.spins, "float32") as Matrix<Float32Array>;
  const energies = new Float64Array(count * each);
  const chains = new Chains(checked, count, 1, seedKeys(drawnFrom).noise);
  const pacer = new WorkPacer({ signal, onProgress }, sweeps);
  for (let t = 0; t < sweeps; t++) {
    const kept = t >= washout && (t - washout + 1) % every === 0;
    for (let chain = 0; chain < count; chain++) {
      chains.sweep(t, chain, { space: beta, time: 0 });
      if (pacer.due()) await pacer.pause(t);
      if (!kept) continue;
      const row = chain * each + (t - washout + 1) / every - 1;
      spins.row(row).set(chains.spins.subarray(chain * checked.spins, (chain + 1) * checked.spins));
      energies[row] = energyAt(checked, chains.spins, chain * checked.spins);
    }
  }
  pacer.finish();
  return { spins, energies };
}

const { every: _every, ...sharedTable } = isingSampleTable;

export const transverseFieldTable = {
  ...sharedTable,
  beta: given(number({ above: 0 }), "One over the temperature."),
  /** Gamma, the transverse field. */
  transverseField: given(number({ above: 0 }), "Gamma, the transverse field."),
  /** P, slices of imaginary time. Default 16. */
  slices: option(whole({ atLeast: 2, atMost: 2 ** 20 }), 16, "P, slices of imaginary time."),
};

/** How a model in a transverse field is sampled. */
export interface TransverseFieldOptions extends Omit<IsingSampleOptions, "every">, InputOf<typeof transverseFieldTable> {}

/** What sampling says of a model in a transverse field. */
export interface TransverseFieldEstimate {
  /** <H>. */
  readonly energy: number;
  /** Its standard error, of 20 blocks of sweeps; undefined for fewer sweeps. */
  readonly error: number | undefined;
  /** <X_i>, the mean over all spins. */
  readonly transverseMagnetisation: number;
}

/**
 * The energy at temperature 1 / beta of
 *
 *     H = -sum over pairs of J_ij Z_i Z_j - sum of h_i Z_i - Gamma sum of X_i
 *
 * by path-integral Monte Carlo: P slices of classical spins, coupled by beta J / P within and by .5
 * ln coth(beta Gamma / P) between slices. Runs of slices of a spin are drawn as one. What it tends
 * to differs from the exact energy by Trotter's error, of order (beta / P)^2: a ring of 8 with J =
 * Gamma = 1 and beta = 2 gives -1.306, -1.269 and
 * -1.259 a spin for P = 8, 16, 32, and -1.2555 without it.
 *
 * Sources: M. Suzuki 1976, Prog. Theor. Phys. 56; R. Martoňák, G. E. Santoro, E. Tosatti 2002,
 * "Quantum annealing by the path-integral Monte Carlo method", Phys. Rev. B 66, 094203; H. Rieger,
 * N. Kawashima 1999, "Application of a continuous time cluster algorithm to the two-dimensional
 * random quantum Ising ferromagnet", Eur. Phys. J. B 9 (runs of slices).
 * @throws ArgumentError for a malformed model or options, WorkInterruptedError
 */
export async function sampleTransverseField(model: IsingModel, options: TransverseFieldOptions): Promise<TransverseFieldEstimate> {
  const asked = resolve(transverseFieldTable, options, "sampleTransverseField");
  const { beta, transverseField: gamma, slices, sweeps, washout, chains: count, seed: drawnFrom, signal, onProgress } = asked;
  if (washout >= sweeps) throw new ArgumentError("washout", washout, `fewer than the ${sweeps} sweeps`);
  const checked = neighbourhoodsOf(model);
  const { spins: size } = checked;
  const chains = new Chains(checked, count, slices, seedKeys(drawnFrom).noise);
  const weights = { space: beta / slices, time: timeCoupling((beta * gamma) / slices) };
  const { coth, inverseSinh } = hyperbolic((2 * beta * gamma) / slices);
  const [alongX, alongZ]: [number[], number[]] = [[], []];
  const pacer = new WorkPacer({ signal, onProgress }, sweeps);
  for (let t = 0; t < sweeps; t++) {
    let [classical, alike] = [0, 0];
    for (let chain = 0; chain < count; chain++) {
      chains.sweep(t, chain, weights);
      if (pacer.due()) await pacer.pause(t);
      if (t < washout) continue;
      for (let p = 0; p < slices; p++) classical += energyAt(checked, chains.spins, (chain * slices + p) * size);
      alike += alikeBeside(chains, chain);
    }
    if (t < washout) continue;
    alongZ.push(classical / (count * slices));
    alongX.push(size * (coth - (alike / (count * slices * size)) * inverseSinh));
  }
  pacer.finish();
  const energies = alongZ.map((z, t) => z - gamma * alongX[t]!);
  return { energy: meanOf(energies), error: blockError(energies), transverseMagnetisation: meanOf(alongX) / size };
}

/** .5 ln coth(x). */
export function timeCoupling(x: number): number {
  const e = portableExp(-2 * x);
  return 0.5 * portableLog((1 + e) / (1 - e));
}

function hyperbolic(x: number): { readonly coth: number; readonly inverseSinh: number } {
  const e = portableExp(-x);
  return { coth: (1 + e * e) / (1 - e * e), inverseSinh: (2 * e) / (1 - e * e) };
}

/** Sum over spins and slices of s in a slice times s in the next. */
function alikeBeside({ spins, slices, model: { spins: size } }: Chains, chain: number): number {
  let sum = 0;
  const start = chain * slices * size;
  for (let p = 0; p < slices; p++) {
    const after = start + ((p + 1) % slices) * size;
    for (let i = 0; i < size; i++) sum += spins[start + p * size + i]! * spins[after + i]!;
  }
  return sum;
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The standard error of the mean by 20 blocks. */
function blockError(values: readonly number[]): number | undefined {
  const blocks = 20;
  if (values.length < blocks) return undefined;
  const length = Math.floor(values.length / blocks);
  const means = Array.from({ length: blocks }, (_, b) => meanOf(values.slice(b * length, (b + 1) * length)));
  const mean = meanOf(means);
  return Math.sqrt(meanOf(means.map((each) => (each - mean) * (each - mean))) / (blocks - 1));
}
