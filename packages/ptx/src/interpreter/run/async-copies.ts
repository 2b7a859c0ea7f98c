// Copies that cp.async began and that nothing has waited for yet. Their bytes arrive at the wait;
// touching them earlier is an error.
import { type DeviceMemory, shadow } from "./memory.js";
import type { Warp } from "./warp.js";

interface Copy {
  readonly site: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The copies of the lanes of a warp, in the groups that they were committed in. */
export class AsyncCopies {
  private readonly memory: DeviceMemory;
  private readonly warp: Warp;
  /** For each lane its groups, oldest first; the last is not committed. */
  private readonly groups: Copy[][][] = Array.from({ length: 32 }, () => [[]]);

  constructor(memory: DeviceMemory, warp: Warp) {
    this.memory = memory;
    this.warp = warp;
  }

  begin(lane: number, site: number, offset: number, bytes: Uint8Array): void {
    this.groups[lane]!.at(-1)!.push({ site, offset, bytes });
    this.memory.shadowBytes.fill(shadow.arriving, offset, offset + bytes.length);
  }

  commit(lane: number): void {
    this.groups[lane]!.push([]);
  }

  /** Lets all but the last `pending` committed groups arrive. */
  wait(lane: number, pending: number): void {
    const groups = this.groups[lane]!;
    while (groups.length - 1 > pending) this.arrive(lane, groups.shift()!);
  }

  /** Lets all arrive, committed or not. */
  waitForAll(lane: number): void {
    this.wait(lane, 0);
    this.arrive(lane, this.groups[lane]!.pop()!);
    this.groups[lane]!.push([]);
  }

  /** The bytes are stored now, by this thread: only a barrier after this makes them known. */
  private arrive(lane: number, copies: readonly Copy[]): void {
    const { warp, memory } = this;
    const { races, checks } = warp.launch;
    for (const { site, offset, bytes } of copies) {
      const first = warp.tagBase + ((offset - warp.sharedBase) >>> 2);
      if (checks.races) for (let word = first; word < first + bytes.length / 4; word++) races.write(warp, lane, site, word);
      memory.write(offset, bytes);
    }
  }
}
