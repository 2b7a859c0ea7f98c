// Access to memory: loads and stores by space, width, cache and order, atomics, fences, and
// asynchronous copies. What memory a kernel has is in storage.ts.
import { type Item, levels } from "./instruction.js";
import { Storage } from "./storage.js";
import type { Needs } from "./targets.js";
import { type Loaded, loadedType, type MemoryType, type RegisterType, typeBytes, wordOf } from "./types.js";
import { type AddressType, type Operand, Pointer, type Space, type Value } from "./values.js";

/** Memory orders of the PTX memory model. */
export type Order = "weak" | "volatile" | "relaxed" | "acquire" | "release";
/** Threads among which an order holds: of block, cluster, device, or whole system. */
export type Scope = "cta" | "cluster" | "gpu" | "sys";
const anyWord = ["u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64"] as const;
const wholeWord = ["u32", "s32", "b32", "u64", "s64", "b64"] as const;
const ordered = ["u32", "s32", "u64", "s64"] as const;
/** The types that each atomic takes. */
export const atomicTypes = {
  add: ["u32", "s32", "u64", "f32", "f64"],
  min: ordered,
  max: ordered,
  and: wholeWord,
  or: wholeWord,
  xor: wholeWord,
  exch: anyWord,
  inc: ["u32"],
  dec: ["u32"],
} as const;

/** What an atomic does to the number in memory; "inc" and "dec" wrap round at their operand. */
export type AtomicOperation = keyof typeof atomicTypes;

/** Caching, order and condition of an access to memory. */
export interface AccessOptions {
  /** Which caches keep the line: all levels, the second only, or as little as may be. */
  cache?: "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt";
  /** How the access is ordered with those of other threads. Default "weak": not at all. */
  order?: Order;
  /** Whose accesses the order is with; "gpu" if an order is named. */
  scope?: Scope;
  /** The access is made only if this holds. */
  where?: Value<"pred">;
}

/** How memory is read. */
export interface MemoryLoadOptions<T extends RegisterType = RegisterType> extends AccessOptions {
  /** Nobody writes the memory while the kernel runs: the read-only cache may be used. */
  readOnly?: boolean;
  /** What a load that is not made gives; needed with `where`. */
  otherwise?: Operand<T>;
}

export class Memory extends Storage {
  /** The pointer `index` elements further. */
  at<S extends Space, T extends MemoryType>(pointer: Pointer<S, T>, index: Operand<"u32">, stride = 1): Pointer<S, T> {
    const bytes = typeBytes(pointer.element) * stride;
    if (typeof index === "number") return pointer.plus(index * stride);
    const opcode = pointer.space === "shared" ? "mad.lo.u32" : "mad.wide.u32";
    const base = this.emitValue(opcode, pointer.base.type, [index, String(bytes), pointer.base]) as Value<AddressType<S>>;
    return new Pointer(pointer.space, pointer.element, base, pointer.bytes);
  }

  /** The pointer a number of bytes further, given in the address's own width. */
  atBytes<S extends Space, T extends MemoryType>(pointer: Pointer<S, T>, bytes: Value<AddressType<S>>): Pointer<S, T> {
    const base = this.emitValue(`add.${pointer.base.type}`, pointer.base.type, [pointer.base, bytes]);
    return new Pointer(pointer.space, pointer.element, base as Value<AddressType<S>>, pointer.bytes);
  }

  /** A pointer to the same kind of element whose base is a register that may change. */
  through<S extends Space, T extends MemoryType>(pointer: Pointer<S, T>, base: Value<AddressType<S>>): Pointer<S, T> {
    return new Pointer(pointer.space, pointer.element, base, pointer.bytes);
  }

  /** @internal */
  addressItem(pointer: Pointer): Item {
    this.item<RegisterType>(pointer.base.type, pointer.base, "an address");
    return { address: pointer.base, bytes: pointer.bytes };
  }

  private accessOpcode(name: "ld" | "st", pointer: Pointer, count: number, options: MemoryLoadOptions): { opcode: string; needs: Needs } {
    const { order = "weak", scope, cache, readOnly } = options;
    if (readOnly && (pointer.space !== "global" || order !== "weak")) throw this.fail("readOnly is for weak loads of global memory");
    const strong = order === "weak" ? "" : order === "volatile" ? ".volatile" : `.${order}.${scope ?? "gpu"}`;
    const width = count === 1 ? "" : `.v${count}`;
    const opcode = `${name}${strong}.${pointer.space}${cache ? `.${cache}` : ""}${readOnly ? ".nc" : ""}${width}.${wordOf(pointer.element)}`;
    return { opcode, needs: strong.length > 9 || order === "relaxed" ? { sm: 70, version: [6, 0] } : {} };
  }

  /** Loads one element. */
  load<S extends Space, T extends MemoryType>(
    pointer: Pointer<S, T>,
    options: MemoryLoadOptions<Loaded<NoInfer<T>>> = {},
  ): Value<Loaded<T>> {
    return this.loadMany(pointer, 1, options)[0]!;
  }

  /** Loads 2 or 4 elements of one aligned piece of at most 16 bytes, in one instruction. */
  loadVector<S extends Space, T extends MemoryType>(
    pointer: Pointer<S, T>,
    count: 2 | 4,
    options: MemoryLoadOptions<Loaded<NoInfer<T>>> = {},
  ): Value<Loaded<T>>[] {
    if (count * typeBytes(pointer.element) > 16) throw this.fail(`a load of ${count} x ${pointer.element}; it takes at most 16 bytes`);
    return this.loadMany(pointer, count, options);
  }

  private loadMany<T extends MemoryType>(pointer: Pointer<Space, T>, count: number, options: MemoryLoadOptions): Value<Loaded<T>>[] {
    const { opcode, needs } = this.accessOpcode("ld", pointer, count, options);
    const type = loadedType(pointer.element);
    const { where, otherwise } = options;
    if ((where === undefined) !== (otherwise === undefined)) throw this.fail("a load takes `where` and `otherwise` together");
    const results = Array.from({ length: count }, () =>
      where ? this.variable<RegisterType>(type, otherwise as Operand<RegisterType>) : this.newValue(type),
    );
    const result: Item = count === 1 ? results[0]! : { vector: results };
    // One address of local memory is another location in each thread.
    const own = pointer.space === "local" || (options.order !== undefined && options.order !== "weak");
    this.emit(opcode, result, [this.addressItem(pointer)], {
      needs,
      ...(where && { guard: { value: where, negated: false } }),
      ...(own && { level: levels.lane }),
    });
    return results as Value<Loaded<T>>[];
  }

  /** Stores one element, or 2 or 4 into one aligned piece of at most 16 bytes. */
  store<S extends Exclude<Space, "const">, T extends MemoryType>(
    pointer: Pointer<S, T>,
    value: Operand<Loaded<NoInfer<T>>> | readonly Operand<Loaded<NoInfer<T>>>[],
    options: AccessOptions = {},
  ): void {
    if ((pointer.space as Space) === "const") throw this.fail("a store to constant memory; it takes global, shared or local memory");
    const values = (Array.isArray(value) ? value : [value]) as Operand<RegisterType>[];
    const { length } = values;
    if ((length !== 1 && length !== 2 && length !== 4) || length * typeBytes(pointer.element) > 16)
      throw this.fail(`a store of ${length} x ${pointer.element}; it takes 1, 2 or 4 values and at most 16 bytes`);
    const { opcode, needs } = this.accessOpcode("st", pointer, length, options);
    const type = loadedType(pointer.element) as RegisterType;
    const items = values.map((each) => this.item(type, each, "the value of a store"));
    const guard = options.where && { guard: { value: options.where, negated: false } };
    this.emit(opcode, undefined, [this.addressItem(pointer), length === 1 ? items[0]! : { vector: items }], { needs, ...guard });
  }

  /** Reads, computes and writes in one piece; gives what was there before. */
  atomic<S extends "global" | "shared", O extends AtomicOperation, T extends (typeof atomicTypes)[O][number]>(
    operation: O,
    pointer: Pointer<S, T>,
    value: Operand<NoInfer<T>>,
    order: "relaxed" | "acquire" | "release" | "acq_rel" = "relaxed",
    scope: Scope = "gpu",
  ): Value<T> {
    const types: readonly string[] = atomicTypes[operation];
    if (!types.includes(pointer.element)) throw this.fail(`atomic ${operation} of ${pointer.element}; it takes ${types.join(", ")}`);
    const items = [this.addressItem(pointer), this.item<RegisterType>(pointer.element, value as Operand<T>, "the value of an atomic")];
    const type = /and|or|exch/.test(operation) ? `b${8 * typeBytes(pointer.element)}` : pointer.element;
    return this.emitValue(`atom.${order}.${scope}.${pointer.space}.${operation}.${type}`, pointer.element, items, { level: levels.lane });
  }

  /** Writes `value` if `expected` is; gives what was there before. */
  compareAndSwap<S extends "global" | "shared", T extends "b32" | "b64">(
    pointer: Pointer<S, T>,
    expected: Operand<NoInfer<T>>,
    value: Operand<NoInfer<T>>,
    order: "relaxed" | "acquire" | "release" | "acq_rel" = "relaxed",
    scope: Scope = "gpu",
  ): Value<T> {
    const operands = [expected, value].map((each) => this.item(pointer.element, each as Operand<T>, "a value of compareAndSwap"));
    const opcode = `atom.${order}.${scope}.${pointer.space}.cas.${pointer.element}`;
    return this.emitValue(opcode, pointer.element, [this.addressItem(pointer), ...operands], { level: levels.lane });
  }

  /** Orders this thread's accesses before and after it, as others see them. */
  fence(kind: "acq_rel" | "sc", scope: Scope): void {
    this.emit(`fence.${kind}.${scope}`, undefined, []);
  }

  /** Starts a copy of 4, 8 or 16 bytes to shared memory: `bytes` bytes are read, then zeros. */
  copyAsync(to: Pointer<"shared">, from: Pointer<"global">, size: 4 | 8 | 16, bytes?: Operand<"u32">): void {
    const used = bytes === undefined ? [] : [this.item("u32", bytes, "the bytes of copyAsync")];
    const opcode = `cp.async.${size === 16 ? "cg" : "ca"}.shared.global`;
    const operands = [this.addressItem(to), this.addressItem(from), String(size), ...used];
    this.emit(opcode, undefined, operands, { needs: { sm: 80, version: [7, 0] } });
  }

  /** Closes a group of started copies. */
  commitCopies(): void {
    this.emit("cp.async.commit_group", undefined, [], { needs: { sm: 80, version: [7, 0] } });
  }

  /** Waits until at most so many of this thread's groups are unfinished. */
  waitCopies(groups: number): void {
    this.emit("cp.async.wait_group", undefined, [String(groups)], { needs: { sm: 80, version: [7, 0] } });
  }
}
