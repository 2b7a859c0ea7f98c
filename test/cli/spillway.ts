// The built command line in a process of its own, for tests.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Options {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Sees the process when it has started, and standard error as it comes. */
  readonly watch?: (stderr: string, child: ChildProcess) => void;
}

/** Runs the command line to its end. */
export function spillway(args: readonly string[], { cwd, env = {}, watch = () => {} }: Options): Promise<Ended> {
  if (!existsSync(main)) throw new Error("the package is not built: npm run build");
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], { cwd, env: { ...process.env, ...env } });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (text: Buffer) => {
      stdout += text.toString();
    });
    child.stderr.on("data", (text: Buffer) => {
      stderr += text.toString();
      watch(stderr, child);
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    watch("", child);
  });
}
