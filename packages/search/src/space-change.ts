// What differs between the space a study was made with and the one it goes on with.
import type { SearchParameter, SearchSpace } from "./space.js";

/**
 * Other bounds may be: old trials beyond them are not counted. Another kind, scale, step or list of
 * choices may not.
 */
export function spaceChange(before: SearchSpace, now: SearchSpace): { readonly refused?: string; readonly noticed?: string } {
  const names = new Set([...before.parameters, ...now.parameters].map(({ name }) => name));
  const noticed: string[] = [];
  for (const name of names) {
    const [old, given] = [before, now].map(({ parameters }) => parameters.find((each) => each.name === name));
    if (!old || !given) return { refused: `${name} is ${old ? "no longer" : "newly"} in it` };
    const difference = differenceOf(old, given);
    if (difference !== undefined) return { refused: `${name} ${difference}` };
    if (old.low !== given.low || old.high !== given.high)
      noticed.push(`${name} now goes from ${given.low} to ${given.high}, before from ${old.low} to ${old.high}`);
  }
  if (conditionsOf(before) !== conditionsOf(now)) return { refused: "its conditions differ" };
  if (JSON.stringify(before.sweeps) !== JSON.stringify(now.sweeps)) return { refused: "its sweeps differ" };
  return noticed.length > 0 ? { noticed: noticed.join("; ") } : {};
}

/** What of a parameter differs beside its bounds, in words; undefined if nothing. */
export function differenceOf(old: SearchParameter, given: SearchParameter): string | undefined {
  if (old.kind !== given.kind) return `is ${given.kind} and was ${old.kind}`;
  if (old.kind === "choice") {
    const [was, is] = [old, given].map(({ choices }) => JSON.stringify(choices));
    return was === is ? undefined : `has the choices ${is} and had ${was}`;
  }
  if (old.log !== given.log) return `has log ${given.log} and had ${old.log}`;
  return old.step === given.step ? undefined : `has the step ${given.step || "none"} and had ${old.step || "none"}`;
}

function conditionsOf({ parameters }: SearchSpace): string {
  return JSON.stringify(
    parameters.map(({ name, condition }) => [name, condition && [parameters[condition.parent]!.name, condition.values]]).sort(),
  );
}
