// Kernels of numerics/spectrum.
export * from "./spectrum/dense";
export * from "./spectrum/hessenberg";
export * from "./spectrum/francis";
export * from "./spectrum/krylov";
