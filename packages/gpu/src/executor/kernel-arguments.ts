// Parameters for the arguments of a launch by name, read from the PTX. Kernels that are known
// beforehand are better declared (`Module.kernel`), because then TypeScript checks their launches.
import { LaunchError } from "@spillway/core/errors.js";
import { describe } from "@spillway/core/text.js";
import type { LaunchConfig } from "../launch-config.js";
import type { Module } from "../module.js";
import type { Parameter } from "../parameters.js";
import type { EntryParameter } from "../ptx-entry.js";
import { DeviceSlice, type ReadonlyDeviceSlice } from "../slice.js";
import type { Stream } from "../stream.js";

/**
 * An argument of a launch: device memory (null for none), a number, a bigint for 64 bits, a truth
 * value for a `bool`, a struct's bytes, or with
 * `parameters` an object for a described struct.
 */
export type KernelArgument = ReadonlyDeviceSlice | null | number | bigint | boolean | ArrayBufferView | Readonly<Record<string, unknown>>;

/** What a launch may have beside grid and block. */
export interface LaunchOptions extends Omit<LaunchConfig, "grid" | "block"> {
  /** The stream; default the device's. */
  readonly stream?: Stream;
  /** The kernel's parameters, if the image does not say what they are, or to be checked by. */
  readonly parameters?: readonly Parameter[];
}

const described = (argument: KernelArgument): string =>
  argument instanceof DeviceSlice ? `memory of ${argument.dtype}` : describe(argument);

/**
 * The parameter that an argument is meant for, by the PTX type there. @throws LaunchError if the
 * two do not go together.
 */
function parameterFor(kernel: string, index: number, { type, bytes }: EntryParameter, argument: KernelArgument): Parameter {
  const refuse = (takes: string) =>
    new LaunchError(kernel, `argument ${index} is ${described(argument)}, and the kernel has .${type} there: it takes ${takes}`, {
      field: `args[${index}]`,
      value: argument,
      expected: takes,
    });
  const width = Number(/\d+/.exec(type)?.[0] ?? 0);
  if (bytes * 8 !== width) {
    if (ArrayBuffer.isView(argument)) return `bytes[${bytes}]`;
    throw refuse(`a struct: a Uint8Array of its ${bytes} bytes, or an object where \`parameters\` describe the struct`);
  }
  const floating = type.startsWith("f");
  if (argument === null || argument instanceof DeviceSlice) {
    if (width !== 64 || floating) throw refuse(floating ? "a number" : "an integer");
    if (argument === null) return "u8*";
    const { dtype, writable } = argument as DeviceSlice;
    return writable ? `${dtype}*` : `const ${dtype}*`;
  }
  if (typeof argument === "boolean") {
    if (width !== 8) throw refuse("a number");
    return "bool";
  }
  if (typeof argument === "bigint") {
    if (width !== 64 || floating) throw refuse("a number");
    return argument < 0n ? "i64" : "u64";
  }
  if (typeof argument !== "number") throw refuse("a buffer, null, a number, a bigint or a truth value");
  if (width === 64 && !floating) throw refuse("device memory, or a bigint for an integer");
  if (floating) return width === 64 ? "f64" : "f32";
  const bits = width as 8 | 16 | 32;
  return argument < 0 ? `i${bits}` : `u${bits}`;
}

/**
 * @throws LaunchError if the module does not say what its kernel takes, or takes other arguments
 */
export function parametersFor(module: Module, name: string, args: readonly KernelArgument[]): readonly Parameter[] {
  const entry = module.parametersOf(name);
  if (!entry) {
    const what = module.kernelNames ? `there is no kernel of this name in ${module.label}, which has ${module.kernelNames.join(", ")}` : "";
    throw new LaunchError(name, what || "machine code does not say what its parameters are: give `parameters`", {
      field: what ? "name" : "parameters",
      value: what ? name : undefined,
    });
  }
  if (entry.length !== args.length) {
    const takes = entry.map(({ type }) => `.${type}`).join(", ");
    throw new LaunchError(name, `${args.length} arguments were given; it takes ${entry.length}: (${takes})`, {
      field: "args",
      value: args,
      expected: `(${takes})`,
    });
  }
  return args.map((argument, index) => parameterFor(name, index, entry[index]!, argument));
}
