// Collective work of simulated devices: done when every rank has come, in the order of the ranks.
import { ArgumentError, SpillwayError } from "@spillway/core/errors.js";
import type { ArrayOf, Dtype } from "./dtypes.js";
import type { DeviceSlice } from "./slice.js";
import type { Stream } from "./stream.js";

/** One rank's part in a piece of collective work. */
export interface Operation {
  readonly kind: "allReduce" | "allGather" | "reduceScatter" | "broadcast" | "send" | "receive";
  readonly rank: number;
  readonly stream: Stream;
  readonly to: DeviceSlice;
  readonly from: DeviceSlice;
  /** Default "sum". */
  readonly reduction?: keyof typeof combine;
  /** The root of a broadcast, or the other rank. */
  readonly peer?: number;
}

type Numbers = Float32Array | Float64Array | Int32Array | Uint32Array;

const combine = {
  sum: (a: number, b: number) => a + b,
  product: (a: number, b: number) => a * b,
  max: (a: number, b: number) => (a > b ? a : b),
  min: (a: number, b: number) => (a < b ? a : b),
} as const;

/** The ranks of one process and what they have yet to do together. */
export class SimulatedGroup {
  readonly #size: number;
  readonly #waiting: Operation[] = [];
  #aborted = false;

  constructor(size: number) {
    this.#size = size;
  }

  abort(): void {
    this.#aborted = true;
    this.#waiting.length = 0;
  }

  /** @throws SpillwayError, ArgumentError if the ranks do not do the same */
  take(operation: Operation): void {
    if (this.#aborted) throw new SpillwayError("lifecycle", "a rank of the communicator was aborted");
    this.#waiting.push(operation);
    const { kind, rank, peer } = operation;
    if (kind === "send" || kind === "receive") {
      const other = this.#waiting.find(
        (each) => each.rank === peer && each.peer === rank && each.kind === (kind === "send" ? "receive" : "send"),
      );
      if (other === undefined) return;
      this.#forget([operation, other]);
      const [source, target] = kind === "send" ? [operation, other] : [other, operation];
      put(target, read(source));
      return;
    }
    const heads = Array.from({ length: this.#size }, (_, r) =>
      this.#waiting.find((each) => each.rank === r && !/send|receive/.test(each.kind)),
    );
    if (heads.some((head) => head === undefined)) return;
    const all = heads as readonly Operation[];
    this.#forget(all);
    for (const each of all)
      if (each.kind !== all[0]!.kind || each.from.length !== all[0]!.from.length || each.from.dtype !== all[0]!.from.dtype)
        throw ArgumentError.because(`rank 0 does ${all[0]!.kind} and rank ${each.rank} ${each.kind}, or of other types or lengths`, {
          field: "source",
        });
    this.#run(all);
  }

  #forget(those: readonly Operation[]): void {
    for (const each of those) this.#waiting.splice(this.#waiting.indexOf(each), 1);
  }

  #run(all: readonly Operation[]): void {
    const { kind, reduction = "sum", peer = 0 } = all[0]!;
    const parts = all.map(read);
    if (kind === "broadcast") {
      for (const each of all) put(each, parts[peer]!);
      return;
    }
    if (kind === "allGather") {
      for (const each of all) {
        const whole = each.to.hostArray() as Numbers;
        for (const [rank, part] of parts.entries()) whole.set(part as never, rank * part.length);
        put(each, whole);
      }
      return;
    }
    const { dtype } = all[0]!.from;
    if (!["f32", "f64", "i32", "u32"].includes(dtype))
      throw new SpillwayError("unavailable", `a reduction of ${dtype} is not simulated; f32, f64, i32 and u32 are`);
    const total = parts[0]!.slice() as Numbers;
    // Each sum is rounded to the type as it is stored.
    for (const part of parts.slice(1)) for (let i = 0; i < total.length; i++) total[i] = combine[reduction](total[i]!, part[i] as number);
    for (const each of all) {
      const length = each.to.length;
      put(each, kind === "allReduce" ? total : total.slice(each.rank * length, (each.rank + 1) * length));
    }
  }
}

function read({ stream, from }: Operation): ArrayOf<Dtype> {
  stream.sync();
  const array = from.hostArray();
  if (from.byteLength > 0) {
    stream.core.call("cuMemcpyDtoHAsync", array, from.address, from.byteLength, stream.handle);
    stream.sync();
  }
  return array;
}

function put({ stream, to }: Operation, array: ArrayOf<Dtype> | Numbers): void {
  stream.upload(to, array as ArrayOf<Dtype>);
}
