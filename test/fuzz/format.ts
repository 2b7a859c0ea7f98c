// Fuzzing: mutated inputs are read in a process of their own, and every outcome but success or one
// of our errors is a finding.
//
//   npm run fuzz -- FORMAT --cases 20000 --seed 1        one format; `all` for every one
//   npm run fuzz -- FORMAT --input FILE                  one saved input once more
//
// A format is one file in formats/, whose name is the format's; its default export is a FuzzFormat.
// Nothing else lists it, and fuzz.test.ts runs a few hundred cases of each. Case i of a seed is the
// same input on every machine.
//
// A finding is
//   error      an error that is none of `errors`
//   message    an error of ours whose message holds a control character other than a line break, words of the JavaScript engine such as
//              "is not iterable", or more than 4,000 characters
//   prototype  Object.prototype, Array.prototype or Function.prototype have a new field
//   time       a case that computes for more than 5 s, or waits for more than 20 s
//   memory     the process grows by more than 1 GiB of resident memory, or a case leaves more than that in ArrayBuffers
//   ended      the process ends: an uncaught error, an unhandled rejection, a crash
// It is repeated in a fresh process, minimised and saved in `runs/fuzz/`.
//
// A format whose inputs go to a server gives `start`, which opens the server within the process of
// the cases; `read` sends one input to it and waits for the answer, and `check` throws if the
// server no longer serves. An uncaught error in the server ends the process and is found so.
import type { Random } from "./random.js";

/** What is fuzzed. */
export interface FuzzFormat {
  /**
   * Valid inputs, made by the package: deterministic, small (a few kB), and together with every
   * feature of the format.
   */
  corpus(): readonly Uint8Array[] | Promise<readonly Uint8Array[]>;
  /** Reads one input as a program of a user does; a rejection counts as a throw. */
  read(input: Uint8Array): unknown;
  /**
   * The classes whose errors say to a user what is wrong with an input. List the narrowest: never
   * Error, TypeError or RangeError.
   */
  readonly errors: readonly (abstract new (
    ...args: never[]
  ) => Error)[];
  /**
   * For formats of text: words of the format, which mutation puts in. Left out, the format is
   * binary.
   */
  readonly tokens?: readonly string[];
  /**
   * Makes a mutant that knows the structure, such as a changed header of the right length. Used for
   * half of the cases.
   */
  mutate?(input: Uint8Array, random: Random, corpus: readonly Uint8Array[]): Uint8Array | Promise<Uint8Array>;
  /**
   * Gives a mutant of plain bytes the checksum and lengths it should have, so that it passes the
   * first check. Used for half of them.
   */
  repair?(mutant: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** How many cases `npm test` runs; default 300. Fewer for a format whose cases take long. */
  readonly testCases?: number;
  /** Called once in a process before its first case. */
  start?(): Promise<void>;
  /** Called after every case; throws if something is wrong by now. */
  check?(): Promise<void>;
}

export type ProblemKind = "error" | "message" | "prototype" | "time" | "memory" | "ended";

/** What is wrong with the outcome of a case. */
export interface Problem {
  readonly kind: ProblemKind;
  /** The same for problems of the same cause: kind, class of the error and where it was thrown. */
  readonly key: string;
  readonly text: string;
}

/** What a case may take. */
export interface Limits {
  /** Seconds that it may compute. */
  readonly computeSeconds: number;
  /** Seconds that it may last, waiting included: other work on the machine counts here. */
  readonly waitSeconds: number;
  readonly memoryBytes: number;
  readonly messageCharacters: number;
}

export const limits: Limits = { computeSeconds: 5, waitSeconds: 20, memoryBytes: 2 ** 30, messageCharacters: 4000 };
