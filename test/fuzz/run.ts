// Runs the cases of a format in child processes, and repeats and minimises what they find.
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Loaded, loadFormat, makeInput } from "./cases.js";
import { type Answer, endedBy, type Request } from "./child-messages.js";
import { type Limits, limits, type Problem } from "./format.js";
import { minimise } from "./minimise.js";

/** A problem with the smallest input that shows it. */
export interface Finding {
  readonly format: string;
  readonly index: number;
  readonly problem: Problem;
  readonly input: Uint8Array;
  /** Whether the input shows it in a fresh process, without the cases before it. */
  readonly alone: boolean;
  /** How many cases showed the same problem. */
  cases: number;
}

export interface Report {
  readonly format: string;
  readonly cases: number;
  readonly refused: number;
  readonly seconds: number;
  readonly slowestMs: number;
  /** The number of the slowest case. */
  readonly slowest: number;
  readonly growthBytes: number;
  readonly findings: readonly Finding[];
}

export interface FuzzOptions {
  readonly cases: number;
  readonly seed: string;
  readonly onProgress?: (done: number) => void;
}

type Done = Extract<Answer, { kind: "done" }>;

/** Owns one child process at a time; `dispose` ends it. */
export class Fuzzer {
  readonly #folder = mkdtempSync(join(tmpdir(), "spillway-fuzz-"));
  readonly #limits: Limits;
  #child: ChildProcess | undefined;
  #errors = "";

  constructor(own: Partial<Limits> = {}) {
    this.#limits = { ...limits, ...own };
  }

  async run(format: string, { cases, seed, onProgress }: FuzzOptions): Promise<Report> {
    const loaded = await loadFormat(format);
    const start = performance.now();
    const findings = new Map<string, Finding>();
    const report = { format, cases, refused: 0, slowestMs: 0, slowest: 0, growthBytes: 0 };
    const found = async (index: number, problem: Problem): Promise<void> => {
      const known = findings.get(problem.key);
      if (known) known.cases++;
      else {
        const finding = await this.#study(loaded, seed, index, problem);
        if (finding) findings.set(problem.key, finding);
      }
    };
    for (let from = 0; from < cases; ) {
      const to = Math.min(cases, from + 500);
      const { done, problems, ended } = await this.#ask({ kind: "cases", format, seed, from, to });
      for (const { index, problem } of problems) await found(index, problem);
      if (ended) await found(ended.index, ended.problem);
      if (done) {
        report.refused += done.refused;
        report.growthBytes = Math.max(report.growthBytes, done.growthBytes);
        if (done.slowestMs > report.slowestMs) [report.slowestMs, report.slowest] = [done.slowestMs, done.slowest];
      }
      from = ended ? Math.max(from, ended.index) + 1 : to;
      onProgress?.(from);
    }
    return { ...report, seconds: (performance.now() - start) / 1000, findings: [...findings.values()] };
  }

  /** What one input comes to. */
  async once(format: string, input: Uint8Array): Promise<Problem | undefined> {
    const { problems, ended } = await this.#ask({ kind: "input", format, input });
    return ended?.problem ?? problems[0]?.problem;
  }

  dispose(): void {
    this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * Repeats a case alone and makes its input small. A case that was slow or large once, and alone
   * is not, was the machine's.
   */
  async #study(loaded: Loaded, seed: string, index: number, problem: Problem): Promise<Finding | undefined> {
    const { name } = loaded;
    const input = await makeInput(loaded, seed, index);
    this.#end();
    const again = await this.once(name, input);
    const alone = again?.kind === problem.kind;
    if (!alone) {
      if (problem.kind === "time" || problem.kind === "memory") return undefined;
      return { format: name, index, problem, input, alone, cases: 1 };
    }
    const same = async (candidate: Uint8Array): Promise<boolean> => (await this.once(name, candidate))?.key === again.key;
    const slow = problem.kind === "time" || problem.kind === "memory" || problem.kind === "ended";
    const small = await minimise(input, same, slow ? { tries: 40, seconds: 90 } : { tries: 2000, seconds: 20 });
    return { format: name, index, problem: again, input: small, alone, cases: 1 };
  }

  /** Sends a request and waits until it is done, or the child has ended. */
  #ask(
    request: Request,
  ): Promise<{ done?: Done; problems: { index: number; problem: Problem }[]; ended?: { index: number; problem: Problem } }> {
    this.#child ??= this.#fork();
    const child = this.#child;
    const problems: { index: number; problem: Problem }[] = [];
    return new Promise((resolve) => {
      const finish = (): void => {
        child.removeAllListeners("message");
        child.removeAllListeners("close");
      };
      child.on("message", (answer: Answer) => {
        if (answer.kind === "finding") problems.push(answer);
        else {
          finish();
          resolve({ done: answer, problems });
        }
      });
      child.on("close", (code, signal) => {
        finish();
        this.#child = undefined;
        resolve({ problems, ended: this.#ended(code, signal) });
      });
      child.send(request);
    });
  }

  #fork(): ChildProcess {
    writeFileSync(this.#status, new Uint8Array(8));
    this.#errors = "";
    const child = fork(fileURLToPath(new URL("./child.ts", import.meta.url)), [this.#status, JSON.stringify(this.#limits)], {
      execArgv: ["--import", "tsx", `--max-old-space-size=${limits.memoryBytes / 2 ** 20}`],
      serialization: "advanced",
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-8000);
    });
    return child;
  }

  #end(): void {
    this.#child?.removeAllListeners();
    this.#child?.kill("SIGKILL");
    this.#child = undefined;
  }

  get #status(): string {
    return join(this.#folder, "status");
  }

  #ended(code: number | null, signal: string | null): { index: number; problem: Problem } {
    const [index = 0, reason] = new Int32Array(new Uint8Array(readFileSync(this.#status)).buffer);
    if (reason === endedBy.time) {
      const text = `it computes for more than ${this.#limits.computeSeconds} s, or waits for more than ${this.#limits.waitSeconds} s`;
      return { index, problem: { kind: "time", key: "time", text } };
    }
    if (reason === endedBy.memory || this.#errors.includes("heap out of memory"))
      return { index, problem: { kind: "memory", key: "memory", text: `it grows by more than ${this.#limits.memoryBytes} bytes` } };
    const first = /^\w*Error\b.*$/m.exec(this.#errors)?.[0] ?? "";
    return {
      index,
      problem: { kind: "ended", key: `ended ${first}`, text: `the process ends (${signal ?? code}): ${this.#errors.trim()}` },
    };
  }
}
