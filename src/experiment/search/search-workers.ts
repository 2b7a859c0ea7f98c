// Threads that evaluate trials of a search beside each other. Each has the data of the experiment
// and evaluates a trial with all its seeds; who asks for trials and writes them is their parent.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { SpillwayError } from "@spillway/core/errors.js";
import type { TrialOutcomeScores, TrialRunner, TrialSetup, TrialTask } from "./search-trials.js";
import type { TrialAnswer, TrialWorkerData } from "./trial-worker.js";

interface Job {
  readonly task: TrialTask;
  readonly resolve: (outcome: TrialOutcomeScores) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | undefined;
  /** Whether it takes tasks: one that ends before that cannot be started at all. */
  isReady: boolean;
}

/**
 * So many trials beside each other, and as many threads, but no more than there are cores: each
 * thread loads and compiles the package anew. They start with the first trial. A thread that ends
 * while it evaluates, such as by running out of memory, fails that trial and is replaced. At the
 * signal all end at once, and what they had in work is undefined.
 */
export class TrialWorkers implements TrialRunner {
  readonly count: number;
  readonly #most: number;
  readonly #data: TrialWorkerData;
  readonly #signal: AbortSignal;
  readonly #waiting: Job[] = [];
  readonly #onAbort = (): void => void this.dispose();
  #threads: Thread[] = [];
  #disposed = false;

  constructor(setup: TrialSetup, count: number, imports: readonly string[], signal: AbortSignal) {
    this.count = count;
    this.#most = Math.min(count, availableParallelism());
    this.#data = { setup, imports };
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  evaluate(task: TrialTask): Promise<TrialOutcomeScores> {
    if (this.#disposed || this.#signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject });
      this.#giveOut();
    });
  }

  async dispose(): Promise<void> {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#disposed = true;
    const threads = this.#threads.splice(0);
    for (const job of [...threads.map((thread) => thread.job), ...this.#waiting.splice(0)]) job?.resolve(undefined);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #giveOut(): void {
    while (this.#waiting.length > 0) {
      const idle = this.#threads.find(({ job }) => job === undefined) ?? (this.#threads.length < this.#most ? this.#start() : undefined);
      if (!idle) return;
      idle.job = this.#waiting.shift()!;
      idle.worker.postMessage(idle.job.task);
    }
  }

  #start(): Thread {
    // From the bundle, whose chunks lie in the package's root. Options of the main program, such as
    // --input-type, are not for this file.
    const worker = new Worker(new URL("./experiment/search/trial-worker.js", import.meta.url), { workerData: this.#data, execArgv: [] });
    const thread: Thread = { worker, job: undefined, isReady: false };
    this.#threads.push(thread);
    worker.on("message", (answer: TrialAnswer | "ready") => this.#take(thread, answer));
    worker.on("error", (error) => this.#lose(thread, error));
    worker.on("exit", (code) => this.#lose(thread, new Error(`it ended with ${code}`)));
    return thread;
  }

  #take(thread: Thread, answer: TrialAnswer | "ready"): void {
    thread.isReady = true;
    if (answer === "ready") return;
    const { job } = thread;
    thread.job = undefined;
    if ("scores" in answer) job?.resolve(answer.scores);
    else if (answer.isDefect) job?.reject(new SpillwayError("lifecycle", `a thread failed: ${answer.message}`));
    else job?.resolve(new Error(answer.message));
    this.#giveOut();
  }

  #lose(thread: Thread, why: unknown): void {
    const at = this.#threads.indexOf(thread);
    if (at < 0) return;
    this.#threads.splice(at, 1);
    const reason = `the thread that evaluated it is gone: ${why instanceof Error ? why.message : String(why)}`;
    if (thread.isReady) thread.job?.resolve(new Error(reason));
    else thread.job?.reject(why);
    this.#giveOut();
  }
}
