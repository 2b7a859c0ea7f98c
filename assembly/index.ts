// The WebAssembly module of the CPU engine and of the linear algebra: every export in one place.
export * from "./portable";
export * from "./linear-algebra";
export * from "./spectrum";
export * from "./reservoir";
export * from "./statistics";
export { runSpiking32, runSpiking64, deliverSpikes } from "./spiking";
export { runNetwork32, runNetwork64 } from "./network";
export { runInteger, integerPanels16, integerPanels8, integerSlices16, integerSlices8 } from "./integer";
