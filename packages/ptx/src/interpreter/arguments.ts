// Kernel arguments: from a list of values, or bytes packed as the driver packs them, to parameter
// memory. Also the checks of a launch's shape.
import { LaunchError } from "@spillway/core/errors.js";
import { parameterLayout } from "./compile/function.js";
import type { Index3 } from "./errors.js";
import { type PtxFunction, type PtxVariable, scalarBytes } from "./types.js";

/** One argument: a number or bigint by the parameter's type, or the bytes of a struct. */
export type MachineArgument = number | bigint | Uint8Array;

/** A size or index in up to three dimensions; those left out are 1. */
export type MachineDimensions = number | readonly [number] | readonly [number, number] | readonly [number, number, number];

function describe(fn: PtxFunction, index: number, { type, bytes }: PtxVariable): string {
  return `argument ${index + 1} of ${fn.name} (.${type}${bytes > scalarBytes[type] ? `, ${bytes} bytes` : ""})`;
}

function pack(view: DataView, at: number, fn: PtxFunction, index: number, parameter: PtxVariable, value: MachineArgument): void {
  const { type, bytes } = parameter;
  const name = describe(fn, index, parameter);
  if (value instanceof Uint8Array) {
    if (value.length !== bytes) throw new LaunchError(undefined, `${name} got ${value.length} bytes`);
    new Uint8Array(view.buffer).set(value, at);
    return;
  }
  if (bytes !== scalarBytes[type]) throw new LaunchError(undefined, `${name} got a ${typeof value}: it takes a Uint8Array`);
  if (type === "f32" || type === "f64") {
    if (typeof value !== "number") throw new LaunchError(undefined, `${name} got the bigint ${value}: it takes a number`);
    if (type === "f32") view.setFloat32(at, value, true);
    else view.setFloat64(at, value, true);
    return;
  }
  if (typeof value === "number" && !Number.isSafeInteger(value))
    throw new LaunchError(undefined, `${name} got ${value}: it takes a whole number`);
  const whole = BigInt(value);
  const bits = BigInt(8 * bytes);
  if (whole < -(1n << (bits - 1n)) || whole >= 1n << bits)
    throw new LaunchError(undefined, `${name} got ${value}: it takes ${8 * bytes} bits`);
  for (let k = 0; k < bytes; k++) view.setUint8(at + k, Number((whole >> BigInt(8 * k)) & 255n));
}

/** Parameter memory of a launch, little-endian, each parameter at its alignment. */
export function packArguments(fn: PtxFunction, args: Uint8Array | readonly MachineArgument[]): Uint8Array {
  const { offsets, bytes } = parameterLayout(fn.parameters);
  if (args instanceof Uint8Array) {
    if (args.length < bytes) throw new LaunchError(undefined, `${fn.name} takes ${bytes} bytes of arguments, got ${args.length}`);
    return args.slice(0, bytes);
  }
  if (args.length !== fn.parameters.length)
    throw new LaunchError(undefined, `${fn.name} takes ${fn.parameters.length} arguments, got ${args.length}`);
  const view = new DataView(new ArrayBuffer(bytes));
  for (const [k, parameter] of fn.parameters.entries()) pack(view, offsets[k]!, fn, k, parameter, args[k]!);
  return new Uint8Array(view.buffer);
}

export function dimensions(given: MachineDimensions, what: string, largest: Index3): Index3 {
  const [x = 1, y = 1, z = 1] = typeof given === "number" ? [given] : given;
  for (const [axis, value, limit] of [
    ["x", x, largest.x],
    ["y", y, largest.y],
    ["z", z, largest.z],
  ] as const) {
    if (!Number.isInteger(value) || value < 1 || value > limit)
      throw new LaunchError(undefined, `${what}.${axis} is ${value}: it takes 1 to ${limit}`);
  }
  return { x, y, z };
}

/** Threads of a block against what the kernel declares. */
export function checkBlock(fn: PtxFunction, block: Index3): void {
  const threads = block.x * block.y * block.z;
  if (threads > 1024) throw new LaunchError(undefined, `a block of ${threads} threads: it takes at most 1024`);
  const most = fn.directives.get("maxntid")?.reduce((a, b) => a * b, 1);
  if (most !== undefined && threads > most)
    throw new LaunchError(undefined, `a block of ${threads} threads: ${fn.name} is built for at most ${most}`);
  const exact = fn.directives.get("reqntid");
  if (exact !== undefined) {
    const [x = 1, y = 1, z = 1] = exact;
    if (x !== block.x || y !== block.y || z !== block.z)
      throw new LaunchError(undefined, `a block of ${block.x} x ${block.y} x ${block.z} threads: ${fn.name} takes ${x} x ${y} x ${z}`);
  }
}
