// Barrier objects (mbarrier) in shared memory, and the copies and stores that count their bytes at
// one: what threads of a block or a cluster wait for without all stopping at one place.
import { levels } from "./instruction.js";
import { type MemoryType, type RegisterType, typeBytes } from "./types.js";
import type { Operand, Pointer, Value } from "./values.js";
import { Warp } from "./warp.js";

const hopper = { needs: { sm: 90, version: [8, 0] } } as const;

export class BarrierObjects extends Warp {
  /**
   * Makes a barrier object for so many arrivals; a barrier of the block or a fence of the cluster
   * makes it known.
   */
  initBarrierObject(object: Pointer<"shared", "b64">, arrivals: number): void {
    this.emit("mbarrier.init.shared::cta.b64", undefined, [this.addressItem(object), String(arrivals)], hopper);
  }

  /** Makes barrier objects known to the cluster. */
  fenceBarrierInit(): void {
    this.emit("fence.mbarrier_init.release.cluster", undefined, [], hopper);
  }

  /**
   * Arrives at a barrier object of the block: one arrival, after all that this thread did before.
   */
  arriveAt(object: Pointer<"shared", "b64">): void {
    this.emit("mbarrier.arrive.shared::cta.b64", undefined, ["_", this.addressItem(object)], hopper);
  }

  /** Arrives at a barrier object that is then to receive so many bytes too. */
  expectBytes(object: Pointer<"shared", "b64">, bytes: number): void {
    this.emit("mbarrier.arrive.expect_tx.shared::cta.b64", undefined, ["_", this.addressItem(object), String(bytes)], hopper);
  }

  /**
   * Whether the phase of a parity is over; the hardware may sleep a while before it says no.
   * `scope` is whose writes are then visible.
   */
  tryWait(object: Pointer<"shared", "b64">, parity: Operand<"u32">, scope: "cta" | "cluster" = "cluster"): Value<"pred"> {
    const operands = [this.addressItem(object), this.item("u32", parity, "the parity of tryWait")];
    const opcode = `mbarrier.try_wait.parity.acquire.${scope}.shared::cta.b64`;
    return this.emitValue(opcode, "pred", operands, { ...hopper, level: levels.lane });
  }

  /**
   * Waits until the phase of a parity is over, for so many cycles at most, and says whether it is.
   */
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

  /**
   * Starts a copy of a multiple of 16 bytes between places aligned to 16; when it is done its bytes
   * count at a barrier object, which expects them. One thread does it for all.
   */
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
    this.emit(opcode, undefined, [this.addressItem(to), this.addressItem(from), count, this.addressItem(object)], hopper);
  }

  /**
   * Stores a word into the shared memory of a block of the cluster, and counts its bytes at a
   * barrier object there; only if `where` holds.
   */
  storeAsync<T extends "b32" | "u32" | "f32" | "b64">(
    to: Pointer<"shared", T>,
    value: Value<NoInfer<T>>,
    object: Pointer<"shared", "b64">,
    where?: Value<"pred">,
  ): void {
    if (typeBytes(value.type) !== typeBytes(to.element)) throw this.fail(`storeAsync got a ${value.type}; it takes ${to.element}`);
    const bits: RegisterType = typeBytes(to.element) === 8 ? "b64" : "b32";
    const opcode = `st.async.shared::cluster.mbarrier::complete_tx::bytes.${bits}`;
    this.emit(opcode, undefined, [this.addressItem(to), value, this.addressItem(object)], {
      needs: { sm: 90, version: [8, 1] },
      ...(where && { guard: { value: where, negated: false } }),
    });
  }
}
