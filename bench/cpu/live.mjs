// Live processes that answer requests, and how two or more of them are measured beside each other
// on a machine that others load too.
import { createInterface } from "node:readline";
import { started } from "./children.mjs";

/** A process that answers a line of JSON with a line of JSON, and ends with this one. */
export function live(name, command, args, env) {
  const child = started(command, args, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
  // Writing to a child that has ended is told by the end of its output.
  child.stdin.on("error", () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    name,
    async ask(request) {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${name} ended`);
      return JSON.parse(value);
    },
    close: () => child.stdin.end(),
  };
}

/** The value below which a share of the values lies. */
export const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];

export const median = (values) => quantile(values, 0.5);

/**
 * How many steps a piece has, the same for all sides: about `seconds` on the slowest. It is asked
 * anew until all sides are warm: a cold side, whose code is not compiled yet, is up to a hundred
 * times slower, and pieces sized by it would measure the calls around the steps.
 */
export async function pieceSteps(sides, requestOf, seconds) {
  let steps = 20;
  for (let k = 0; k < 5; k++) {
    const times = [];
    for (const side of sides) times.push((await side.ask(requestOf(side, steps))).seconds);
    steps = Math.max(3, Math.min(20 * steps, Math.ceil(seconds / Math.min(...times))));
  }
  return steps;
}

/**
 * Seconds a step of each side, a value a round. The sides run in turn, forwards and backwards: what
 * slows the machine slows all.
 */
export async function rounds(sides, requestOf, steps, count) {
  const samples = new Map(sides.map((side) => [side, []]));
  for (let round = 0; round < count; round++) {
    for (const side of round % 2 ? sides.toReversed() : sides) samples.get(side).push((await side.ask(requestOf(side, steps))).seconds);
  }
  return samples;
}

/** Median and quartiles of the quotients of two sides, round by round. */
export function ratio(theirs, mine) {
  const quotients = theirs.map((time, i) => time / mine[i]);
  return { median: median(quotients), low: quantile(quotients, 0.25), high: quantile(quotients, 0.75) };
}
