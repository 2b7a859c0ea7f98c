// Recursive least squares: ridge regression updated row by row, with forgetting. With a reservoir
// that feeds its output back and learns at every step it is FORCE learning.
import { SpillwayError } from "@spillway/core/errors.js";
import { resolve } from "@spillway/core/options.js";
import { InverseCovariance } from "@spillway/numerics";
import { featureSpec } from "./features-option.js";
import { OnlineTrainer } from "./online-trainer.js";
import { type RecursiveLeastSquaresOptions, recursiveLeastSquaresTable } from "./options.js";

/**
 * Recursive least squares (Haykin, Adaptive Filter Theory, chapter 10; FORCE: Sussillo and Abbott
 * 2009, Neuron 63): g = P x, s = forgetting + x . g, k = g / s, W += (y - W x) k^T, P = (P - g g^T
 * / s) / forgetting. O(F^2) a row. The intercept is one more feature, with the same alpha as the
 * others.
 * @throws ArgumentError naming the option; SpillwayError of code "numeric" if P loses positive
 * definiteness
 */
export function recursiveLeastSquares(options: RecursiveLeastSquaresOptions = {}): OnlineTrainer {
  const { forgetting, alpha, intercept, ...features } = resolve(recursiveLeastSquaresTable, options, "recursiveLeastSquares");
  return new OnlineTrainer({
    method: "recursiveLeastSquares",
    features: featureSpec(features),
    description: { type: "rls", ...options },
    intercept,
    details: { forgetting, alpha },
    gain: (size) => {
      const covariance = new InverseCovariance(size, 1 / alpha);
      return (row) => {
        const gain = covariance.update(row, forgetting);
        if (typeof gain !== "number") return gain;
        throw new SpillwayError(
          "numeric",
          `recursive least squares lost positive definiteness: forgetting + x P x is ${gain}. Take a larger alpha (now ${alpha}) or a forgetting nearer to 1 (now ${forgetting})`,
        );
      };
    },
  });
}
