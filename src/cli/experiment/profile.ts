// A profile for people: the table of phases in a terminal, and lines of a report page.
import { formatNumber } from "../../plot/format.js";
import { formatBytes, type PhaseProfile, type Profile } from "../../reservoir/index.js";
import { formatTable } from "../table.js";

const heads = ["phase", "clock", "ms", "pieces", "steps", "us/step", "bytes", "GB/s"];

/** Phases, then what the device was given. */
export function profileTable(profile: Profile): string {
  const lines = profile.phases.map((phase) => [phase.phase, clockOf(phase), ...numbersOf(phase)]);
  return [`profile: ${describeCalls(profile)}`, formatTable(heads, lines), ...describeWork(profile)].join("\n");
}

/** Facts of a report page. */
export function profileFacts(profile: Profile): (readonly [label: string, value: string])[] {
  const units = ["ms", "pieces", "steps", "us/step", "", "GB/s"];
  const phases = profile.phases.map((phase) => {
    const words = numbersOf(phase).flatMap((value, k) => (value === "" ? [] : [`${value} ${units[k]}`.trim()]));
    return [`profile, ${phase.phase}`, `${words.join(", ")} by ${clockOf(phase)}`] as const;
  });
  return [["profile", [describeCalls(profile), ...describeWork(profile)].join("; ")], ...phases];
}

/** What told a time, in a word. */
export function clockOf({ clock }: Pick<PhaseProfile, "clock">): string {
  return { device: "events", host: "clock", simulated: "simulated events" }[clock];
}

/** In the order of `heads`, from the third on; what was not measured is empty. */
function numbersOf({ milliseconds, pieces, steps, bytes, gigabytesPerSecond }: PhaseProfile): string[] {
  return [
    formatNumber(milliseconds),
    String(pieces),
    steps === undefined ? "" : String(steps),
    steps ? formatNumber((1000 * milliseconds) / steps) : "",
    bytes === undefined ? "" : formatBytes(bytes),
    gigabytesPerSecond === undefined ? "" : formatNumber(gigabytesPerSecond),
  ];
}

function describeCalls({ calls, milliseconds, engine, plan }: Profile): string {
  return `${calls} calls on ${engine} took ${formatNumber(milliseconds)} ms by the clock; ${plan.summary}`;
}

function describeWork({ device }: Profile): string[] {
  if (!device) return [];
  const { launches, graphLaunches, kernels, bytesToDevice, bytesToHost } = device;
  const counts = Object.entries(kernels).map(([kernel, times]) => `${kernel} ${times}`);
  return [
    `${launches} launches and ${graphLaunches} of graphs; ${formatBytes(bytesToDevice)} to the device, ${formatBytes(bytesToHost)} to the host`,
    `kernels run: ${counts.join(", ")}`,
  ];
}
