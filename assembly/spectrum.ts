// Kernels of numerics/spectrum.
export * from "./spectrum/balance";
export * from "./spectrum/hessenberg";
export * from "./spectrum/francis";
export * from "./spectrum/krylov";
