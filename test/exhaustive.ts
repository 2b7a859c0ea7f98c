// Which cases of a test run. `npm test` takes representatives of long lists; `npm run
// test:exhaustive` and the tests on a GPU take all. vitest.exhaustive.config.ts runs the files that
// import this one.

/** Whether every case runs. */
export const exhaustive: boolean = process.env["SPILLWAY_EXHAUSTIVE"] === "1";

/** All cases if every case runs, else those that represent them. @throws Error if none does */
export function casesOf<T>(all: Iterable<T>, represents: (each: T, index: number) => boolean): T[] {
  const cases = [...all];
  const chosen = cases.filter(represents);
  if (chosen.length === 0) throw new Error("no case represents the others in npm test");
  return exhaustive ? cases : chosen;
}

/** A number for every case, such as steps or runs, and a smaller one for `npm test`. */
export const amount = (all: number, few: number): number => (exhaustive ? all : few);
