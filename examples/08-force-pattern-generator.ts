// FORCE learning (Sussillo and Abbott 2009, Neuron 63): a chaotic reservoir learns online to make a
// pattern and to feed it to itself.
import { Matrix, nrmse, ReservoirComputer, recursiveLeastSquares } from "spillway";

const period = 120;
const pattern = (t: number): number => {
  const phase = (2 * Math.PI * t) / period;
  return 0.65 * Math.sin(phase) + 0.32 * Math.sin(2 * phase) + 0.22 * Math.sin(3 * phase);
};

// Radius 1.5: chaotic on its own, once it has been stirred. Its one input is what the readout said
// a step before.
await using computer = await ReservoirComputer.create({
  size: 300,
  spectralRadius: 1.5,
  leakRate: 0.2,
  initialState: { distribution: "uniform", scaling: 0.5 },
  seed: 3,
});
const learner = recursiveLeastSquares({ alpha: 1, intercept: false });
const size = computer.model.size;
let output = 0;
let squares = 0;
for (let t = 0; t < 20 * period; t++) {
  const state = computer.step([output]);
  const { error } = learner.step(Float64Array.from(state), [pattern(t)]);
  output = pattern(t) - error[0]!;
  squares += error[0]! ** 2;
  if ((t + 1) % (5 * period) === 0) {
    console.log(
      `period ${String((t + 1) / period).padStart(2)}: rms error while learning ${Math.sqrt(squares / (5 * period)).toExponential(1)}`,
    );
    squares = 0;
  }
}

// Now the weights stand still and the loop runs by itself. generate() says y first and then steps
// with it.
const made = await computer.generate(5 * period, learner.solve());
const wanted = new Matrix(
  5 * period,
  1,
  Float64Array.from({ length: 5 * period }, (_, k) => pattern(20 * period - 1 + k)),
);
console.log(`${size} neurons, five periods on its own: NRMSE ${nrmse(wanted, made).toFixed(3)}`);
