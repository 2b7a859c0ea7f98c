// Where control can go in a function: which segments can come after which. It knows nothing of what
// they compute.
import { successors } from "./registers.js";
import type { Segment } from "./segments.js";

export class Paths {
  private readonly segments: readonly Segment[];
  private readonly found = new Map<number, Uint8Array>();

  constructor(segments: readonly Segment[]) {
    this.segments = segments;
  }

  /** True if a lane that is at segment `from` can come to segment `to` later on. */
  reaches(from: number, to: number): boolean {
    let reached = this.found.get(from);
    if (reached === undefined) {
      reached = new Uint8Array(this.segments.length);
      const open = [from];
      for (let at = open.pop(); at !== undefined; at = open.pop())
        for (const next of successors(this.segments, at)) {
          if (reached[next] === 1) continue;
          reached[next] = 1;
          open.push(next);
        }
      this.found.set(from, reached);
    }
    return reached[to] === 1;
  }

  /**
   * True if a lane that is at `now` has passed `missed` by: it cannot come there any more, and from
   * there it could have come here.
   */
  passed(missed: number, now: number): boolean {
    return now !== missed && this.reaches(missed, now) && !this.reaches(now, missed);
  }
}
