// How storage and transfer in a reservoir are estimated: apart from the estimators, which load
// more.
import { choice, option } from "@spillway/core/options.js";

/** By covariances, or by distances to nearest neighbours. */
export type DynamicsEstimator = "gaussian" | "nearestNeighbours";

/** The option of all that takes storage and transfer. */
export const estimatorOption = option(
  choice("gaussian", "nearestNeighbours"),
  "gaussian",
  "Of storage and transfer: by covariances, or by nearest neighbours, which takes longer.",
);
