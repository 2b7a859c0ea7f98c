export { type InformationDynamics, informationDynamics } from "./dynamics.js";
export { gaussianTransferEntropy } from "./gaussian.js";
export { informationFlow } from "./information-flow.js";
export { mutualInformation } from "./mutual-information.js";
export {
  activeInformationStorage,
  type NearestNeighbourInformation,
  nearestNeighbourInformation,
  nearestNeighbourTransferEntropy,
} from "./nearest-neighbours.js";
export { digamma } from "./series.js";
export { transferEntropy } from "./transfer-entropy.js";
export { type TransferMatrix, transferEntropyMatrix } from "./transfer-matrix.js";
