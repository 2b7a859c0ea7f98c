// `spillway ptx run FILE.ptx`: launches one kernel of a PTX file on the simulated device or a GPU and prints what is in its buffers afterwards.
import { readFile } from "node:fs/promises";
import {
  bytesOf,
  type Context,
  type DeviceBuffer,
  type Dtype,
  type EntryParameter,
  openDevice,
  type Parameter,
  ptxEntries,
} from "../../gpu/index.js";
import "../../sim/index.js";
import { UsageError } from "../exit.js";

export interface PtxRunFlags {
  readonly entry?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly grid: string;
  readonly block: string;
  readonly shared: string;
  readonly device: string;
  readonly cooperative?: boolean | undefined;
  readonly show: string;
  readonly json?: boolean | undefined;
}

/** An argument: a number by value, or a buffer with what is in it at first. */
type Argument = { readonly value: string } | { readonly dtype: Dtype; readonly values: readonly number[] };

const dtypes: readonly Dtype[] = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"];

const help = 'an argument is a number, or a buffer: "f32[64]" of zeros, "f32[64]=1.5", "f32[3]=1,2,3", "f32[64]=range" (0, 1, 2, ...)';

function parseArgument(text: string, position: number): Argument {
  const match = /^([a-z]+\d+)\[(\d+)\](?:=(.*))?$/.exec(text);
  if (match === null) {
    if (/^-?(0x[0-9a-f]+|\d+(\.\d*)?(e[+-]?\d+)?|\.\d+)$/i.test(text)) return { value: text };
    throw new UsageError(`argument ${position} is ${JSON.stringify(text)}; ${help}`);
  }
  const [, dtype = "", count = "", fill = "0"] = match;
  if (!dtypes.includes(dtype as Dtype))
    throw new UsageError(`argument ${position} has elements of ${dtype}; they are ${dtypes.join(", ")}`);
  const length = Number(count);
  if (length < 1 || length > 2 ** 24) throw new UsageError(`argument ${position} has ${length} elements; it takes 1 to ${2 ** 24}`);
  const given = fill === "range" ? Array.from({ length }, (_, k) => k) : fill.split(",").map(Number);
  if (given.some(Number.isNaN) || (given.length !== 1 && given.length !== length))
    throw new UsageError(`argument ${position} is ${JSON.stringify(text)}; it takes one number for all elements, or ${length}`);
  return { dtype: dtype as Dtype, values: given.length === 1 ? new Array<number>(length).fill(given[0]!) : given };
}

function parseSize(name: string, text: string): [number, number?, number?] {
  const sizes = text.split(/[x,]/).map(Number);
  if (sizes.length > 3 || sizes.some((size) => !Number.isInteger(size) || size < 1))
    throw new UsageError(`${name} is ${JSON.stringify(text)}; it takes one to three whole numbers, as 128 or 4x2x1`);
  return sizes as [number, number?, number?];
}

/** The parameter of an entry as launches declare it. */
function declare(parameter: EntryParameter, argument: Argument, position: number): Parameter {
  if (!("value" in argument)) {
    if (parameter.bytes !== 8) throw new UsageError(`argument ${position} is a buffer; the parameter is .${parameter.type}`);
    return `${argument.dtype}*`;
  }
  const scalar = parameter.type.replace(/^[bu]/, "u").replace(/^s/, "i");
  if (parameter.bytes > 8 || !dtypes.includes(scalar as Dtype))
    throw new UsageError(`parameter ${position} is .${parameter.type}, which has no number`);
  return scalar as Dtype;
}

function upload(context: Context, { dtype, values }: { dtype: Dtype; values: readonly number[] }): DeviceBuffer {
  const arrays = {
    i8: Int8Array,
    u8: Uint8Array,
    i16: Int16Array,
    u16: Uint16Array,
    i32: Int32Array,
    u32: Uint32Array,
    f32: Float32Array,
    f64: Float64Array,
  };
  if (dtype === "i64" || dtype === "u64") {
    const whole = values.map(BigInt);
    return dtype === "i64" ? context.upload(BigInt64Array.from(whole)) : context.upload(BigUint64Array.from(whole));
  }
  // Halves are given by their bits, as they are printed.
  const array = dtype === "f16" || dtype === "bf16" ? Uint16Array : arrays[dtype as keyof typeof arrays];
  return context.upload(array.from(values) as Float32Array, { dtype: dtype as "f32" });
}

function device(name: string): number | string {
  if (name === "sim") return name;
  const match = /^cuda(?::(\d+))?$/.exec(name);
  if (match === null) throw new UsageError(`device is ${JSON.stringify(name)}; it takes sim, cuda, or cuda:1 (a device by number)`);
  return Number(match[1] ?? 0);
}

/** Runs a kernel of a PTX file; gives the buffers afterwards as text. @throws UsageError; what the device throws. */
export async function runPtxFile(path: string, flags: PtxRunFlags): Promise<string> {
  let ptx: string;
  try {
    ptx = await readFile(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(code === "ENOENT" ? `${path}: no such file in ${process.cwd()}` : `${path} cannot be read: ${message}`);
  }
  const entries = ptxEntries(ptx);
  const names = [...entries.keys()];
  const entry = flags.entry ?? (names.length === 1 ? names[0] : undefined);
  if (entry === undefined)
    throw new UsageError(`${path} has ${names.length === 0 ? "no kernel" : `the kernels ${names.join(", ")}: --entry chooses one`}`);
  const parameters = entries.get(entry);
  if (parameters === undefined)
    throw new UsageError(`${path} has no kernel ${JSON.stringify(entry)}; it has ${names.join(", ") || "none"}`);
  const args = (flags.args ?? []).map((text, k) => parseArgument(text, k + 1));
  if (args.length !== parameters.length)
    throw new UsageError(
      `${entry} takes ${parameters.length} arguments (${parameters.map(({ type }) => `.${type}`).join(", ")}), got ${args.length}; ${help}`,
    );
  const shown = Number(flags.show);
  const shared = Number(flags.shared);
  if (!Number.isInteger(shown) || shown < 0) throw new UsageError(`show is ${JSON.stringify(flags.show)}; it takes a whole number from 0`);
  if (!Number.isInteger(shared) || shared < 0)
    throw new UsageError(`shared is ${JSON.stringify(flags.shared)}; it takes bytes, a whole number from 0`);
  const signature = args.map((argument, k) => declare(parameters[k]!, argument, k + 1));
  const [grid, block] = [parseSize("grid", flags.grid), parseSize("block", flags.block)];
  using context = openDevice(device(flags.device));
  using module = context.load(ptx, { label: path });
  const kernel = module.kernel(entry, signature);
  const values = args.map((argument, k) => {
    if (!("value" in argument)) return upload(context, argument);
    return /64$/.test(signature[k]!) && !signature[k]!.startsWith("f") ? BigInt(argument.value) : Number(argument.value);
  });
  using stream = context.stream();
  stream.launch(kernel, { grid, block, shared, cooperative: flags.cooperative ?? false }, ...(values as never[]));
  stream.sync();
  const buffers = values.flatMap((value, k) => {
    if (typeof value === "number" || typeof value === "bigint") return [];
    const array = Array.from(context.read(value) as ArrayLike<number | bigint>);
    value.dispose();
    return [{ argument: k + 1, type: signature[k]!.slice(0, -1) as Dtype, values: array }];
  });
  if (flags.json)
    return JSON.stringify(
      { entry, device: context.info.name, buffers },
      (_, value) => (typeof value === "bigint" ? value.toString() : value),
      2,
    );
  const lines = buffers.map(({ argument, type, values: all }) => {
    const more = all.length > shown ? `, ... ${all.length - shown} more` : "";
    return `argument ${argument}, ${type}[${all.length}], ${all.length * bytesOf(type)} bytes: ${all.slice(0, shown).join(", ")}${more}`;
  });
  return [`${entry} on ${context.info.name}`, ...lines].join("\n");
}
