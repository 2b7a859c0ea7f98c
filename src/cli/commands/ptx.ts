// `spillway ptx KERNEL`: the PTX of a generated kernel for given sizes. Running PTX is ptx-run.ts.

import { ArgumentError } from "@spillway/core/errors.js";
import { nearest } from "@spillway/core/near-names.js";
import { quoted } from "@spillway/core/text.js";
import { generateKernel, type KernelType, kernelKinds, PtxBuildError, presets, type Target } from "@spillway/ptx";
import { UsageError } from "../exit.js";
import { kernelNumbers, kernelSwitches, kernelWords, presetSizes } from "./ptx-options.js";

export interface PtxFlags {
  readonly target: string;
  readonly json?: boolean | undefined;
  readonly affine?: boolean | undefined;
  readonly [field: string]: string | boolean | undefined;
}

const plain = (name: string): string => name.replace(/[-_]/g, "").toLowerCase();

type Preset = keyof typeof presets;

const presetNames = Object.keys(presets) as Preset[];

/**
 * Kinds and presets as people write them: gemm-tiled and gemm_tiled are gemmTiled. A kind goes
 * before a preset of its name.
 */
function kernelOf(name: string): KernelType["kind"] | Preset {
  const known = [...new Set([...kernelKinds, ...presetNames])];
  const found = known.find((each) => plain(each) === plain(name));
  if (found !== undefined) return found;
  const near = nearest(name, known);
  throw new UsageError(`there is no kernel ${quoted(name)}${near ? `; did you mean "${near}"?` : `; the kernels are ${known.join(", ")}`}`);
}

/**
 * The shape that a preset stands for. Its sizes are taken out of `sizes`; what remains there
 * changes the shape.
 */
function presetShape(name: Preset, sizes: Record<string, unknown>): Record<string, unknown> {
  const values = presetSizes[name].map((size) => {
    const value = sizes[size];
    delete sizes[size];
    return value;
  });
  const make = presets[name] as (...sizes: unknown[]) => Record<string, unknown>;
  for (const [k, size] of presetSizes[name].entries())
    if (k < make.length && values[k] === undefined)
      throw new UsageError(`${name} takes ${presetSizes[name].join(", ")}; ${size} is missing`);
  return make(...values);
}

/**
 * A generated kernel's PTX, or with --json all that a launch needs. @throws UsageError if the
 * sizes do not make a kernel.
 */
export function ptxOfKernel(name: string, flags: PtxFlags): string {
  const kernelName = kernelOf(name);
  const shape: Record<string, unknown> = {};
  for (const field of Object.keys(kernelNumbers)) {
    const text = flags[field];
    if (text === undefined) continue;
    const value = Number(text);
    if (text === "" || !Number.isFinite(value)) throw new UsageError(`${field} is ${JSON.stringify(text)}; it takes a number`);
    shape[field] = value;
  }
  for (const field of [...Object.keys(kernelWords), ...Object.keys(kernelSwitches)])
    if (flags[field] !== undefined) shape[field] = flags[field];
  if (flags.affine === false) shape["affine"] = false;
  const base = (kernelKinds as readonly string[]).includes(kernelName) ? { kind: kernelName } : presetShape(kernelName as Preset, shape);
  try {
    const kernel = generateKernel({ ...base, ...shape } as unknown as KernelType, { target: flags.target as Target });
    return flags.json ? JSON.stringify(kernel, undefined, 2) : kernel.ptx.trimEnd();
  } catch (error) {
    if (error instanceof PtxBuildError || error instanceof ArgumentError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
