// What a study writes down, and where: a list of operations that only grows. Who replays it from
// the start has the study. How an operation lies in a file or on a server is the storage's own.
import type { TrialState } from "./sampler.js";
import type { ParameterValue } from "./space.js";

/** Any JSON value; numbers may also be infinite. */
export type Json = ParameterValue | readonly Json[] | { readonly [key: string]: Json };

/** Attributes of a study or a trial, by name. */
export type Attributes = Readonly<Record<string, Json>>;

/** What values a parameter may have in a study: what others that read the study find. */
export type Distribution =
  | { readonly kind: "float"; readonly low: number; readonly high: number; readonly log: boolean; readonly step: number | undefined }
  | { readonly kind: "int"; readonly low: number; readonly high: number; readonly log: boolean; readonly step: number }
  | { readonly kind: "choice"; readonly choices: readonly ParameterValue[] };

/** A parameter of a trial: an internal value (of a choice its index), and what it may be. */
export interface StoredParameter {
  readonly value: number;
  readonly distribution: Distribution;
}

/** A trial as it is created: waiting or running, or finished with all it has. */
export interface TrialTemplate {
  readonly state: TrialState;
  readonly value?: number | undefined;
  /** Milliseconds since 1970. */
  readonly started?: number | undefined;
  readonly finished?: number | undefined;
  readonly parameters?: Readonly<Record<string, StoredParameter>> | undefined;
  readonly attributes?: Attributes | undefined;
  readonly systemAttributes?: Attributes | undefined;
  /** Values on the way, by step. */
  readonly intermediate?: Readonly<Record<number, number>> | undefined;
}

/**
 * Whether small values are good, or large ones; "several" of a study that has several objectives.
 */
export type StudyDirection = "minimise" | "maximise" | "several";

/**
 * One operation on a list of studies. Ids are positions: a study's counts the "createStudy" before
 * it of names that stood not, a trial's the "createTrial" before it of studies that stand, over all
 * studies. `by` names the process that wrote it.
 */
export type StudyOperation = { readonly by: string } & (
  | { readonly type: "createStudy"; readonly name: string; readonly direction: StudyDirection }
  | { readonly type: "deleteStudy"; readonly study: number }
  | { readonly type: "studyAttribute"; readonly study: number; readonly system: boolean; readonly name: string; readonly value: Json }
  | { readonly type: "createTrial"; readonly study: number; readonly template: TrialTemplate }
  | { readonly type: "parameter"; readonly trial: number; readonly name: string; readonly parameter: StoredParameter }
  | {
      readonly type: "state";
      readonly trial: number;
      readonly state: TrialState;
      readonly value?: number | undefined;
      /** When it began, if it runs now, or when it finished; milliseconds since 1970. */
      readonly at?: number | undefined;
    }
  | { readonly type: "intermediate"; readonly trial: number; readonly step: number; readonly value: number }
  | { readonly type: "trialAttribute"; readonly trial: number; readonly system: boolean; readonly name: string; readonly value: Json }
);

/** The operations that set attributes of a study or a trial, by name. */
export function settingAttributes(
  by: string,
  of: { readonly study: number } | { readonly trial: number },
  attributes: Attributes | ReadonlyMap<string, Json>,
  system = false,
): StudyOperation[] {
  const entries = attributes instanceof Map ? [...(attributes as Map<string, Json>)] : Object.entries(attributes as Attributes);
  return entries.map(([name, value]) =>
    "study" in of ? { by, type: "studyAttribute", ...of, system, name, value } : { by, type: "trialAttribute", ...of, system, name, value },
  );
}

/** The operations that report values of a trial on the way, by step. */
export function reporting(by: string, trial: number, values: Iterable<readonly [step: number | string, value: number]>): StudyOperation[] {
  return Array.from(values, ([step, value]) => ({ by, type: "intermediate", trial, step: Number(step), value }));
}

/**
 * Where operations are kept. It orders them and knows nothing of what they mean: `StudyLog` replays
 * them.
 */
export interface StudyStorage {
  /** What messages call it: a path, an address. */
  readonly name: string;
  /**
   * Appends operations in one piece and in their order, durable when it resolves.
   * @param expected append only if exactly so many operations are there: nobody wrote since then.
   * Left out, append in any case.
   * @returns whether they were appended
   */
  append(operations: readonly StudyOperation[], expected?: number): Promise<boolean>;
  /** The operations from a position on, in order; empty if there are none yet. */
  read(from: number): Promise<readonly StudyOperation[]>;
  /** Gives back what it holds; operations stay where they are. */
  close(): Promise<void>;
}

/** Operations in memory, lost with the process. Two studies may share it. */
export class MemoryStorage implements StudyStorage {
  readonly name = "memory";
  readonly #operations: StudyOperation[] = [];

  async append(operations: readonly StudyOperation[], expected?: number): Promise<boolean> {
    if (expected !== undefined && expected !== this.#operations.length) return false;
    for (const operation of operations) this.#operations.push(operation);
    return true;
  }

  async read(from: number): Promise<readonly StudyOperation[]> {
    return this.#operations.slice(from);
  }

  /** Does nothing: the operations go when the object does. */
  async close(): Promise<void> {}
}
