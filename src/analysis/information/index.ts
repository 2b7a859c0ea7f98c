export {
  type NearestNeighbourOptions,
  type NearestNeighbourTransferOptions,
  nearestNeighbourInformation,
  nearestNeighbourTransferEntropy,
} from "./nearest-neighbours.js";
export { digamma, type Series } from "./series.js";
export {
  type InformationFlow,
  informationFlow,
  type TransferEntropy,
  type TransferEntropyOptions,
  transferEntropy,
  transferEntropyMatrix,
} from "./transfer-entropy.js";
