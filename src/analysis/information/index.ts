export { mutualInformation, transferEntropy } from "./binned.js";
export { type InformationDynamics, informationDynamics } from "./dynamics.js";
export { gaussianTransferEntropy } from "./gaussian.js";
export { informationFlow } from "./information-flow.js";
export {
  activeInformationStorage,
  type NearestNeighbourInformation,
  nearestNeighbourInformation,
  nearestNeighbourTransferEntropy,
} from "./nearest-neighbours.js";
export { digamma } from "./series.js";
export { type TransferMatrix, transferEntropyMatrix } from "./transfer-matrix.js";
