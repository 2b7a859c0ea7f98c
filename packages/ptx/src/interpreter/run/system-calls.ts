// vprintf, __assertfail, malloc and free, which nvcc leaves as calls of functions that the driver
// provides. Output is collected with the launch's results.
import type { SimulationError, SimulationErrorKind } from "../errors.js";
import type { PtxInstruction } from "../types.js";
import { windows } from "./memory.js";
import type { Warp } from "./warp.js";

/** Characters of a string that is printed, of a field, and of all that a launch prints. */
const most = { string: 2 ** 20, field: 2 ** 16, launch: 2 ** 24 };

/** One lane's call: where its results and arguments lie in local memory. */
export class SystemCall {
  readonly warp: Warp;
  readonly lane: number;
  readonly instruction: PtxInstruction;
  readonly results: readonly number[];
  readonly args: readonly number[];
  readonly view: DataView;

  constructor(warp: Warp, lane: number, instruction: PtxInstruction, results: readonly number[], args: readonly number[]) {
    this.warp = warp;
    this.lane = lane;
    this.instruction = instruction;
    this.results = results;
    this.args = args;
    this.view = warp.launch.view;
  }

  error(kind: SimulationErrorKind, what: string): SimulationError {
    return this.warp.error(kind, what, this.lane, this.instruction);
  }

  /** Where bytes lie in the heap, by the rules of any access. */
  offset(high: number, low: number, bytes: number, mode = 0): number {
    const { access, kernel } = this.warp.launch;
    return access.resolve(this.warp, this.lane, kernel.sites.indexOf(this.instruction), 0, high, low, 0, bytes, mode);
  }

  local(at: number, bytes: number, mode = 0): number {
    return this.offset(windows.local, at, bytes, mode);
  }

  pointer(k: number): [low: number, high: number] {
    const index = this.local(this.args[k]!, 8);
    return [this.view.getInt32(index, true), this.view.getInt32(index + 4, true)];
  }

  text(low: number, high: number): string {
    const bytes: number[] = [];
    for (let k = 0; ; k++) {
      const byte = this.view.getUint8(this.offset(high, low + k, 1));
      if (byte === 0) break;
      if (k === most.string) throw this.error("illegalInstruction", `a string of more than ${most.string} bytes`);
      bytes.push(byte);
    }
    return new TextDecoder().decode(Uint8Array.from(bytes));
  }
}

/** vprintf(format, arguments): d i u x X o c s p e f g a, with flags, width, precision, length. */
function printFormatted(call: SystemCall): void {
  const { view, warp } = call;
  const format = call.text(...call.pointer(0));
  const [low, high] = call.pointer(1);
  let at = 0;
  const next = (bytes: 4 | 8): number => {
    at = Math.ceil(at / bytes) * bytes;
    const index = call.offset(high, low + at, bytes);
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
        throw call.error("illegalInstruction", `"${kind}" printed with more than ${most.field} characters`);
      const long = /^(l|ll|z|t|j)$/.test(length ?? "");
      let body: string;
      if (/[eEfFgGaA]/.test(kind)) body = formatFloat(view.getFloat64(next(8), true), kind, digits ?? 6);
      else if (kind === "c") body = String.fromCharCode(view.getUint8(next(4)));
      else if (kind === "s" || kind === "p") {
        const index = next(8);
        body =
          kind === "p"
            ? `0x${view.getBigUint64(index, true).toString(16)}`
            : call.text(view.getInt32(index, true), view.getInt32(index + 4, true)).slice(0, digits);
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
  if (!warp.launch.tell(line, most.launch)) throw call.error("illegalInstruction", `the launch prints more than ${most.launch} characters`);
  const [result] = call.results;
  if (result !== undefined) view.setInt32(call.local(result, 4, 1), line.length, true);
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
function assertFailed(call: SystemCall): void {
  const word = (k: number): string => call.text(...call.pointer(k));
  const line = call.view.getInt32(call.local(call.args[2]!, 4), true);
  throw call.error("assertion", `assertion "${word(0)}" failed at ${word(1)}:${line}, ${word(3)}`);
}

/** malloc(bytes): an address in the device's heap, or null if they do not fit. */
function allocate(call: SystemCall): void {
  const [low, high] = call.pointer(0);
  const base = high === 0 ? call.warp.launch.access.memory.allocateInKernel(low >>> 0) : undefined;
  if (call.results[0] === undefined) return;
  const index = call.local(call.results[0], 8, 1);
  call.view.setInt32(index, base ?? 0, true);
  call.view.setInt32(index + 4, base === undefined ? 0 : windows.global, true);
}

/** free(address), which may be null. */
function release(call: SystemCall): void {
  const { memory } = call.warp.launch.access;
  const [low, high] = call.pointer(0);
  if (low === 0 && high === 0) return;
  const allocation = high === windows.global ? memory.allocationAt(low) : undefined;
  if (allocation?.kind === "heap") {
    memory.free(allocation);
    return;
  }
  const { freed, words } = memory.describe(low);
  throw call.error(freed ? "useAfterFree" : "outOfBounds", `free of what malloc did not give, ${words}`);
}

/** The functions that the system provides, with their numbers of results and arguments. */
export const systemCalls: ReadonlyMap<string, { results: number; args: number; run: (call: SystemCall) => void }> = new Map([
  ["vprintf", { results: 1, args: 2, run: printFormatted }],
  ["__assertfail", { results: 0, args: 5, run: assertFailed }],
  ["malloc", { results: 1, args: 1, run: allocate }],
  ["free", { results: 0, args: 1, run: release }],
]);
