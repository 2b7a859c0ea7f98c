// Which cases of a test run. `npm test` takes representatives of long lists; `npm run
// test:exhaustive` takes the others, and the tests on a GPU take all. vitest.exhaustive.config.ts
// runs the files that import this one. `SPILLWAY_SAMPLE` names a seed: of those files, of the others
// in them and of the toolchain tests, a fixed part then runs, drawn by that seed. `.ci/run` takes
// the commit as the seed; the nightly workflow sets none and runs every case.
import { createHash } from "node:crypto";

// In files that `npm test` leaves out ("long"), the representatives run beside a part of the others.
const asked = process.env["SPILLWAY_EXHAUSTIVE"];
const seed = process.env["SPILLWAY_SAMPLE"] ?? "";

/** Whether more runs than what represents it. */
export const exhaustive: boolean = asked === "all" || asked === "others" || asked === "long";

/** Whether a case is in the sample; every case is if no seed is set. */
export function inSample(share: number, ...key: (string | number)[]): boolean {
  if (seed === "") return true;
  const hash = createHash("sha256")
    .update([seed, ...key].join("\0"))
    .digest();
  return hash.readUInt32LE() < share * 2 ** 32;
}

/** The sampled part of a list, at least one case of it; all if no seed is set. */
export function sampled<T>(cases: readonly T[], share: number, label = ""): T[] {
  const chosen = cases.filter((_, index) => inSample(share, label, cases.length, index));
  return chosen.length > 0 ? chosen : cases.slice(0, 1);
}

/**
 * The cases that represent the others, all if every case runs, or those that the representatives
 * leave out. @throws Error if none represents the others
 */
export function casesOf<T>(all: Iterable<T>, represents: (each: T, index: number) => boolean): T[] {
  const cases = [...all];
  const chosen = cases.filter(represents);
  if (chosen.length === 0) throw new Error("no case represents the others in npm test");
  const others = cases.filter((each) => !chosen.includes(each));
  if (asked === "others") return sampled(others, 0.25);
  if (asked === "long") return [...chosen, ...sampled(others, 0.25)];
  return exhaustive ? cases : chosen;
}

/** A number for every case, such as steps or runs, and a smaller one for `npm test`. */
export const amount = (all: number, few: number): number => (exhaustive ? all : few);

/** Runs of a property: all in the nightly run, some in a sample of it, few in every other. */
export const runs = (all: number, some: number, few: number): number => {
  if (asked !== "others" && asked !== "long") return few;
  return seed === "" ? all : some;
};
