// What the measuring worker does with a request.
import { loadWasm } from "../../src/lab/browser.js";
import { type Measure, type Measured, measure, measureNames } from "../../src/lab/measures.js";
import { sentenceOf } from "./sentence.js";

export interface MeasureRequest extends Measured {
  readonly id: number;
}

/** What the worker sends, one after the other. */
export interface MeasureAnswer {
  readonly id: number;
  readonly kind: Measure["kind"];
  /** The measure, or the sentence why there is none. */
  readonly result: Measure | string;
  /** Whether nothing more comes for this request. */
  readonly last: boolean;
}

let newest = 0;

/** Posts every measure of a request. A newer request ends an older one between two measures. */
export async function measureAll({ id, ...measured }: MeasureRequest): Promise<void> {
  newest = id;
  await loadWasm();
  for (const kind of measureNames) {
    // A turn of the event loop lets a newer request in.
    await new Promise((resume) => setTimeout(resume, 0));
    if (id !== newest) return;
    const result = await measure(kind, measured).catch(sentenceOf);
    postMessage({ id, kind, result, last: kind === measureNames.at(-1) } satisfies MeasureAnswer);
  }
}
