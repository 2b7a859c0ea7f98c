import { referenceEngine } from "../../src/engine/reference/index.js";
import { engineContract } from "./contract.js";

engineContract("reference", referenceEngine, {}, 5);
