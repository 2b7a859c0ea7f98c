// Persistent kernels of the builder as loops take them: for which device, with which steps, and
// their parameters by name.
import type { DeviceInfo } from "../../../gpu/index.js";
import { type Target, targets } from "../../../ptx/builder/index.js";
import type { GeneratedKernel } from "../../../ptx/kernels/index.js";
import type { ReservoirModel } from "../../../reservoir/model.js";
import type { RealParameter } from "../kernels.js";
import { builtCode } from "./kernel-code.js";
import type { PersistentKernel } from "./loop.js";
import type { Arithmetic } from "./parts.js";

/** The newest target that runs on a device. */
export function builderTarget({ computeCapability: [major, minor] }: DeviceInfo): Target {
  const runs = Object.entries(targets).filter(([, { sm, accelerated }]) => !accelerated && sm <= 10 * major + minor);
  return (runs.at(-1)?.[0] ?? "sm_75") as Target;
}

/** What a model's steps are made of. */
export function stepsOf({ activation, outputSize, noiseLevel }: ReservoirModel, arithmetic: Arithmetic) {
  return { activation, feedback: outputSize > 0, noise: noiseLevel !== 0, firstStep: true, statesOptional: true, arithmetic } as const;
}

/** Parameters that are only read. */
const readOnly = new Set(["weights", "values", "columns", "leak", "drive", "feedback"]);

/**
 * A kernel with its launch. In a cluster nothing is kept between launches, and the report is the
 * word that says who stalled.
 */
export function builtKernel(
  name: string,
  generated: GeneratedKernel,
  madeFor: string,
  details: PersistentKernel["details"],
): PersistentKernel {
  const parameters = generated.parameters.map(({ name: own, type, element }): [string, RealParameter] => {
    const called = own === "report" && generated.cluster > 1 ? "stalled" : own;
    if (element === undefined) return [called, type as RealParameter];
    return [called, `${readOnly.has(own) ? "const " : ""}${element === "b64" ? "u64" : element}*` as RealParameter];
  });
  const { grid, block, dynamicSharedBytes: shared, cluster, cooperative } = generated;
  return {
    name,
    code: builtCode(generated, madeFor),
    parameters: Object.fromEntries(parameters),
    config: { grid: grid[0], block: block[0], shared, ...(cluster > 1 ? { cluster } : {}), ...(cooperative ? { cooperative } : {}) },
    details,
  };
}
