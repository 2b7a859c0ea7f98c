// Names of devices: "cuda", "cuda:1", "cuda:0-3", "cuda:0,2", "cuda:all". The one module that reads
// them. Which families and numbers there are, others know.

/** What a name of devices says. */
export interface DeviceName {
  /** The kind of device: "cuda" of "cuda:1". */
  readonly family: string;
  /** Their numbers in the order named; "all" of them; undefined if the name has no number. */
  readonly devices: readonly number[] | "all" | undefined;
}

/** The highest number that a name may have: far above what a host has. */
const highest = 1023;

/** "0", "0-3", "0,2,4-5" or "all"; undefined if a text is none, or names a device twice. */
export function deviceNumbers(text: string): readonly number[] | "all" | undefined {
  if (text === "all") return "all";
  const numbers: number[] = [];
  for (const part of text.split(",")) {
    const [, from, to = from] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (!(first <= last && last <= highest)) return undefined;
    for (let number = first; number <= last; number++) numbers.push(number);
  }
  return new Set(numbers).size === numbers.length ? numbers : undefined;
}

/** Reads a name; undefined if what follows its colon names no devices. */
export function deviceName(name: string): DeviceName | undefined {
  const at = name.lastIndexOf(":");
  if (at < 0) return { family: name, devices: undefined };
  const devices = deviceNumbers(name.slice(at + 1));
  return devices && { family: name.slice(0, at), devices };
}
