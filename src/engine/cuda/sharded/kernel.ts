// The kernels of a reservoir over several devices: those of the grid, compiled by NVRTC for a reach
// across devices (kernels/across.cuh), and each device's slice of W. No launch is here.
import type { LaunchConfig } from "@spillway/gpu";
import type { ReservoirModel } from "../../../reservoir/model.js";
import { drawnInPlace } from "../persistent/device-weights.js";
import {
  type AnyFit,
  type Arithmetic,
  compiledEntry,
  compiledFor,
  describeFit,
  type FitKernel,
  kernelOfFit,
  parametersOf,
} from "../persistent/fit-kernels.js";
import type { KernelCode, NamedParameters } from "../persistent/kernel-code.js";

/** What across.cuh adds to a kernel's parameters, behind `spinLimit`. */
const reachParameters = { peers: "const u64*", devices: "i32", firstBlock: "i32", after: "real*" } as const;

/** What a plan says of a W that no host holds. */
export const drawnDetail = { drawn: "on the devices" } as const;

/** How a reservoir runs over several devices. */
export interface ShardedKernel extends Pick<FitKernel, "weights" | "layout" | "rowsOfBlock" | "load"> {
  readonly fit: AnyFit;
  readonly code: KernelCode;
  readonly parameters: NamedParameters;
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** Of a launch beside its grid. */
  readonly config: Pick<LaunchConfig, "shared"> & { readonly block: number };
}

/** The name of a fit's kernel. */
export const shardedEntry = (fit: AnyFit, arithmetic: Arithmetic): string =>
  compiledEntry(`${kernelOfFit(fit).entry}_x${fit.devices}`, arithmetic);

export function shardedDetails(fit: AnyFit): ShardedKernel["details"] {
  return { devices: fit.devices, ...describeFit(fit) };
}

/** The kernel of a fit, compiled when it is loaded. */
export function shardedKernel(fit: AnyFit, model: ReservoirModel, arithmetic: Arithmetic): ShardedKernel {
  const kernel = kernelOfFit(fit);
  return {
    ...{ ...kernel, fit, code: compiledFor(fit, model, arithmetic, true) },
    details: { ...shardedDetails(fit), ...(drawnInPlace(model) ? drawnDetail : {}) },
    parameters: { ...parametersOf(kernel), ...reachParameters },
    config: { block: fit.variant.warps * 32, shared: fit.sharedBytes },
  };
}
