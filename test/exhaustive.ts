// Which cases of a test run. `npm test` takes representatives of long lists; `npm run
// test:exhaustive` takes the others, and the tests on a GPU take all. vitest.exhaustive.config.ts
// runs the files that import this one.

const asked = process.env["SPILLWAY_EXHAUSTIVE"];

/** Whether more runs than what represents it. */
export const exhaustive: boolean = asked === "all" || asked === "others";

/**
 * The cases that represent the others, all if every case runs, or those that the representatives
 * leave out. @throws Error if none represents the others
 */
export function casesOf<T>(all: Iterable<T>, represents: (each: T, index: number) => boolean): T[] {
  const cases = [...all];
  const chosen = cases.filter(represents);
  if (chosen.length === 0) throw new Error("no case represents the others in npm test");
  if (asked === "others") return cases.filter((each) => !chosen.includes(each));
  return exhaustive ? cases : chosen;
}

/** A number for every case, such as steps or runs, and a smaller one for `npm test`. */
export const amount = (all: number, few: number): number => (exhaustive ? all : few);
