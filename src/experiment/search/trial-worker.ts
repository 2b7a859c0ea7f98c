// A thread that evaluates trials of a search, one after the other. It is built into a file of its
// own; search-workers.ts starts it.
import { parentPort, workerData } from "node:worker_threads";
import { SpillwayError } from "@spillway/core/errors.js";
import { TrialEvaluator, type TrialScores, type TrialSetup, type TrialTask } from "./search-trials.js";

/** What the thread is started with. */
export interface TrialWorkerData {
  readonly setup: TrialSetup;
  /** Modules that are loaded first, by their addresses. */
  readonly imports: readonly string[];
}

/** What it answers to a task; `isDefect` says that the program failed, and not the trial. */
export type TrialAnswer = { readonly scores: TrialScores } | { readonly message: string; readonly isDefect: boolean };

const { setup, imports } = workerData as TrialWorkerData;
for (const address of imports) await import(address);
const evaluator = new TrialEvaluator(setup, new AbortController().signal);

parentPort!.on("message", async (task: TrialTask) => {
  parentPort!.postMessage(await answerTo(task));
});
parentPort!.postMessage("ready");

async function answerTo(task: TrialTask): Promise<TrialAnswer> {
  try {
    const found = await evaluator.evaluate(task);
    return found instanceof Error ? { message: found.message, isDefect: false } : { scores: found! };
  } catch (error) {
    if (!(error instanceof Error)) return { message: String(error), isDefect: true };
    return { message: error.stack ?? error.message, isDefect: !(error instanceof SpillwayError) };
  }
}
