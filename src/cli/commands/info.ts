// `spillway info`: which engines there are and why, and what they run on, CUDA among it.
import { disposeAll } from "@spillway/core/disposal.js";
import { type Context, type GpuProbe, openDevices, probe, shippedPtxVersion } from "@spillway/gpu";
import "../../index.js";
import { describeMachine, versions } from "../../experiment/runs/machine.js";
import { packageVersion } from "../../model/version.js";
import { formatBytes, probeEngines } from "../../reservoir/index.js";

/** What was found of CUDA, in lines. */
export function describeCuda({
  available,
  reason,
  library,
  driverVersion,
  devices,
  nvrtc,
  wsl,
  visibleDevices,
}: GpuProbe): readonly string[] {
  const indented = (text: string) => text.replaceAll("\n", "\n    ");
  const driver = driverVersion === undefined ? "" : `driver of CUDA ${driverVersion} (${library})`;
  const lines = [available ? `available: ${driver}` : `not available: ${indented(reason ?? "")}${driver && `; ${driver}`}`];
  for (const { ordinal, name, computeCapability, totalMemory, freeMemory, problem } of devices) {
    const memory = `${formatBytes(totalMemory)}${freeMemory === undefined ? "" : `, ${formatBytes(freeMemory)} free`}`;
    lines.push(
      `device ${ordinal}: ${name}, compute capability ${computeCapability.join(".")}, ${memory}${problem ? `; does not open: ${problem}` : ""}`,
    );
  }
  lines.push(
    nvrtc.available
      ? `NVRTC ${nvrtc.version} (${nvrtc.library})`
      : `no NVRTC, needed for your own kernels and for kernels made for one reservoir: ${nvrtc.problem?.split("\n")[0]?.replace(/; tried$/, "") ?? "not found"}`,
  );
  if (wsl) lines.push("this is Linux under Windows (WSL): the driver is that of Windows");
  if (visibleDevices !== undefined) lines.push(`CUDA_VISIBLE_DEVICES is ${JSON.stringify(visibleDevices)}`);
  return lines.map((line) => `  ${line}`);
}

/** Which devices reach the memory of which, in lines; none of a single device. */
export function describeLinks(contexts: readonly Context[]): readonly string[] {
  if (contexts.length < 2) return [];
  return contexts.map((context) => {
    const reached = contexts.filter((other) => other !== context && context.canAccess(other)).map(({ info: { ordinal } }) => ordinal);
    const whom = reached.length > 0 ? `the memory of ${reached.join(", ")}` : "no other's memory";
    return `  device ${context.info.ordinal} reaches ${whom}`;
  });
}

/** The links between the devices of this machine. */
function links({ available, devices }: GpuProbe): readonly string[] {
  if (!available || devices.length < 2) return [];
  let contexts: readonly Context[] = [];
  try {
    contexts = openDevices("all");
    return describeLinks(contexts);
  } catch (error) {
    return [`  links are not known: ${(error as Error).message.split("\n")[0]}`];
  } finally {
    disposeAll(contexts);
  }
}

/** The text (or JSON) of `spillway info`. */
export async function info(options: { readonly json?: boolean | undefined }): Promise<string> {
  const engines = await probeEngines();
  const machine = describeMachine();
  const cuda = probe({ ptxVersion: shippedPtxVersion() });
  if (options.json) return JSON.stringify({ versions: versions(), machine, engines, cuda }, undefined, 2);
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
    "",
    "CUDA",
    ...describeCuda(cuda),
    ...links(cuda),
  ].join("\n");
}
