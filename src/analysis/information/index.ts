export type { BinnedInformation } from "./binned-information.js";
export {
  type ConnectionTransfer,
  type InformationDynamics,
  type InformationDynamicsOptions,
  informationDynamics,
} from "./dynamics.js";
export type { DynamicsEstimator } from "./dynamics-estimator.js";
export { type GaussianInformation, type GaussianTransferOptions, gaussianTransferEntropy } from "./gaussian.js";
export { type InformationFlow, type InformationFlowOptions, informationFlow } from "./information-flow.js";
export { type MutualInformationOptions, mutualInformation } from "./mutual-information.js";
export {
  type ActiveStorageOptions,
  activeInformationStorage,
  type NearestNeighbourEngineOptions,
  type NearestNeighbourInformation,
  type NearestNeighbourInformationOptions,
  type NearestNeighbourOptions,
  type NearestNeighbourTransferOptions,
  nearestNeighbourInformation,
  nearestNeighbourTransferEntropy,
} from "./nearest-neighbours.js";
export { digamma, type Series } from "./series.js";
export type { Significance } from "./significance.js";
export { type TransferEntropy, type TransferEntropyOptions, transferEntropy } from "./transfer-entropy.js";
export { type AnyTransferEntropy, type GivenOthers, type TransferMatrix, transferEntropyMatrix } from "./transfer-matrix.js";
