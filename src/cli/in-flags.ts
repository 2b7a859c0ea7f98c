// Errors of functions in the words of a command: options become its flags.
import { SpillwayError } from "@spillway/core/errors.js";
import { UsageError } from "./exit.js";

/**
 * An error that names options as flags: those in backticks of its sentence, and its field if the
 * sentence begins with it.
 * @param flags the flag of each option
 */
export function inFlags(error: unknown, flags: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof SpillwayError)) return error;
  const { message, field = "" } = error;
  const [own = ""] = /^\w*/.exec(field)!;
  const isFirst = Object.hasOwn(flags, own) && message.startsWith(field);
  const sentence = withFlags(isFirst ? flags[own]! + message.slice(own.length) : message, flags);
  return sentence === message ? error : new UsageError(sentence, { cause: error });
}

/** A sentence with the flags of the options in its backticks. */
export function withFlags(sentence: string, flags: Readonly<Record<string, string>>): string {
  return sentence.replaceAll(/`(\w+)`/g, (all, name: string) => (Object.hasOwn(flags, name) ? flags[name]! : all));
}
