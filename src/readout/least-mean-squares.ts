// Least mean squares: the cheapest online readout, one gradient step a row.
import { resolve } from "@spillway/core/options.js";
import { featureSpec } from "./features-option.js";
import { OnlineTrainer } from "./online-trainer.js";
import { type LeastMeanSquaresOptions, leastMeanSquaresTable } from "./options.js";

/** Added to |x|^2 in the normalised rule: a row of zeros then gives no division by 0. */
const normFloor = 1e-12;

/**
 * Least mean squares (Widrow and Hoff 1960): W += learningRate (y - W x) x^T; normalised (Nagumo
 * and Noda 1967): W += learningRate (y - W x) x^T / (1e-12 + |x|^2). The intercept is one more
 * feature, always 1. |x|^2 is summed in rising order.
 * @throws ArgumentError naming the option; SpillwayError of code "numeric" if the weights diverge
 */
export function leastMeanSquares(options: LeastMeanSquaresOptions = {}): OnlineTrainer {
  const { normalised, intercept, ...rest } = resolve(leastMeanSquaresTable, options, "leastMeanSquares");
  const learningRate = rest.learningRate ?? (normalised ? 0.5 : 0.01);
  return new OnlineTrainer({
    method: "leastMeanSquares",
    features: featureSpec(rest),
    description: { type: "lms", ...options },
    intercept,
    details: { learningRate, normalised },
    gain: (size) => {
      const gain = new Float64Array(size);
      return (row) => {
        let squares = normFloor;
        if (normalised) for (let f = 0; f < size; f++) squares += row[f]! * row[f]!;
        const rate = normalised ? learningRate / squares : learningRate;
        for (let f = 0; f < size; f++) gain[f] = rate * row[f]!;
        return gain;
      };
    },
  });
}
