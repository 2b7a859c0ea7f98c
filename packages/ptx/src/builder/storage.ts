// What memory a kernel has: its parameters, and arrays in shared, local and constant memory. Loads
// and stores are in memory.ts.
import { Control } from "./control.js";
import { levels } from "./instruction.js";
import { type Loaded, loadedType, type MemoryType, typeBytes, wordOf } from "./types.js";
import { literal, Pointer, type Space, type Value } from "./values.js";

/** A parameter of a kernel. */
export interface DeclaredParameter {
  readonly name: string;
  readonly type: MemoryType;
  /** For a pointer: what it points to. */
  readonly element?: MemoryType;
}

/** An array that is declared with its kernel or, in constant memory, before it. */
export interface DeclaredArray {
  readonly space: Exclude<Space, "global">;
  readonly name: string;
  readonly bytes: number;
  readonly alignment: number;
  /** Type and elements as they are printed; bytes without a value if there are none. */
  readonly values?: { readonly type: string; readonly texts: readonly string[] };
}

const alignUp = (value: number, to: number): number => Math.ceil(value / to) * to;
const powerOfTwo = (value: number, most: number): boolean => value >= 1 && value <= most && (value & (value - 1)) === 0;

export class Storage extends Control {
  /** @internal */
  readonly parameters: DeclaredParameter[] = [];
  /** @internal */
  readonly arrays: DeclaredArray[] = [];
  private dynamicBytes = 0;
  private alignment = 128;

  /** Dynamic shared memory that a launch must give, in bytes. */
  get dynamicSharedBytes(): number {
    return this.dynamicBytes;
  }

  /** Bytes of the shared arrays declared so far, alignment included. */
  get staticSharedBytes(): number {
    return this.bytesIn("shared");
  }

  /** @internal Bytes of the arrays of a space, alignment included. */
  bytesIn(space: DeclaredArray["space"]): number {
    return this.arrays.reduce((sum, each) => (each.space === space ? alignUp(sum, each.alignment) + each.bytes : sum), 0);
  }

  private addParameter(parameter: DeclaredParameter): string {
    if (!/^[A-Za-z_]\w*$/.test(parameter.name)) throw this.fail(`a parameter's name is ${JSON.stringify(parameter.name)}; it takes a name`);
    if (this.parameters.some(({ name }) => name === parameter.name)) throw this.fail(`parameter ${parameter.name} is there twice`);
    this.parameters.push(parameter);
    return `${this.name}_${parameter.name}`;
  }

  /** A scalar parameter, in the order of the calls. */
  parameter<T extends MemoryType>(type: T, name: string): Value<Loaded<T>> {
    const symbol = this.addParameter({ name, type });
    const opcode = `ld.param.${wordOf(type)}`;
    return this.emitValue(opcode, loadedType(type), [{ address: symbol, bytes: 0 }], { level: levels.block });
  }

  /** A parameter that points to elements in global memory. */
  pointer<T extends MemoryType>(element: T, name: string): Pointer<"global", T> {
    const symbol = this.addParameter({ name, type: "u64", element });
    const generic = this.emitValue("ld.param.u64", "u64", [{ address: symbol, bytes: 0 }], { level: levels.block });
    return new Pointer("global", element, this.emitValue("cvta.to.global.u64", "u64", [generic]));
  }

  private declare(space: DeclaredArray["space"], bytes: number, alignment: number, values?: DeclaredArray["values"]): string {
    const name = `${this.name}_${space}_${this.arrays.filter((each) => each.space === space).length}`;
    this.arrays.push({ space, name, bytes, alignment, ...(values && { values }) });
    return name;
  }

  /** An array in static shared memory: 48 KiB at most in all. */
  shared<T extends MemoryType>(element: T, count: number, alignment = 16): Pointer<"shared", T> {
    const bytes = this.sizeOf("shared", element, count, alignment, 1024);
    return new Pointer("shared", element, this.emitValue("mov.u32", "u32", [this.declare("shared", bytes, alignment)]));
  }

  /** An array in dynamic shared memory, whose total `dynamicSharedBytes` a launch must give. */
  dynamicShared<T extends MemoryType>(element: T, count: number, alignment = 16): Pointer<"shared", T> {
    const bytes = this.sizeOf("shared", element, count, alignment, 1024);
    const at = alignUp(this.dynamicBytes, alignment);
    this.alignment = Math.max(this.alignment, alignment);
    this.dynamicBytes = at + bytes;
    return new Pointer("shared", element, this.emitValue("mov.u32", "u32", [this.dynamicName]), at);
  }

  /** @internal Bytes to whose multiple the dynamic shared memory is aligned. */
  get dynamicAlignment(): number {
    return this.alignment;
  }

  /** @internal */
  get dynamicName(): string {
    return `${this.name}_dynamic`;
  }

  /** An array of each thread in local memory, for indices known only as the kernel runs. */
  local<T extends MemoryType>(element: T, count: number, alignment = 16): Pointer<"local", T> {
    const bytes = this.sizeOf("local", element, count, alignment, 128);
    return new Pointer("local", element, this.emitValue("mov.u64", "u64", [this.declare("local", bytes, alignment)]));
  }

  /** An array of numbers that stay as they are, in constant memory: 64 KiB at most in all. */
  constants<T extends Exclude<MemoryType, "tf32">>(element: T, values: readonly (number | bigint)[]): Pointer<"const", T> {
    const bytes = this.sizeOf("constant", element, values.length, 16, 128);
    const type = /^b?f16/.test(element) ? `b${8 * typeBytes(element)}` : element;
    const texts = values.map((value) => literal(element, value));
    return new Pointer("const", element, this.emitValue("mov.u64", "u64", [this.declare("const", bytes, 16, { type, texts })]));
  }

  private sizeOf(what: string, element: MemoryType, count: number, alignment: number, most: number): number {
    if (!Number.isInteger(count) || count < 1) throw this.fail(`${what} memory for ${count} elements; it takes a whole number from 1`);
    if (!powerOfTwo(alignment, most)) throw this.fail(`an alignment of ${alignment} bytes; it takes a power of two up to ${most}`);
    return typeBytes(element) * count;
  }
}

export function arrayText({ space, name, bytes, alignment, values }: DeclaredArray): string {
  if (values === undefined) return `.${space} .align ${alignment} .b8 ${name}[${bytes}];`;
  return `.${space} .align ${alignment} .${values.type} ${name}[${values.texts.length}] = {${values.texts.join(", ")}};`;
}
