// NARMA-10: predict a nonlinear average of the last ten inputs; three sizes, one seed.
import { narma, nrmse, ReservoirComputer, ridge } from "spillway";

const { inputs, targets } = narma(4200, { seed: 0 });
for (const size of [50, 100, 200]) {
  await using computer = await ReservoirComputer.create({ size, leakRate: 1, inputScaling: 0.1, bias: 0.1, seed: 0 });
  const states = await computer.run(inputs);
  const readout = ridge({ lambda: 1e-8 }).fit(states.slice(0, 2200), targets.slice(0, 2200), { washout: 200 });
  const score = nrmse(targets.slice(2200), readout.predict(states.slice(2200)));
  console.log(`N = ${String(size).padStart(3)}: NRMSE ${score.toFixed(3)}`);
}
