// What threads do together: barriers, shuffles, votes, barrier objects (mbarrier) and their copies.
import { levels } from "./instruction.js";
import { Memory } from "./memory.js";
import type { MemoryType } from "./types.js";
import type { Operand, Pointer, Value } from "./values.js";

const allLanes = 0xffffffff;
const hopper = { needs: { sm: 90, version: [7, 8] } } as const;
const objects = { needs: { sm: 90, version: [8, 0] } } as const;

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

  /** Makes a barrier object for so many arrivals, known after a barrier or a cluster's fence. */
  initBarrierObject(object: Pointer<"shared", "b64">, arrivals: number): void {
    this.emit("mbarrier.init.shared::cta.b64", undefined, [this.addressItem(object), String(arrivals)], objects);
  }

  /** Makes barrier objects known to the cluster. */
  fenceBarrierInit(): void {
    this.emit("fence.mbarrier_init.release.cluster", undefined, [], objects);
  }

  /** Arrives once at a barrier object of the block, after all this thread did before. */
  arriveAt(object: Pointer<"shared", "b64">): void {
    this.emit("mbarrier.arrive.shared::cta.b64", undefined, ["_", this.addressItem(object)], objects);
  }

  /** Arrives at a barrier object that is then to receive so many bytes too. */
  expectBytes(object: Pointer<"shared", "b64">, bytes: number): void {
    this.emit("mbarrier.arrive.expect_tx.shared::cta.b64", undefined, ["_", this.addressItem(object), String(bytes)], objects);
  }

  /** Whether a phase is over; it may sleep first. `scope`: whose writes are then visible. */
  tryWait(object: Pointer<"shared", "b64">, parity: Operand<"u32">, scope: "cta" | "cluster" = "cluster"): Value<"pred"> {
    const operands = [this.addressItem(object), this.item("u32", parity, "the parity of tryWait")];
    const opcode = `mbarrier.try_wait.parity.acquire.${scope}.shared::cta.b64`;
    return this.emitValue(opcode, "pred", operands, { ...objects, level: levels.lane });
  }

  /** Waits for a phase, for so many cycles at most, and says whether it is over. */
  waitAt(object: Pointer<"shared", "b64">, parity: Operand<"u32">, patience: number): Value<"pred"> {
    const over = this.variable("pred", this.tryWait(object, parity, "cta"));
    this.if(this.not(over), () => {
      const end = this.add(this.clock(), patience);
      this.repeatWhile(() => {
        this.assign(over, this.tryWait(object, parity, "cta"));
        return this.and(this.not(over), this.compare("lt", this.clock(), end));
      });
    });
    return over;
  }

  /** Starts one thread's copy of a multiple of 16 bytes, which count at a barrier object. */
  copyBulk(
    to: Pointer<"shared", MemoryType>,
    from: Pointer<"global", MemoryType>,
    bytes: Operand<"u32">,
    object: Pointer<"shared", "b64">,
  ): void {
    if (typeof bytes === "number" && (bytes % 16 !== 0 || bytes < 16))
      throw this.fail(`copyBulk got ${bytes} bytes; it takes a multiple of 16 from 16`);
    const opcode = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    const count = this.item("u32", bytes, "the bytes of copyBulk");
    this.emit(opcode, undefined, [this.addressItem(to), this.addressItem(from), count, this.addressItem(object)], objects);
  }
}
