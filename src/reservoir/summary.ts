// Summaries are at home beside the engine contract.
export type * from "./engine/summaries.js";
