// Parts as a user's own package would have them: through the public API alone.
import { Matrix, portableSin } from "spillway/numerics";
import {
  ArgumentError,
  number,
  option,
  registerActivation,
  registerReservoirKind,
  registerTopology,
  sparseFromRows,
  whole,
} from "spillway/reservoir";

/**
 * A star: the hub listens to every other neuron, and every other neuron to the hub, with weights
 * of 1. Its radius is sqrt(N - 1).
 */
registerTopology({
  name: "star",
  description: "One hub that every other neuron is connected with, both ways.",
  options: { hub: option(whole(), 0, "The neuron in the middle.") },
  check({ hub }, size) {
    if (hub >= size) throw new ArgumentError("hub", hub, `a whole number below the size, ${size}`);
  },
  expectedNonzeros: (_options, { size }) => 2 * (size - 1),
  build({ hub }, { size }) {
    const others = Array.from({ length: size }, (_, neuron) => neuron).filter((neuron) => neuron !== hub);
    const matrix = sparseFromRows(
      size,
      size,
      (row) => (row === hub ? others : [hub]),
      () => 1,
    );
    return { matrix, radius: Math.sqrt(size - 1) };
  },
});

registerActivation({
  name: "softsign",
  description: "z / (1 + |z|).",
  options: {},
  bounded: false,
  f: (z) => z / (1 + Math.abs(z)),
});

registerReservoirKind({
  name: "pendulums",
  description: "Damped pendulums of different lengths that the first input pushes.",
  options: { damping: option(number({ above: 0, below: 1 }), 0.1, "The share of the speed that friction removes in a step.") },
  sizes: ({ size }) => ({ states: size, hidden: size, matrices: { lengths: [size, 1] } }),
  draw: ({ size }) => ({
    initial: new Float64Array(2 * size),
    matrices: {
      lengths: new Matrix(
        size,
        1,
        Float64Array.from({ length: size }, (_, i) => 1 + i),
      ),
    },
  }),
  stepper({ config, size, matrices }) {
    const { data } = matrices.lengths;
    return (x, input, next) => {
      for (let i = 0; i < size; i++) {
        const force = input[0] - portableSin(x[i]) / data[i];
        next[size + i] = (1 - config.damping) * x[size + i] + 0.1 * force;
        next[i] = x[i] + 0.1 * next[size + i];
      }
    };
  },
});
