// Models that name classes: requests that wait at the same time are answered by one batch.
import { ArgumentError } from "@spillway/core/errors.js";
import { checked, flag, given, list, option } from "@spillway/core/options.js";
import type { Matrix } from "@spillway/numerics";
import type { Classifier, Label } from "../model/index.js";
import type { Pipeline } from "../pipeline/index.js";
import { most } from "./limits.js";
import { tooMuch } from "./refused.js";
import { type Route, route } from "./route.js";
import { rowsKind, sequencesKind } from "./series.js";
import type { Work } from "./work.js";

/** Labels and, if they were asked for, a row of shares for each sequence. */
interface Answer {
  readonly labels: readonly Label[];
  readonly shares?: readonly (readonly number[])[];
}

interface Job {
  readonly sequences: readonly Matrix[];
  readonly shares: boolean;
  readonly signal: AbortSignal;
  readonly done: (answer: Answer) => void;
  readonly failed: (error: unknown) => void;
}

/** Classifies what waits, many requests at a time. */
export class ClassBatches {
  readonly #model: Classifier | Pipeline;
  readonly #neurons: number;
  readonly #work: Work;
  #waiting: Job[] = [];
  #runs = false;

  /** @param neurons how many see each row */
  constructor(model: Classifier | Pipeline, neurons: number, work: Work) {
    this.#model = model;
    this.#neurons = neurons;
    this.#work = work;
  }

  /** Sequences that wait for a batch. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * @throws ArgumentError for sequences that the model does not take, and what `Work.take` throws
   */
  classify(sequences: readonly Matrix[], shares: boolean, signal: AbortSignal): Promise<Answer> {
    return new Promise((done, failed) => {
      this.#waiting.push({ sequences, shares, signal, done, failed });
      if (!this.#runs) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#runs = true;
    // Requests whose bodies are being read at this moment join the first batch.
    await new Promise<void>((turn) => (globalThis.setImmediate ?? setTimeout)(() => turn()));
    while (this.#waiting.length > 0) await this.#batch(this.#next());
    this.#runs = false;
  }

  /** The first of those that wait, as many as one batch takes. */
  #next(): readonly Job[] {
    let count = 0;
    let rows = 0;
    let end = 0;
    for (const { sequences } of this.#waiting) {
      count += sequences.length;
      rows += rowsOf(sequences);
      if (end > 0 && (count > most.sequences || rows * this.#neurons > most.states)) break;
      end++;
    }
    return this.#waiting.splice(0, end);
  }

  async #batch(jobs: readonly Job[]): Promise<void> {
    const here = jobs.filter(({ signal, failed }) => !signal.aborted || void failed(signal.reason));
    if (here.length === 0) return;
    try {
      const answer = await this.#classify(here);
      let at = 0;
      for (const { sequences, shares, done } of here) {
        const end = at + sequences.length;
        done({ labels: answer.labels.slice(at, end), ...(shares && { shares: answer.shares!.slice(at, end) }) });
        at = end;
      }
    } catch (error) {
      // A sequence that cannot be classified is the fault of the request that it came with.
      if (here.length > 1 && error instanceof ArgumentError) for (const job of here) await this.#batch([job]);
      else for (const { failed } of here) failed(error);
    }
  }

  #classify(jobs: readonly Job[]): Promise<Answer> {
    const sequences = jobs.flatMap((job) => job.sequences);
    const gone = whenAll(jobs.map(({ signal }) => signal));
    return this.#work.take(gone, async (signal) => {
      const labels = await this.#model.predict(sequences, { signal });
      if (!jobs.some(({ shares }) => shares)) return { labels };
      return { labels, shares: (await this.#model.predictProba(sequences, { signal })).toArrays() };
    });
  }
}

function rowsOf(sequences: readonly Matrix[]): number {
  return sequences.reduce((sum, { rows }) => sum + rows, 0);
}

/** Aborted when all of some signals are. */
function whenAll(signals: readonly AbortSignal[]): AbortSignal {
  const [first] = signals;
  if (signals.length === 1) return first!;
  const all = new AbortController();
  let left = signals.length;
  for (const signal of signals) signal.addEventListener("abort", () => --left === 0 && all.abort(signal.reason), { once: true });
  return all.signal;
}

/** The routes of a model that names classes. @param neurons how many see each row */
export function classRoutes({ classes }: Classifier | Pipeline, neurons: number, batches: ClassBatches): readonly Route[] {
  const label = checked<Label>("a class", (value) => typeof value === "string" || typeof value === "number", {
    anyOf: [{ type: "string" }, { type: "number" }],
  });
  return [
    route({
      method: "POST",
      path: "/classify",
      summary: "The class of each sequence.",
      body: {
        sequences: given(sequencesKind, "The cases, each with any number of rows."),
        shares: option(flag, true, "Whether to answer with a share for each class too."),
      },
      answer: {
        status: 200,
        description: "The classes, and how sure the model is.",
        fields: {
          labels: given(list(label, "a list of classes"), "The class of each sequence."),
          shares: option(rowsKind, [], "For each sequence a number from 0 to 1 for each class, in the order of `classes`."),
          classes: given(list(label, "a list of classes"), "All classes."),
        },
      },
      run: async ({ body: { sequences, shares }, signal, reserve }) => {
        const rows = rowsOf(sequences);
        if (rows * neurons > most.states)
          throw tooMuch(
            `the sequences have ${rows} rows; one request takes ${Math.floor(most.states / neurons)} for ${neurons} neurons, so send fewer`,
          );
        if (shares && sequences.length * classes.length > most.values)
          throw tooMuch(
            `${sequences.length} sequences of ${classes.length} classes are more than an answer's ${most.values} shares; send fewer`,
          );
        await reserve(sequences.length * (1 + (shares ? classes.length : 0)));
        return { ...(await batches.classify(sequences, shares, signal)), classes };
      },
    }),
  ];
}
