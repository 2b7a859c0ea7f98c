// vprintf, __assertfail, malloc and free, which nvcc leaves as calls of functions that the driver
// provides. Output is collected with the launch's results.
import type { PtxInstruction } from "../types.js";
import { globalHigh } from "./memory.js";
import type { Warp } from "./warp.js";

/** Reads and writes thread-local and generic memory by the rules of any access. */
function heapOffset(warp: Warp, lane: number, instruction: PtxInstruction, high: number, low: number, bytes: number, mode: number): number {
  const site = warp.launch.kernel.sites.indexOf(instruction);
  return warp.launch.access.resolve(warp, lane, site, 0, high, low, 0, bytes, mode);
}

const localHigh = 2;
/** Characters of a string that is printed, of a field, and of all that a launch prints. */
const most = { string: 2 ** 20, field: 2 ** 16, launch: 2 ** 24 };

function refuse(what: string, warp: Warp, lane: number, instruction: PtxInstruction): never {
  throw warp.error("illegalInstruction", what, lane, instruction);
}

/** A 64-bit value in local memory, as halves. */
function pointer(warp: Warp, lane: number, instruction: PtxInstruction, at: number): [low: number, high: number] {
  const index = heapOffset(warp, lane, instruction, localHigh, at, 8, 0);
  const { view } = warp.launch;
  return [view.getInt32(index, true), view.getInt32(index + 4, true)];
}

function text(warp: Warp, lane: number, instruction: PtxInstruction, low: number, high: number): string {
  const bytes: number[] = [];
  for (let k = 0; ; k++) {
    const byte = warp.launch.view.getUint8(heapOffset(warp, lane, instruction, high, low + k, 1, 0));
    if (byte === 0) break;
    if (k === most.string) refuse(`a string of more than ${most.string} bytes`, warp, lane, instruction);
    bytes.push(byte);
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/**
 * vprintf(format, arguments): the conversions d i u x X o c s p e f g a, with flags, width,
 * precision and length.
 */
export function printFormatted(
  warp: Warp,
  lane: number,
  results: readonly number[],
  args: readonly number[],
  instruction: PtxInstruction,
): void {
  const { view } = warp.launch;
  const format = text(warp, lane, instruction, ...pointer(warp, lane, instruction, args[0]!));
  const [low, high] = pointer(warp, lane, instruction, args[1]!);
  let at = 0;
  const next = (bytes: 4 | 8): number => {
    at = Math.ceil(at / bytes) * bytes;
    const index = heapOffset(warp, lane, instruction, high, low + at, bytes, 0);
    at += bytes;
    return index;
  };
  const line = format.replace(
    /%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|z|t|j)?([diuxXocspeEfFgGaA%])/g,
    (_, flags: string, width: string | undefined, precision: string | undefined, length: string | undefined, kind: string) => {
      if (kind === "%") return "%";
      const columns = width === "*" ? view.getInt32(next(4), true) : Number(width ?? 0);
      const digits = precision === "*" ? view.getInt32(next(4), true) : precision === undefined ? undefined : Number(precision);
      if (Math.max(Math.abs(columns), digits ?? 0) > most.field)
        refuse(`"${kind}" printed with more than ${most.field} characters`, warp, lane, instruction);
      const long = /^(l|ll|z|t|j)$/.test(length ?? "");
      let body: string;
      if (/[eEfFgGaA]/.test(kind)) body = formatFloat(view.getFloat64(next(8), true), kind, digits ?? 6);
      else if (kind === "c") body = String.fromCharCode(view.getUint8(next(4)));
      else if (kind === "s" || kind === "p") {
        const index = next(8);
        body =
          kind === "p"
            ? `0x${view.getBigUint64(index, true).toString(16)}`
            : text(warp, lane, instruction, view.getInt32(index, true), view.getInt32(index + 4, true)).slice(0, digits);
      } else {
        const signed = kind === "d" || kind === "i";
        const index = next(long ? 8 : 4);
        const value = long
          ? signed
            ? view.getBigInt64(index, true)
            : view.getBigUint64(index, true)
          : BigInt(signed ? view.getInt32(index, true) : view.getUint32(index, true));
        const base = kind === "x" || kind === "X" ? 16 : kind === "o" ? 8 : 10;
        body = value.toString(base);
        if (digits !== undefined) body = body.replace(/\d.*|[a-f].*/, (run) => run.padStart(digits, "0"));
        if (kind === "X") body = body.toUpperCase();
        if (signed && value >= 0n && flags.includes("+")) body = `+${body}`;
      }
      if (flags.includes("-")) return body.padEnd(columns);
      if (flags.includes("0") && !/^[cs]$/.test(kind)) {
        const sign = /^[-+]/.exec(body)?.[0] ?? "";
        return sign + body.slice(sign.length).padStart(columns - sign.length, "0");
      }
      return body.padStart(columns);
    },
  );
  if (!warp.launch.tell(line, most.launch)) refuse(`the launch prints more than ${most.launch} characters`, warp, lane, instruction);
  const result = results[0];
  if (result !== undefined) view.setInt32(heapOffset(warp, lane, instruction, localHigh, result, 4, 1), line.length, true);
}

/** A finite number with so many digits after the point, as many as that may be. */
function fixed(value: number, digits: number): string {
  if (digits <= 100 && Math.abs(value) < 1e21) return value.toFixed(digits);
  // Every finite double is a whole number of 2^-1074.
  const bits = new BigInt64Array(Float64Array.of(Math.abs(value)).buffer)[0]!;
  const field = Number(bits >> 52n);
  const units = ((bits & 0xfffffffffffffn) | (field === 0 ? 0n : 1n << 52n)) << BigInt(Math.max(field - 1, 0));
  const scaled = units * 10n ** BigInt(digits);
  const [whole, rest, half] = [scaled >> 1074n, scaled & ((1n << 1074n) - 1n), 1n << 1073n];
  const rounded = (whole + (rest > half || (rest === half && (whole & 1n) === 1n) ? 1n : 0n)).toString().padStart(digits + 1, "0");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  return `${sign}${rounded.slice(0, rounded.length - digits)}${digits > 0 ? "." : ""}${rounded.slice(rounded.length - digits)}`;
}

function formatFloat(value: number, kind: string, digits: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const exponent = (written: string): string => written.replace(/e([+-])(\d)$/, "e$10$2");
  const lower = kind.toLowerCase();
  const written =
    lower === "f"
      ? fixed(value, digits)
      : lower === "e"
        ? exponent(value.toExponential(Math.min(digits, 100)))
        : exponent(String(Number(value.toPrecision(Math.min(Math.max(1, digits), 100)))));
  return kind === lower ? written : written.toUpperCase();
}

/** __assertfail(message, file, line, function, bytes of a character). */
export function assertFailed(
  warp: Warp,
  lane: number,
  _results: readonly number[],
  args: readonly number[],
  instruction: PtxInstruction,
): void {
  const word = (k: number): string => text(warp, lane, instruction, ...pointer(warp, lane, instruction, args[k]!));
  const line = warp.launch.view.getInt32(heapOffset(warp, lane, instruction, localHigh, args[2]!, 4, 0), true);
  throw warp.error("assertion", `assertion "${word(0)}" failed at ${word(1)}:${line}, ${word(3)}`, lane, instruction);
}

/** malloc(bytes): an address in the device's heap, or null if there is no room. */
function allocate(warp: Warp, lane: number, results: readonly number[], args: readonly number[], instruction: PtxInstruction): void {
  const [low, high] = pointer(warp, lane, instruction, args[0]!);
  const base = high === 0 ? warp.launch.access.memory.allocateInKernel(low >>> 0) : undefined;
  if (results[0] === undefined) return;
  const index = heapOffset(warp, lane, instruction, localHigh, results[0], 8, 1);
  warp.launch.view.setInt32(index, base ?? 0, true);
  warp.launch.view.setInt32(index + 4, base === undefined ? 0 : globalHigh, true);
}

/** free(address), which may be null. */
function release(warp: Warp, lane: number, _results: readonly number[], args: readonly number[], instruction: PtxInstruction): void {
  const { launch } = warp;
  const [low, high] = pointer(warp, lane, instruction, args[0]!);
  if (low === 0 && high === 0) return;
  const allocation = high === globalHigh ? launch.access.memory.allocationAt(low) : undefined;
  if (allocation?.kind === "heap") {
    launch.access.memory.free(allocation);
    return;
  }
  const { freed, words } = launch.access.memory.describe(low);
  throw warp.error(freed ? "useAfterFree" : "outOfBounds", `free of what malloc did not give, ${words}`, lane, instruction);
}

/** The functions that the system provides. */
export const systemCalls: ReadonlyMap<string, typeof release> = new Map([
  ["vprintf", printFormatted],
  ["__assertfail", assertFailed],
  ["malloc", allocate],
  ["free", release],
]);

/** Results and arguments of each of them. */
export const systemArities: Readonly<Record<string, readonly [results: number, args: number]>> = {
  vprintf: [1, 2],
  __assertfail: [0, 5],
  malloc: [1, 1],
  free: [0, 1],
};
