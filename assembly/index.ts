// The WebAssembly module of the CPU engine and of the linear algebra: all exports.
export * from "./portable";
export { drawFrom, drawRows, drawFullRows, drawPositions, sumRows, scaleRows, packRows32, packRows64 } from "./drawing";
export * from "./linear-algebra";
export * from "./spectrum";
export * from "./reservoir";
export * from "./statistics";
export { runNetwork32, runNetwork64 } from "./network";
export { runInteger, integerPanels16, integerPanels8, integerSlices16, integerSlices8 } from "./integer";
export {
  oscillatorModel,
  oscillators32,
  oscillators64,
  oscillatorPanels32,
  oscillatorPanels64,
  oscillatorSlices32,
  oscillatorSlices64,
  oscillatorField32,
  oscillatorField64,
  oscillatorStage32,
  oscillatorStage64,
} from "./oscillators";
export { stateAffineModel, stateAffine32, stateAffine64, affinePanels32, affinePanels64 } from "./state-affine";
