// Ensembles one after the other are at home beside the engine contract.
export { openOneByOne } from "../reservoir/engine/one-by-one.js";
