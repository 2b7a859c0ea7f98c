// The built command line in a process of its own, for tests.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const program = (name: string): string => fileURLToPath(new URL(`../../dist/cli/${name}.js`, import.meta.url));
/** What a person starts, and the process that it starts and watches, which computes. */
const [main, command] = [program("main"), program("command")];

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Options {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it is started as a person does; else only the process that computes is, in half the time. */
  readonly supervised?: boolean;
  /** Sees the process when it has started, and standard error as it comes; it is then supervised. */
  readonly watch?: (stderr: string, child: ChildProcess) => void;
}

/** Runs the command line to its end. */
export function spillway(args: readonly string[], { cwd, env = {}, watch, supervised = watch !== undefined }: Options): Promise<Ended> {
  if (!existsSync(main)) throw new Error("the package is not built: npm run build");
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [supervised ? main : command, ...args], { cwd, env: { ...process.env, ...env } });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (text: Buffer) => {
      stdout += text.toString();
    });
    child.stderr.on("data", (text: Buffer) => {
      stderr += text.toString();
      watch?.(stderr, child);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    watch?.("", child);
  });
}
