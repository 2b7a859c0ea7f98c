// `spillway info`: which engines there are and why, and what they run on.
import { arch, cpus, release, totalmem, type } from "node:os";
import "../../index.js";
import { formatBytes, probeEngines } from "../../reservoir/index.js";
import { packageVersion } from "../../model/version.js";

/** What this machine is, for people and for result files. */
export interface Machine {
  readonly system: string;
  readonly architecture: string;
  readonly processor: string;
  readonly processors: number;
  readonly memoryBytes: number;
}

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

/** The text (or JSON) of `spillway info`. */
export async function info(options: { readonly json?: boolean | undefined }): Promise<string> {
  const engines = await probeEngines();
  const machine = describeMachine();
  if (options.json) return JSON.stringify({ versions: versions(), machine, engines }, undefined, 2);
  const lines = engines.map(({ name, status }) => {
    const device = status.device ? ` [${status.device}]` : "";
    return `  ${name.padEnd(10)} ${status.available ? "available" : "not available"}: ${status.reason}${device}`;
  });
  return [
    `spillway ${packageVersion} on Node.js ${process.versions.node}`,
    `${machine.processor}, ${machine.processors} logical processors, ${formatBytes(machine.memoryBytes)}, ${machine.system} ${machine.architecture}`,
    "",
    "engines",
    ...lines,
  ].join("\n");
}
