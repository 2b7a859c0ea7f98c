// Ising models: a spin glass of 16 spins annealed to its ground state, by falling temperature and
// by a falling transverse field, and the energy of a ring in a transverse field by path integrals.
import { annealIsing, type IsingModel, isingEnergy, RandomStream, sampleTransverseField, seedKeys } from "spillway/numerics";

const n = 16;
const draws = new RandomStream(seedKeys("glass").weights, 0);
const glass: IsingModel = {
  spins: n,
  couplings: Array.from({ length: n }, (_, j) =>
    Array.from({ length: j }, (__, i) => [i, j, draws.normal(i, j) / Math.sqrt(n)] as const),
  ).flat(),
};
let ground = Number.POSITIVE_INFINITY;
for (let state = 0; state < 2 ** (n - 1); state++) {
  const spins = Int8Array.from({ length: n }, (_, i) => (state & (1 << i) ? 1 : -1));
  let energy = 0;
  for (const [i, j, coupling] of glass.couplings) energy -= coupling * spins[i]! * spins[j]!;
  ground = Math.min(ground, energy);
}
console.log(`a glass of ${n} spins: ground state ${ground.toFixed(4)} by enumeration`);
for (const method of ["thermal", "pathIntegral"] as const) {
  const { spins, energy, energies } = await annealIsing(glass, { method, runs: 50 });
  const share = energies.filter((each) => each < ground + 1e-9).length / energies.length;
  const check = isingEnergy(glass, spins).toFixed(4);
  console.log(`${method}: ${energy.toFixed(4)} (checked: ${check}), the ground state in ${Math.round(100 * share)} % of runs`);
}

const ring: IsingModel = { spins: 8, couplings: Array.from({ length: 8 }, (_, i) => [i, (i + 1) % 8, 1] as const) };
for (const [slices, exact] of [
  [8, -1.3061],
  [16, -1.2687],
] as const) {
  const { energy, error } = await sampleTransverseField(ring, { beta: 2, transverseField: 1, slices, washout: 200, chains: 20 });
  const found = `${(energy / 8).toFixed(4)} +- ${(error! / 8).toFixed(4)}`;
  console.log(`ring of 8, Gamma 1, beta 2, ${slices} slices: ${found} a spin, exactly ${exact}`);
}
console.log("the same without slicing time: -1.2555");
