// The types of pattern, one line each. A new one is a file beside this one, a name in measure.ts,
// and a line here.
import type { PatternMeasure, PatternType } from "../measure.js";
import { burst } from "./burst.js";
import { chaotic } from "./chaotic.js";
import { emergent } from "./emergent.js";
import { rhythmic } from "./rhythmic.js";
import { sparse } from "./sparse.js";
import { standing } from "./standing.js";
import { synchronous } from "./synchronous.js";
import { travelling } from "./travelling.js";

/** Every type by name. */
export const patternMeasures: Readonly<Record<PatternType, PatternMeasure>> = {
  synchronous,
  travelling,
  standing,
  chaotic,
  emergent,
  rhythmic,
  sparse,
  burst,
};
