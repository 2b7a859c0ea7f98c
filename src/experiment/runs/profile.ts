// A profile for people: lines of a report page, and the words it shares with a terminal.
import { formatNumber } from "../../plot/format.js";
import { formatBytes, type PhaseProfile, type Profile } from "../../reservoir/index.js";

/** Facts of a report page. */
export function profileFacts(profile: Profile): (readonly [label: string, value: string])[] {
  const units = ["ms", "pieces", "steps", "us/step", "", "GB/s"];
  const phases = profile.phases.map((phase) => {
    const words = figuresOf(phase).flatMap((value, k) => (value === "" ? [] : [`${value} ${units[k]}`.trim()]));
    return [`profile, ${phase.phase}`, `${words.join(", ")} by ${clockOf(phase)}`] as const;
  });
  return [["profile", [describeCalls(profile), ...describeWork(profile)].join("; ")], ...phases];
}

/** What measured a time, in a word. */
export function clockOf({ clock }: Pick<PhaseProfile, "clock">): string {
  return { device: "events", host: "clock", simulated: "simulated events" }[clock];
}

/** ms, pieces, steps, us a step, bytes, GB/s; what was not measured is empty. */
export function figuresOf({ milliseconds, pieces, steps, bytes, gigabytesPerSecond }: PhaseProfile): string[] {
  return [
    formatNumber(milliseconds),
    String(pieces),
    steps === undefined ? "" : String(steps),
    steps ? formatNumber((1000 * milliseconds) / steps) : "",
    bytes === undefined ? "" : formatBytes(bytes),
    gigabytesPerSecond === undefined ? "" : formatNumber(gigabytesPerSecond),
  ];
}

/** How many calls were measured, on which engine and plan, and how long they took. */
export function describeCalls({ calls, milliseconds, engine, plan }: Profile): string {
  return `${calls} calls on ${engine} took ${formatNumber(milliseconds)} ms by the clock; ${plan.summary}`;
}

/** What a device was given: launches, bytes, kernels. Empty for an engine without one. */
export function describeWork({ device }: Profile): string[] {
  if (!device) return [];
  const { launches, graphLaunches, kernels, bytesToDevice, bytesToHost } = device;
  const counts = Object.entries(kernels).map(([kernel, times]) => `${kernel} ${times}`);
  return [
    `${launches} launches and ${graphLaunches} of graphs; ${formatBytes(bytesToDevice)} to the device, ${formatBytes(bytesToHost)} to the host`,
    `kernels run: ${counts.join(", ")}`,
  ];
}
