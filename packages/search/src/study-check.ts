// Whether a study that is there can go on with a space.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import { SearchSpace, type SpaceDescription } from "./space.js";
import { differenceOf, spaceChange } from "./space-change.js";
import { parameterOf } from "./stored-view.js";
import type { StoredStudy } from "./study-log.js";

/** The attribute of a study that holds its space, as JSON. */
export const spaceAttribute = "spillway:space";

/**
 * What of the bounds has changed; undefined if nothing.
 * @throws ArgumentError if the study cannot go on with this space and direction
 */
export function checkStudy(study: StoredStudy, space: SearchSpace, direction: string, storage: string): string | undefined {
  if (study.direction !== direction)
    throw new ArgumentError(
      "direction",
      direction,
      `${JSON.stringify(study.direction)}, as the study ${study.name} in ${storage} was made`,
    );
  const stored = study.attributes.get(spaceAttribute);
  if (typeof stored !== "string") {
    checkForeign(study, space, storage);
    return undefined;
  }
  let before: SearchSpace;
  try {
    before = new SearchSpace(JSON.parse(stored) as SpaceDescription);
  } catch (cause) {
    throw new SpillwayError("format", `${storage}: the space that the study ${study.name} was made with cannot be read`, { cause });
  }
  const { refused, noticed } = spaceChange(before, space);
  if (refused !== undefined)
    throw ArgumentError.because(
      `the study ${study.name} in ${storage} is of another space: ${refused}; give the search another name, or another folder`,
      { field: "space" },
    );
  return noticed;
}

/**
 * A study of another program says nothing of its space but in its trials, which may have parameters
 * of their own beside those of the space.
 */
function checkForeign({ name, trials }: StoredStudy, space: SearchSpace, storage: string): void {
  const known = new Set<unknown>();
  const refuse = (why: string) =>
    ArgumentError.because(`the study ${name} in ${storage}, which another program made, is of another space: ${why}; take another name`, {
      field: "space",
    });
  for (const { number, parameters } of trials) {
    for (const given of space.parameters) {
      const distribution = parameters.get(given.name)?.distribution;
      if (!distribution || known.has(distribution)) continue;
      known.add(distribution);
      const difference = differenceOf(parameterOf(given.name, distribution), given);
      if (difference !== undefined) throw refuse(`${given.name} ${difference} in trial ${number}`);
    }
  }
  const names = [...new Set(trials.flatMap(({ parameters }) => [...parameters.keys()]))];
  if (names.length > 0 && known.size === 0)
    throw refuse(`its trials have ${names.join(", ")}, and not ${space.parameters.map((each) => each.name).join(", ")}`);
}
