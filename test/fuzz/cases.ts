// From a format, a seed and a number to an input, and from an input to what is wrong with its
// outcome.
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { FuzzFormat, Limits, Problem } from "./format.js";
import { mutate } from "./mutate.js";
import { Random } from "./random.js";

const folder = new URL("./formats/", import.meta.url);
/** A name is a file of the folder; what ends in .ts is a path from here. */
const fileOf = (name: string): URL => (name.endsWith(".ts") ? new URL(name, import.meta.url) : new URL(`${name}.ts`, folder));

/** The names of all formats. */
export const formatNames: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -3))
  .sort();

/** A format with its corpus. */
export interface Loaded {
  readonly name: string;
  readonly format: FuzzFormat;
  readonly corpus: readonly Uint8Array[];
}

export async function loadFormat(name: string): Promise<Loaded> {
  const file = fileOf(name);
  if (!existsSync(fileURLToPath(file))) throw new Error(`there is no format "${name}"; there are ${formatNames.join(", ")}`);
  const { default: format } = (await import(file.href)) as { default: FuzzFormat };
  return { name, format, corpus: await format.corpus() };
}

/** The input of case `index`. The first cases are the corpus as it is. */
export async function makeInput({ name, format, corpus }: Loaded, seed: string, index: number): Promise<Uint8Array> {
  if (index < corpus.length) return corpus[index]!;
  const random = new Random(name, seed, index);
  const base = random.pick(corpus);
  if (format.mutate && random.chance(0.5)) return format.mutate(base, random, corpus);
  const mutant = mutate(base, random, corpus, format.tokens);
  return format.repair && random.chance(0.5) ? format.repair(mutant) : mutant;
}

/** What a case came to. */
export interface Outcome {
  readonly refused: boolean;
  readonly problem?: Problem | undefined;
}

export async function readInput({ format }: Loaded, input: Uint8Array, limits: Limits): Promise<Outcome> {
  const before = process.memoryUsage().arrayBuffers;
  let refused = false;
  try {
    await format.read(input.slice());
  } catch (error) {
    refused = true;
    const problem = judge(error, format.errors, limits.messageCharacters);
    if (problem) return { refused, problem };
  }
  const left = process.memoryUsage().arrayBuffers - before;
  if (left > limits.memoryBytes)
    return { refused, problem: { kind: "memory", key: "memory", text: `it leaves ${left} bytes in ArrayBuffers` } };
  for (const [name, prototype] of prototypes) {
    const added = Object.keys(prototype)[0];
    if (added !== undefined) return { refused, problem: { kind: "prototype", key: "prototype", text: `${name} has a field "${added}"` } };
  }
  try {
    await format.check?.();
  } catch (error) {
    return { refused, problem: { kind: "error", key: `check: ${String(error)}`, text: `after the case: ${String(error)}` } };
  }
  return { refused };
}

const prototypes: readonly [string, object][] = [
  ["Object.prototype", Object.prototype],
  ["Array.prototype", Array.prototype],
  ["Function.prototype", Function.prototype],
];

/**
 * What JavaScript itself says: in an error of ours it tells of a defect that was caught and
 * wrapped.
 */
const rawWords =
  /Cannot (read|set|convert|destructure|access)|is not (a function|iterable|defined|a constructor|an object)|call stack|Invalid (array|typed array|string|regular|count)|\[object |allocation failed|out of bounds|undefined \(/;

function judge(error: unknown, ours: FuzzFormat["errors"], longest: number): Problem | undefined {
  if (!(error instanceof Error))
    return { kind: "error", key: `error ${typeof error}`, text: `what is thrown is no Error: ${String(error)}` };
  const site = error.stack?.split("\n").find((line) => /^\s+at .*[/\\](src|test)[/\\]/.test(line)) ?? "";
  const key = `${error.name} ${site
    .trim()
    .replace(/^at /, "")
    .replace(/^.*[/\\](src[/\\])/, "$1")}`;
  if (!ours.some((kind) => error instanceof kind)) return { kind: "error", key: `error ${key}`, text: error.stack ?? String(error) };
  const { message } = error;
  const control = /[\p{Cc}\p{Cf}\p{Cs}]/u.exec(message.replaceAll("\n", ""));
  if (control) {
    const code = control[0].codePointAt(0)!.toString(16);
    return {
      kind: "message",
      key: `message ${key}`,
      text: `the message holds the character U+${code}: ${JSON.stringify(message)}\n${site}`,
    };
  }
  const raw = rawWords.exec(message);
  if (raw)
    return { kind: "message", key: `message ${key}`, text: `the message holds words of the engine, "${raw[0]}": ${message}\n${site}` };
  if (message.length > longest)
    return {
      kind: "message",
      key: `message ${key}`,
      text: `the message has ${message.length} characters: ${JSON.stringify(message.slice(0, 200))}\n${site}`,
    };
  return undefined;
}
