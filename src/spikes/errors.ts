// What can be wrong with a spike pattern or with what is asked of one, in words.
import { machineMemory } from "../core/machine-memory.js";
import { describe, visible } from "../core/text.js";

/** A spike pattern, or a setting of an encoder, a rule or a detector, that cannot be used. */
export class SpikeError extends RangeError {
  override readonly name = "SpikeError";
  /** What is wrong: `durationMs`, `spike 3`. */
  readonly subject: string;
  readonly value: unknown;

  constructor(subject: string, value: unknown, takes: string, shown: string = describe(value)) {
    super(visible(`${subject} is ${shown}; it takes ${takes}`, 2000));
    this.subject = subject;
    this.value = value;
  }
}

/** @throws SpikeError unless `value` is a whole number of at least `least`. */
export function checkWhole(name: string, value: number, least: number, most: number = Number.MAX_SAFE_INTEGER): number {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new SpikeError(name, value, `a whole number ${range}`);
  }
  return value;
}

/** @throws SpikeError unless `value` is a finite number of at least 0. */
export function checkNotNegative(name: string, value: number, unit = ""): number {
  if (!(Number.isFinite(value) && value >= 0)) throw new SpikeError(name, value, `a finite number of at least 0${unit && ` ${unit}`}`);
  return value;
}

/** @throws SpikeError unless `value` is a finite number above 0. */
export function checkPositive(name: string, value: number, unit = ""): number {
  if (!(Number.isFinite(value) && value > 0)) throw new SpikeError(name, value, `a finite number above 0${unit && ` ${unit}`}`);
  return value;
}

/** @throws SpikeError unless `value` is a number from `least` to `most`. */
export function checkRange(name: string, value: number, least: number, most: number): number {
  if (!(typeof value === "number" && value >= least && value <= most))
    throw new SpikeError(name, value, `a number from ${least} to ${most}`);
  return value;
}

/** @throws SpikeError unless `value` is one of `names`. */
export function checkOneOf<Name extends string>(name: string, value: Name, names: readonly Name[]): Name {
  if (!names.includes(value)) throw new SpikeError(name, value, names.map((one) => `"${one}"`).join(", "));
  return value;
}

/**
 * @throws SpikeError if a table of `bytes` has no room here: a file of a few bytes may name any
 * number of neurons.
 */
export function checkRoom(what: string, bytes: number): void {
  const most = Math.min(machineMemory(), 2 ** 33);
  if (bytes <= most) return;
  const gibibytes = (value: number) => `${(value / 2 ** 30).toPrecision(3)} GiB`;
  throw new SpikeError(what, bytes, `up to ${gibibytes(most)} here`, gibibytes(bytes));
}
