// Copies that cp.async began and that nothing has waited for yet. Their bytes arrive at the wait, and until then whoever touches them is told.
import { type DeviceMemory, shadow } from "./memory.js";

interface Copy {
  readonly place: number;
  readonly bytes: Uint8Array;
}

/** The copies of the lanes of a warp, in the groups that they were committed in. */
export class AsyncCopies {
  private readonly memory: DeviceMemory;
  /** For each lane its groups, oldest first; the last is not committed. */
  private readonly groups: Copy[][][] = Array.from({ length: 32 }, () => [[]]);

  constructor(memory: DeviceMemory) {
    this.memory = memory;
  }

  begin(lane: number, place: number, bytes: Uint8Array): void {
    this.groups[lane]!.at(-1)!.push({ place, bytes });
    this.memory.shadowBytes.fill(shadow.arriving, place, place + bytes.length);
  }

  commit(lane: number): void {
    this.groups[lane]!.push([]);
  }

  /** Lets all but the last `pending` committed groups arrive. */
  wait(lane: number, pending: number): void {
    const groups = this.groups[lane]!;
    while (groups.length - 1 > pending) this.arrive(groups.shift()!);
  }

  /** Lets all arrive, committed or not. */
  waitForAll(lane: number): void {
    this.wait(lane, 0);
    this.arrive(this.groups[lane]!.pop()!);
    this.groups[lane]!.push([]);
  }

  private arrive(copies: readonly Copy[]): void {
    for (const { place, bytes } of copies) this.memory.write(place, bytes);
  }
}
