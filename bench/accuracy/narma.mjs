// NARMA-10: washout 200, train 2000, test 2000, seeds 0 to 9. The settings of N = 100 and 200 are the literature's; those of N = 400 were chosen among 54 by
// choose-narma.mjs, which sees the training part alone.
import { narma, nrmse, ReservoirComputer, ridge } from "spillway";

const cases = [
  { size: 100, bar: 0.32, inputScaling: 0.1, bias: 0.1, lambda: 1e-8 },
  { size: 200, bar: 0.215, inputScaling: 0.1, bias: 0.1, lambda: 1e-8 },
  { size: 400, bar: 0.14, inputScaling: 0.05, bias: 0.2, lambda: 1e-10 },
];
for (const { size, bar, inputScaling, bias, lambda } of cases) {
  const scores = [];
  for (let seed = 0; seed < 10; seed++) {
    const { inputs, targets } = narma(4200, { seed });
    const computer = await ReservoirComputer.create({
      size,
      spectralRadius: 0.95,
      connectionProbability: 0.1,
      leakRate: 1,
      inputScaling,
      bias,
      seed,
    });
    const states = await computer.run(inputs);
    const readout = ridge({ lambda, input: true }).fit(states.subarray(0, 2200), targets.slice(0, 2200), {
      washout: 200,
      inputs: inputs.slice(0, 2200),
    });
    await computer.dispose();
    scores.push(nrmse(targets.slice(2200), readout.predict(states.subarray(2200), inputs.slice(2200))));
  }
  const mean = scores.reduce((sum, value) => sum + value, 0) / scores.length;
  console.log(
    `NARMA-10, N=${size}: NRMSE mean of seeds 0-9 ${mean.toFixed(3)} (bar ${bar}); ${scores.map((value) => value.toFixed(3)).join(" ")}`,
  );
}
