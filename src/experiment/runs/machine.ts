// What ran an experiment: the machine, and versions of the package and of Node.js.
import { arch, cpus, release, totalmem, type } from "node:os";
import { packageVersion } from "../../model/version.js";

/** What this machine is, for people and for result files. */
export interface Machine {
  readonly system: string;
  readonly architecture: string;
  readonly processor: string;
  readonly processors: number;
  readonly memoryBytes: number;
}

/** Describes the machine this runs on. */
export function describeMachine(): Machine {
  const processors = cpus();
  return {
    system: `${type()} ${release()}`,
    architecture: arch(),
    processor: processors[0]?.model.trim() || "unknown",
    processors: processors.length,
    memoryBytes: totalmem(),
  };
}

/** Versions of the package and of what runs it. */
export function versions(): Readonly<Record<string, string>> {
  return { spillway: packageVersion, node: process.versions.node, v8: process.versions.v8 };
}
