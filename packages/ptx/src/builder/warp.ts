// What threads do together: barriers, shuffles, votes, and the shared memory of a cluster. Barrier
// objects are in barrier-objects.ts.
import { levels } from "./instruction.js";
import { Memory } from "./memory.js";
import { type Operand, Pointer, type Value } from "./values.js";

const allLanes = 0xffffffff;
const hopper = { needs: { sm: 90, version: [7, 8] } } as const;

type Shuffled = "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32";

export class Warp extends Memory {
  /** Waits for all threads of the block; their earlier writes are visible afterwards. */
  barrier(): void {
    this.emit("bar.sync", undefined, ["0"], { together: "block" });
  }

  /** Waits at barrier 1 to 15 for so many threads, which come in whole warps. */
  namedBarrier(id: Operand<"u32">, threads: number): void {
    this.emit("bar.sync", undefined, [this.item("u32", id, "the barrier"), String(threads)], { together: "warp" });
  }

  /** Waits for all threads of the block, and gives whether the predicate held in all, or in any. */
  barrierVote(how: "and" | "or", predicate: Value<"pred">): Value<"pred"> {
    return this.emitValue(`bar.red.${how}.pred`, "pred", ["0", predicate], { together: "block", level: levels.block });
  }

  /** Waits for the lanes of a mask. */
  warpSync(mask = allLanes): void {
    this.emit("bar.warp.sync", undefined, [String(mask)], this.gathered(mask));
  }

  private gathered(mask: number): { together?: "warp" } {
    return mask === allLanes ? { together: "warp" } : {};
  }

  /**
   * The value of another lane: "idx" of lane `by`, "up" and "down" of the lane so many below or
   * above, "bfly" of lane ^ by. `width` splits the warp into parts that keep to themselves. A lane
   * that would look outside its part gets its own value.
   */
  shuffle<T extends Shuffled>(
    how: "idx" | "up" | "down" | "bfly",
    value: Value<T>,
    by: Operand<"u32">,
    { width = 32, mask = allLanes }: { width?: 2 | 4 | 8 | 16 | 32; mask?: number } = {},
  ): Value<T> {
    const clamp = ((32 - width) << 8) | (how === "up" ? 0 : 31);
    const operands = [value, this.item("u32", by, "the lane of a shuffle"), String(clamp), String(mask)];
    const uniform = how === "idx" && typeof by === "number" && width === 32 ? { level: levels.warp } : {};
    return this.emitValue(`shfl.sync.${how}.b32`, value.type, operands, { ...this.gathered(mask), ...uniform });
  }

  /** Whether the predicate holds in all lanes, or in any. */
  vote(how: "all" | "any", predicate: Value<"pred">, mask = allLanes): Value<"pred"> {
    return this.emitValue(`vote.sync.${how}.pred`, "pred", [predicate, String(mask)], { ...this.gathered(mask), level: levels.warp });
  }

  /** One bit a lane: set if the predicate holds. */
  ballot(predicate: Value<"pred">, mask = allLanes): Value<"b32"> {
    return this.emitValue("vote.sync.ballot.b32", "b32", [predicate, String(mask)], { ...this.gathered(mask), level: levels.warp });
  }

  /** The lanes that hold the same word. */
  match(value: Value<"b32"> | Value<"b64">, mask = allLanes): Value<"b32"> {
    return this.emitValue(`match.any.sync.${value.type}`, "b32", [value, String(mask)], this.gathered(mask));
  }

  /** Sum, least or largest of a whole number over the lanes. */
  reduceLanes<T extends "u32" | "s32">(how: "add" | "min" | "max", value: Value<T>, mask = allLanes): Value<T> {
    const rest = { ...this.gathered(mask), level: levels.warp, needs: { sm: 80, version: [7, 0] } } as const;
    return this.emitValue(`redux.sync.${how}.${value.type}`, value.type, [value, String(mask)], rest);
  }

  /** Rank of the block in its cluster. */
  clusterRank(): Value<"u32"> {
    return this.emitValue("mov.u32", "u32", ["%cluster_ctarank"], { level: levels.block, ...hopper });
  }

  /** Waits for all threads of all blocks of the cluster. */
  clusterBarrier(): void {
    this.emit("barrier.cluster.arrive.aligned", undefined, [], { together: "block", ...hopper });
    this.emit("barrier.cluster.wait.aligned", undefined, [], { together: "block", ...hopper });
  }

  /** The same place in the shared memory of another block of the cluster. */
  inCluster<T extends Pointer<"shared">["element"]>(pointer: Pointer<"shared", T>, rank: Operand<"u32">): Pointer<"shared", T> {
    const operands = [pointer.base, this.item("u32", rank, "the rank of inCluster")];
    return new Pointer("shared", pointer.element, this.emitValue("mapa.shared::cluster.u32", "u32", operands, hopper), pointer.bytes);
  }
}
