// Which random streams the tasks draw from. A reservoir's weights take streams 0 to 4 of a seed, so
// a task and a reservoir with the same seed stay independent.
import { RandomStream, type Seed, seedKeys } from "@spillway/numerics";

const streams = { mackeyGlass: 32, narma: 33, memoryTask: 34, flow: 35 } as const;

/** The stream of a task: draws are uniform in [0, 1), addressed by (row, index). */
export function taskStream(task: keyof typeof streams, seed: Seed): RandomStream {
  return new RandomStream(seedKeys(seed).weights, streams[task]);
}
