export { type InformationFlow, type InformationFlowOptions, informationFlow } from "./information-flow.js";
export {
  type NearestNeighbourOptions,
  type NearestNeighbourTransferOptions,
  nearestNeighbourInformation,
  nearestNeighbourTransferEntropy,
} from "./nearest-neighbours.js";
export { digamma, type Series } from "./series.js";
export {
  type TransferEntropy,
  type TransferEntropyOptions,
  transferEntropy,
  transferEntropyMatrix,
} from "./transfer-entropy.js";
