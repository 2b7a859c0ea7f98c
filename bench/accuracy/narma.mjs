// NARMA-10 after the protocol of docs: washout 200, train 2000, test 2000, seeds 0 to 9.
import { narma, nrmse, ReservoirComputer, ridge } from "spillway";

const bars = { 100: 0.32, 200: 0.215, 400: 0.14 };
for (const [size, bar] of Object.entries(bars)) {
  const scores = [];
  for (let seed = 0; seed < 10; seed++) {
    const { inputs, targets } = narma(4200, { seed });
    await using computer = await ReservoirComputer.create({
      size: Number(size),
      spectralRadius: 0.95,
      connectionProbability: 0.1,
      leakRate: 1,
      inputScaling: 0.1,
      bias: 0.1,
      seed,
    });
    const states = await computer.run(inputs);
    const readout = ridge({ lambda: 1e-8, input: true }).fit(states.subarray(0, 2200), targets.slice(0, 2200), {
      washout: 200,
      inputs: inputs.slice(0, 2200),
    });
    scores.push(nrmse(targets.slice(2200), readout.predict(states.subarray(2200), inputs.slice(2200))));
  }
  const mean = scores.reduce((sum, value) => sum + value, 0) / scores.length;
  console.log(
    `NARMA-10, N=${size}: NRMSE mean of seeds 0-9 ${mean.toFixed(3)} (bar ${bar}); ${scores.map((value) => value.toFixed(3)).join(" ")}`,
  );
}
