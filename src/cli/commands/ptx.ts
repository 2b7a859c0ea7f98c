// `spillway ptx KERNEL`: the PTX of a generated kernel for given sizes. Running PTX is ptx-run.ts.
import { generateKernel, type KernelType, kernelKinds, PtxBuildError, targets } from "../../ptx/index.js";
import { nearest } from "../../core/near-names.js";
import { UsageError } from "../exit.js";
import { kernelNumbers, kernelSwitches, kernelWords } from "./ptx-options.js";

export interface PtxFlags {
  readonly target: string;
  readonly json?: boolean | undefined;
  readonly affine?: boolean | undefined;
  readonly [field: string]: string | boolean | undefined;
}

const plain = (name: string): string => name.replace(/[-_]/g, "").toLowerCase();

/** Names of kernels as people write them: gemm-tiled and gemm_tiled are gemmTiled. */
function kindOf(name: string): KernelType["kind"] {
  const kind = kernelKinds.find((each) => plain(each) === plain(name));
  if (kind !== undefined) return kind;
  const near = nearest(name, kernelKinds);
  throw new UsageError(`there is no kernel "${name}"${near ? `; did you mean "${near}"?` : `; the kernels are ${kernelKinds.join(", ")}`}`);
}

/** A generated kernel's PTX, or with --json all that a launch needs. @throws UsageError where the sizes do not make a kernel. */
export function ptxOfKernel(name: string, flags: PtxFlags): string {
  const kind = kindOf(name);
  const shape: Record<string, unknown> = { kind };
  for (const field of Object.keys(kernelNumbers)) {
    const text = flags[field];
    if (text === undefined) continue;
    const value = Number(text);
    if (text === "" || !Number.isFinite(value)) throw new UsageError(`${field} is ${JSON.stringify(text)}; it takes a number`);
    shape[field] = value;
  }
  for (const field of [...Object.keys(kernelWords), ...Object.keys(kernelSwitches), "affine"])
    if (flags[field] !== undefined) shape[field] = flags[field];
  if (kind === "attention") shape["heads"] ??= 1;
  if (["softmax", "layerNorm", "rmsNorm"].includes(kind)) shape["rows"] ??= 1;
  if (!Object.hasOwn(targets, flags.target))
    throw new UsageError(`target is ${JSON.stringify(flags.target)}; it takes one of ${Object.keys(targets).join(", ")}`);
  try {
    const kernel = generateKernel(shape as unknown as KernelType, { target: flags.target as keyof typeof targets });
    return flags.json ? JSON.stringify(kernel, undefined, 2) : kernel.ptx.trimEnd();
  } catch (error) {
    if (error instanceof PtxBuildError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
