// `spillway ptx run FILE.ptx`: launches one kernel of a PTX file on the simulated device or a GPU
// and prints what is in its buffers afterwards.
import { bytesOf, openDevice, ptxEntries } from "@spillway/gpu";
import { readText } from "@spillway/io";
import "@spillway/sim";
import { UsageError } from "../exit.js";
import { type ArgumentBuffer, argumentHelp, argumentValue, declareParameter, parseArgument } from "./ptx-arguments.js";

export interface PtxRunFlags {
  readonly entry?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly grid: string;
  readonly block: string;
  readonly shared: number;
  readonly device: string;
  readonly cooperative?: boolean | undefined;
  readonly show: number;
  readonly json?: boolean | undefined;
}

function parseSize(name: string, text: string): [number, number?, number?] {
  const sizes = text.split(/[x,]/).map(Number);
  if (sizes.length > 3 || sizes.some((size) => !Number.isInteger(size) || size < 1))
    throw new UsageError(`${name} is ${JSON.stringify(text)}; it takes one to three whole numbers, as 128 or 4x2x1`);
  return sizes as [number, number?, number?];
}

function device(name: string): number | string {
  if (name === "sim") return name;
  const match = /^cuda(?::(\d+))?$/.exec(name);
  if (match === null) throw new UsageError(`device is ${JSON.stringify(name)}; it takes sim, cuda, or cuda:1 (a device by number)`);
  return Number(match[1] ?? 0);
}

/**
 * Runs a kernel of a PTX file; gives the buffers afterwards as text. @throws UsageError; what the
 * device throws.
 */
export async function runPtxFile(path: string, flags: PtxRunFlags): Promise<string> {
  const ptx = await readText(path);
  if (!/^\s*\.version\b/m.test(ptx))
    throw new UsageError(`${path} is no PTX: it has no .version; CUDA C++ becomes PTX by nvcc -ptx, or by context.compile`);
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
      `${entry} takes ${parameters.length} arguments (${parameters.map(({ type }) => `.${type}`).join(", ")}), got ${args.length}; ${argumentHelp}`,
    );
  const signature = args.map((argument, k) => declareParameter(parameters[k]!, argument, k + 1));
  const [grid, block] = [parseSize("grid", flags.grid), parseSize("block", flags.block)];
  using context = openDevice(device(flags.device));
  using module = context.load(ptx, { label: path });
  const kernel = module.kernel(entry, signature);
  const held: (ArgumentBuffer & { argument: number })[] = [];
  const values = args.map((argument, k) =>
    argumentValue(context, argument, signature[k]!, k + 1, (buffer) => held.push({ argument: k + 1, ...buffer })),
  );
  using stream = context.stream();
  stream.launch(kernel, { grid, block, shared: flags.shared, cooperative: flags.cooperative ?? false }, ...(values as never[]));
  stream.sync();
  const buffers = held.map(({ argument, field, dtype: type, buffer }) => {
    const all = Array.from(context.read(buffer) as ArrayLike<number | bigint>);
    buffer.dispose();
    return { argument, ...(field !== "" && { field }), type, values: all };
  });
  if (flags.json)
    return JSON.stringify(
      { entry, device: context.info.name, buffers },
      (_, value) => (typeof value === "bigint" ? value.toString() : value),
      2,
    );
  const lines = buffers.map(({ argument, field, type, values: all }) => {
    const more = all.length > flags.show ? `, ... ${all.length - flags.show} more` : "";
    return `argument ${argument}${field === undefined ? "" : `, field ${field}`}, ${type}[${all.length}], ${all.length * bytesOf(type)} bytes: ${all.slice(0, flags.show).join(", ")}${more}`;
  });
  return [`${entry} on ${context.info.name}`, ...lines].join("\n");
}
