// States of low energy by annealing: of temperature, or of a transverse field.
import { ArgumentError } from "@spillway/core/errors.js";
import { choice, type InputOf, number, option, optional, type Resolved, resolve, seed, whole } from "@spillway/core/options.js";
import { seedKeys } from "@spillway/numerics";
import { type WorkOptions, WorkPacer } from "../reservoir/index.js";
import { workTable } from "../reservoir/work.js";
import { Chains, type SweepWeights } from "./chains.js";
import { energyAt, type IsingModel, neighbourhoodsOf } from "./ising.js";
import { timeCoupling } from "./sample.js";

export const annealTable = {
  ...workTable,
  /**
   * "thermal" (default): beta rises linearly from `from` to `to`. "pathIntegral": beta stays at
   * `to`, and a transverse field falls linearly from `transverseField` to nearly 0.
   */
  method: option(choice("thermal", "pathIntegral"), "thermal", "Whether temperature falls, or a transverse field."),
  /** beta of the first sweep of "thermal". Default .1. */
  from: optional(number({ atLeast: 0 }), "beta of the first sweep of thermal; left out, 0.1."),
  /** beta of the last sweep. Default 3. */
  to: option(number({ above: 0 }), 3, "beta of the last sweep."),
  /** Gamma of the first sweep of "pathIntegral". Default 3. */
  transverseField: optional(number({ above: 0 }), "Gamma of the first sweep of pathIntegral; left out, 3."),
  /** P, slices of "pathIntegral". Default 16. */
  slices: optional(whole({ atLeast: 2, atMost: 2 ** 20 }), "P, slices of pathIntegral; left out, 16."),
  /** Sweeps of each run. Default 100. */
  sweeps: option(whole({ atLeast: 2, atMost: 2 ** 32 - 1 }), 100, "Sweeps of each run."),
  /** Independent runs. Default 10. */
  runs: option(whole({ atLeast: 1, atMost: 2 ** 24 }), 10, "Independent runs."),
  /** Draws first spins and flips. Default "spillway". */
  seed: option(seed, "spillway", "Draws first spins and flips."),
};

/** How a model is annealed. */
export interface AnnealOptions extends WorkOptions, InputOf<typeof annealTable> {}

/** What annealing found. */
export interface Annealed {
  /** The state of the lowest energy, n values of -1 or 1; ties go to the first run and slice. */
  readonly spins: Int8Array;
  /** Its energy. */
  readonly energy: number;
  /** The energy that each run ended at, of its best slice. */
  readonly energies: Float64Array;
}

/**
 * Looks for states of low energy of an Ising model by independent runs that are cooled slowly, or
 * whose transverse field falls slowly. Portable arithmetic: the same states everywhere.
 *
 * Sources: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi 1983, "Optimization by simulated annealing",
 * Science 220; Martoňák, Santoro, Tosatti 2002, Phys. Rev. B 66, 094203.
 * @throws ArgumentError for a malformed model, or options that the method does not have;
 * WorkInterruptedError
 */
export async function annealIsing(model: IsingModel, options: AnnealOptions = {}): Promise<Annealed> {
  const asked = resolve(annealTable, options, "annealIsing");
  const { sweeps, runs, seed: drawnFrom, signal, onProgress } = asked;
  const weightsOf = scheduleOf(asked);
  const checked = neighbourhoodsOf(model);
  const slices = asked.method === "thermal" ? 1 : (asked.slices ?? 16);
  const chains = new Chains(checked, runs, slices, seedKeys(drawnFrom).noise);
  const pacer = new WorkPacer({ signal, onProgress }, sweeps);
  for (let t = 0; t < sweeps; t++) {
    const weights = weightsOf(t / (sweeps - 1));
    for (let run = 0; run < runs; run++) {
      chains.sweep(t, run, weights);
      if (pacer.due()) await pacer.pause(t);
    }
  }
  pacer.finish();
  const energies = new Float64Array(runs).fill(Infinity);
  let best = { energy: Infinity, first: 0 };
  for (let k = 0; k < runs * slices; k++) {
    const energy = energyAt(checked, chains.spins, k * checked.spins);
    const run = Math.floor(k / slices);
    if (energy < energies[run]!) energies[run] = energy;
    if (energy < best.energy) best = { energy, first: k * checked.spins };
  }
  return { spins: chains.spins.slice(best.first, best.first + checked.spins), energy: best.energy, energies };
}

/** The weights of a sweep by how much of a run is done, 0 to 1. @throws ArgumentError */
function scheduleOf({ method, from, to, transverseField, slices }: Resolved<typeof annealTable>): (done: number) => SweepWeights {
  if (method === "thermal") {
    const foreign = Object.entries({ transverseField, slices }).find(([, value]) => value !== undefined);
    if (foreign) throw new ArgumentError(foreign[0], foreign[1], 'nothing for the method "thermal"');
    const first = from ?? 0.1;
    return (done) => ({ space: first + (to - first) * done, time: 0 });
  }
  if (from !== undefined) throw new ArgumentError("from", from, 'nothing for the method "pathIntegral", whose beta is `to`');
  const [gamma, count] = [transverseField ?? 3, slices ?? 16];
  const space = to / count;
  // At Gamma = 0 slices would be one; a thousandth of the first leaves them nearly so.
  return (done) => ({ space, time: timeCoupling(space * gamma * Math.max(1 - done, 1e-3)) });
}
