// Replays operations into studies and trials. The first claim of a trial wins and its first finish
// wins, by order in the list; what comes later is ignored, as Optuna ignores it.

import type { TrialState } from "./sampler.js";
import type { Attributes, Json, StoredParameter, StudyDirection, StudyOperation, TrialTemplate } from "./storage.js";

/** A trial as the operations tell it. */
export interface StoredTrial {
  /** Its index among the trials of all studies. */
  readonly id: number;
  /** Its index among those of its study. */
  readonly number: number;
  state: TrialState;
  value: number | undefined;
  started: number | undefined;
  finished: number | undefined;
  /** Who created it, or claimed it last. */
  by: string;
  readonly parameters: Map<string, StoredParameter>;
  readonly attributes: Map<string, Json>;
  readonly systemAttributes: Map<string, Json>;
  readonly intermediate: Map<number, number>;
  /** The largest step of the intermediate values. */
  lastStep: number | undefined;
}

/** A study as the operations tell it. */
export interface StoredStudy {
  readonly id: number;
  readonly name: string;
  readonly direction: StudyDirection;
  readonly attributes: Map<string, Json>;
  readonly systemAttributes: Map<string, Json>;
  readonly trials: StoredTrial[];
}

/** Called with each trial that changed, to update what is derived from it. */
export type TrialListener = (study: StoredStudy, trial: StoredTrial) => void;

const finishedStates: ReadonlySet<TrialState> = new Set(["complete", "pruned", "failed"]);

/** Whether nothing changes a trial any more. */
export function isOver(state: TrialState): boolean {
  return finishedStates.has(state);
}

/** The studies of a storage, as far as its operations were read. */
export class StudyLog {
  readonly #studies: (StoredStudy | undefined)[] = [];
  readonly #byName = new Map<string, StoredStudy>();
  readonly #trials: { readonly study: StoredStudy; readonly trial: StoredTrial }[] = [];
  readonly #listener: TrialListener;
  #length = 0;
  #ignored = 0;

  constructor(listener: TrialListener = () => undefined) {
    this.#listener = listener;
  }

  /** Operations so far. */
  get length(): number {
    return this.#length;
  }

  /** Operations that named nothing that stands, or came after a trial was over. */
  get ignored(): number {
    return this.#ignored;
  }

  /** The id of the next study that is made: ids of deleted ones are not given again. */
  get nextStudyId(): number {
    return this.#studies.length;
  }

  /** The studies that are there, by name. */
  get studies(): ReadonlyMap<string, StoredStudy> {
    return this.#byName;
  }

  /** The next operations. */
  apply(operations: readonly StudyOperation[]): void {
    for (const operation of operations) {
      this.#length++;
      if (!this.#applyOne(operation)) this.#ignored++;
    }
  }

  /** @returns whether the operation counted */
  #applyOne(operation: StudyOperation): boolean {
    switch (operation.type) {
      case "createStudy": {
        if (this.#byName.has(operation.name)) return false;
        const { name, direction } = operation;
        const study = { id: this.#studies.length, name, direction, attributes: new Map(), systemAttributes: new Map(), trials: [] };
        this.#studies.push(study);
        this.#byName.set(name, study);
        return true;
      }
      case "deleteStudy": {
        const study = this.#studies[operation.study];
        if (!study) return false;
        this.#studies[operation.study] = undefined;
        return this.#byName.delete(study.name);
      }
      case "studyAttribute": {
        const study = this.#studies[operation.study];
        (operation.system ? study?.systemAttributes : study?.attributes)?.set(operation.name, operation.value);
        return study !== undefined;
      }
      case "createTrial": {
        const study = this.#studies[operation.study];
        if (!study) return false;
        const trial = trialOf(operation.template, this.#trials.length, study.trials.length, operation.by);
        study.trials.push(trial);
        this.#trials.push({ study, trial });
        this.#listener(study, trial);
        return true;
      }
      default:
        return this.#change(operation);
    }
  }

  #change(operation: Extract<StudyOperation, { readonly trial: number }>): boolean {
    const found = this.#trials[operation.trial];
    if (!found || this.#studies[found.study.id] === undefined || isOver(found.trial.state)) return false;
    const { study, trial } = found;
    switch (operation.type) {
      case "parameter":
        trial.parameters.set(operation.name, operation.parameter);
        break;
      case "intermediate":
        trial.intermediate.set(operation.step, operation.value);
        trial.lastStep = Math.max(operation.step, trial.lastStep ?? operation.step);
        break;
      case "trialAttribute":
        (operation.system ? trial.systemAttributes : trial.attributes).set(operation.name, operation.value);
        break;
      case "state":
        if (operation.state === "running" && trial.state === "running") return false;
        trial.state = operation.state;
        if (operation.value !== undefined) trial.value = operation.value;
        if (operation.state === "running") {
          trial.by = operation.by;
          trial.started = operation.at ?? trial.started;
        } else if (isOver(operation.state)) trial.finished = operation.at;
    }
    this.#listener(study, trial);
    return true;
  }
}

function trialOf(template: TrialTemplate, id: number, number: number, by: string): StoredTrial {
  const { state, value, started, finished, parameters = {}, attributes = {}, systemAttributes = {}, intermediate = {} } = template;
  const values = new Map(Object.entries(intermediate).map(([step, each]) => [Number(step), each]));
  let lastStep: number | undefined;
  for (const step of values.keys()) lastStep = Math.max(step, lastStep ?? step);
  return {
    ...{ id, number, state, value, started, finished, by, lastStep },
    parameters: new Map(Object.entries(parameters)),
    attributes: mapOf(attributes),
    systemAttributes: mapOf(systemAttributes),
    intermediate: values,
  };
}

function mapOf(attributes: Attributes): Map<string, Json> {
  return new Map(Object.entries(attributes));
}
