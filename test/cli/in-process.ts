// The command line in this process, from the sources: what a command prints, and its exit code.
// Signals, streams that break and what runs beside it take a process: see spillway.ts.
import { Readable } from "node:stream";
import { exitCodeOf, sentenceOf } from "../../src/cli/exit.js";
import { createProgram } from "../../src/cli/program.js";
import type { Ended } from "./spillway.js";

interface Options {
  readonly cwd: string;
  /** What standard input gives, to its end if it has one. */
  readonly input?: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Gives a stream of the process another `write`, and what puts the own one back. */
function caught(stream: NodeJS.WriteStream, add: (text: string) => void): () => void {
  const own = stream.write;
  stream.write = (text: string | Uint8Array) => {
    add(typeof text === "string" ? text : Buffer.from(text).toString());
    return true;
  };
  return () => {
    stream.write = own;
  };
}

/** Runs a command to its end, as src/cli/perform.ts does. */
export async function spillway(args: readonly string[], { cwd, input = [] }: Options): Promise<Ended> {
  const said = { stdout: "", stderr: "" };
  const before = process.cwd();
  const stdin = Object.getOwnPropertyDescriptor(process, "stdin")!;
  const giveBack = (["stdout", "stderr"] as const).map((name) => caught(process[name], (text) => (said[name] += text)));
  Object.defineProperty(process, "stdin", { value: Readable.from(input), configurable: true });
  process.chdir(cwd);
  try {
    const code = await createProgram(new AbortController().signal).run(args);
    return { code, ...said };
  } catch (error) {
    return { code: exitCodeOf(error), ...said, stderr: `${said.stderr}spillway: ${sentenceOf(error)}\n` };
  } finally {
    process.chdir(before);
    Object.defineProperty(process, "stdin", stdin);
    for (const give of giveBack) give();
  }
}
