// A first reservoir: learn the Mackey-Glass series from 3000 steps and let it run on by itself.
import { mackeyGlass, nrmse, ReservoirComputer, ridge } from "spillway";

const series = mackeyGlass(4000, { tau: 17 });
await using computer = await ReservoirComputer.create({
  size: 500,
  spectralRadius: 0.95,
  connectionProbability: 0.1,
  leakRate: 0.3,
  bias: 0.2,
  seed: "spillway",
});
console.log(`engine: ${computer.engine.name} (${computer.engine.reason})`);
console.log(`plan:   ${computer.engine.plan.summary}`);

const states = await computer.run(series.slice(0, 3000));
const readout = ridge({ lambda: 1e-8 }).fit(states, series.slice(1, 3001), { washout: 100 });
const forecast = await computer.generate(84, readout);

console.log(`NRMSE over the 84 steps that follow: ${nrmse(series.slice(3000, 3084), forecast).toFixed(4)}`);
