// What a PTX text says of its kernels: which there are, their parameters, and which PTX version it
// asks for. It parses no instructions.

/** A parameter of an entry as PTX declares it. */
export interface EntryParameter {
  /** "u64", "f32"; "b8" of an array for a struct. */
  readonly type: string;
  readonly bytes: number;
  /** Of its position among the parameters, in bytes. */
  readonly alignment: number;
}

const typeBytes = (type: string): number => Number(/\d+$/.exec(type)?.[0] ?? 0) / 8;

/** PTX with a blank for each comment within a line. */
export function withoutComments(ptx: string): string {
  return ptx.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (comment) => (comment.startsWith("/*") ? " " : ""));
}

function parameterOf(declaration: string): EntryParameter {
  const declared = /\.param\b[^.]*(?:\.align\s+(\d+)\s*)?\.(b8|b16|b32|b64|b128|[usf](?:8|16|32|64))\b/.exec(declaration);
  const type = declared?.[2] ?? "";
  const count = Number(/\[\s*(\d+)\s*\]/.exec(declaration)?.[1] ?? 1);
  return { type, bytes: typeBytes(type) * count, alignment: Number(declared?.[1] ?? typeBytes(type)) };
}

/** The kernels of a PTX text and their parameters, in its order. */
export function ptxEntries(ptx: string): ReadonlyMap<string, readonly EntryParameter[]> {
  const entries = new Map<string, readonly EntryParameter[]>();
  for (const match of withoutComments(ptx).matchAll(/\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?/g)) {
    const declarations = (match[2] ?? "").split(",").map((text) => text.trim());
    entries.set(match[1]!, declarations.filter((text) => text !== "").map(parameterOf));
  }
  return entries;
}

/** The `.version` of a PTX text, such as [6, 3]; undefined if there is none. */
export function ptxVersion(ptx: string): readonly [major: number, minor: number] | undefined {
  const match = /^\s*\.version\s+(\d+)\.(\d+)/m.exec(withoutComments(ptx.slice(0, 65536)));
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

/** The `.target` of a PTX text, such as "sm_75"; undefined if there is none. */
export function ptxTarget(ptx: string): string | undefined {
  return /^\s*\.target\s+(sm_\w+)/m.exec(withoutComments(ptx.slice(0, 65536)))?.[1];
}

/**
 * PTX versions and the first CUDA release whose driver takes each: PTX ISA 9.0, section "Release
 * Notes", table "PTX Release History".
 */
const releases: Readonly<Record<number, number>> = {
  ...{ 600: 9000, 601: 9010, 602: 9020, 603: 10000, 604: 10010, 605: 10020 },
  ...{ 700: 11000, 701: 11010, 702: 11020, 703: 11030, 704: 11040, 705: 11050, 706: 11060, 707: 11070, 708: 11080 },
  ...{ 800: 12000, 801: 12010, 802: 12020, 803: 12030, 804: 12040, 805: 12050, 806: 12070, 807: 12080, 808: 12090 },
  900: 13000,
};

/**
 * The driver version (as `cuDriverGetVersion` gives it, 12040 for 12.4) that a PTX version asks for
 * at least.
 */
export function driverForPtx([major, minor]: readonly [major: number, minor: number]): number {
  const wanted = major * 100 + minor;
  const release = Object.entries(releases).find(([ptx]) => Number(ptx) >= wanted);
  return release ? release[1] : major * 1000 + 4000 + minor * 10;
}

/** 12040 as "12.4". */
export function versionText(version: number): string {
  return `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`;
}
