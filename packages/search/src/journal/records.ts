// Operations as records of Optuna's journal, one JSON object a line, and back. Which record stands
// where, and what it does to a study, is defined elsewhere.

import { randomUUID } from "node:crypto";
import { isObject } from "@spillway/core/checks.js";
import { describe } from "@spillway/core/text.js";
import type { TrialState } from "../sampler.js";
import type { Json, StoredParameter, StudyDirection, StudyOperation, TrialTemplate } from "../storage.js";
import { distributionOf, distributionText } from "./distributions.js";
import { RecordError } from "./record-error.js";

const states: readonly TrialState[] = ["running", "complete", "pruned", "failed", "waiting"];
const directions = ["", "minimise", "maximise"] as const;

/** What replaces a number that JSON lacks while a line is read or written. */
const marker = randomUUID();

/** The line of an operation, without its end: ASCII, as Python's json module writes it. */
export function encodeRecord(operation: StudyOperation): string {
  const record = recordOf(operation);
  // A function that is called for every value takes most of the time of a line.
  return (isFiniteThroughout(record) ? JSON.stringify(record) : textWithOthers(record)).replace(
    /[\u0080-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Whether JSON has all its numbers. */
function isFiniteThroughout(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  for (const key in value) if (!isFiniteThroughout((value as Fields)[key])) return false;
  return true;
}

function textWithOthers(record: object): string {
  const text = JSON.stringify(record, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? `${marker}${value}` : value));
  return text.replaceAll(new RegExp(`"${marker}(-?\\w+)"`, "g"), "$1");
}

function recordOf(operation: StudyOperation): object {
  const { by: worker_id } = operation;
  switch (operation.type) {
    case "createStudy":
      return { op_code: 0, worker_id, study_name: operation.name, directions: [directions.indexOf(operation.direction as "minimise")] };
    case "deleteStudy":
      return { op_code: 1, worker_id, study_id: operation.study };
    case "studyAttribute":
    case "trialAttribute": {
      const { system, name, value } = operation;
      const [code, of] = operation.type === "studyAttribute" ? [2, { study_id: operation.study }] : [8, { trial_id: operation.trial }];
      return { op_code: system ? code + 1 : code, worker_id, ...of, [system ? "system_attr" : "user_attr"]: { [name]: value } };
    }
    case "createTrial":
      return { op_code: 4, worker_id, study_id: operation.study, ...templateRecord(operation.template) };
    case "parameter": {
      const { trial: trial_id, name: param_name, parameter } = operation;
      const { value: param_value_internal, distribution } = parameter;
      return { op_code: 5, worker_id, trial_id, param_name, param_value_internal, distribution: distributionText(distribution) };
    }
    case "state": {
      const { trial: trial_id, state, value, at } = operation;
      const times = state === "running" ? { datetime_start: timeText(at) } : state === "waiting" ? {} : { datetime_complete: timeText(at) };
      return { op_code: 6, worker_id, trial_id, state: states.indexOf(state), values: value === undefined ? null : [value], ...times };
    }
    case "intermediate":
      return { op_code: 7, worker_id, trial_id: operation.trial, step: operation.step, intermediate_value: operation.value };
  }
}

function templateRecord(template: TrialTemplate): object {
  const { state, value, started, finished, parameters = {}, attributes = {}, systemAttributes = {}, intermediate = {} } = template;
  const named = Object.entries(parameters);
  return {
    datetime_start: timeText(started),
    state: states.indexOf(state),
    value: value ?? null,
    values: null,
    ...(finished !== undefined && { datetime_complete: timeText(finished) }),
    distributions: Object.fromEntries(named.map(([name, { distribution }]) => [name, distributionText(distribution)])),
    params: Object.fromEntries(named.map(([name, parameter]) => [name, parameter.value])),
    user_attrs: attributes,
    system_attrs: systemAttributes,
    intermediate_values: intermediate,
  };
}

/** ISO 8601 with microseconds and an offset. */
function timeText(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString().replace("Z", "000+00:00");
}

type Fields = Readonly<Record<string, unknown>>;

/** The operation of a line. @throws RecordError with the reason if it is none */
export function decodeRecord(line: string): StudyOperation {
  const record = parsed(line);
  if (!isObject(record)) throw new RecordError(`it is ${describe(record)}; a record is an object`);
  const by = typeof record["worker_id"] === "string" ? record["worker_id"] : "";
  const code = record["op_code"];
  switch (code) {
    case 0:
      return { by, type: "createStudy", name: textOf(record, "study_name"), direction: directionOf(record["directions"]) };
    case 1:
      return { by, type: "deleteStudy", study: idOf(record, "study_id") };
    case 2:
    case 3:
      return { by, type: "studyAttribute", study: idOf(record, "study_id"), ...attributeOf(record, code === 3) };
    case 4:
      return { by, type: "createTrial", study: idOf(record, "study_id"), template: templateOf(record) };
    case 5: {
      const parameter = parameterOf(record["param_value_internal"], record["distribution"], textOf(record, "param_name"));
      return { by, type: "parameter", trial: idOf(record, "trial_id"), name: textOf(record, "param_name"), parameter };
    }
    case 6: {
      const state = stateOf(record["state"]);
      const value = objectiveOf(undefined, record["values"]);
      const at = timeOf(record, state === "running" ? "datetime_start" : "datetime_complete");
      return { by, type: "state", trial: idOf(record, "trial_id"), state, value, at };
    }
    case 7: {
      const { step, intermediate_value: value } = record;
      if (!Number.isSafeInteger(step)) throw new RecordError(`its step is ${describe(step)}; it takes a whole number`);
      if (typeof value !== "number") throw new RecordError(`its intermediate_value is ${describe(value)}; it takes a number`);
      return { by, type: "intermediate", trial: idOf(record, "trial_id"), step: step as number, value };
    }
    case 8:
    case 9:
      return { by, type: "trialAttribute", trial: idOf(record, "trial_id"), ...attributeOf(record, code === 9) };
    // Records that are thrown away by those who know them; like one that names no study.
    case 10:
      return { by, type: "deleteStudy", study: -1 };
    default:
      throw new RecordError(`its op_code is ${describe(code)}; this version knows 0 to 10, and a newer one may have written it`);
  }
}

function textOf(record: Fields, name: string): string {
  const value = record[name];
  if (typeof value !== "string") throw new RecordError(`its ${name} is ${describe(value)}; it takes a text`);
  return value;
}

function idOf(record: Fields, name: string): number {
  const value = record[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw new RecordError(`its ${name} is ${describe(value)}; it takes a whole number of at least 0`);
  return value as number;
}

function directionOf(value: unknown): StudyDirection {
  const isOne = (code: unknown) => code === 1 || code === 2;
  if (!Array.isArray(value) || value.length === 0 || !value.every(isOne))
    throw new RecordError(`its directions are ${describe(value)}; they take 1 (minimise) or 2 (maximise) each`);
  return value.length > 1 ? "several" : directions[value[0] as 1 | 2];
}

function stateOf(code: unknown): TrialState {
  const state = states[code as number];
  if (state === undefined) throw new RecordError(`its state is ${describe(code)}; it takes a number from 0 to 4`);
  return state;
}

/** The value of a trial with one objective; undefined if it has none, or several. */
function objectiveOf(value: unknown, values: unknown): number | undefined {
  const one = value ?? (Array.isArray(values) && values.length === 1 ? values[0] : undefined);
  if (one === undefined || one === null) {
    if (values === undefined || values === null || Array.isArray(values)) return undefined;
    throw new RecordError(`its values are ${describe(values)}; they take a list`);
  }
  if (typeof one !== "number") throw new RecordError(`its value is ${describe(one)}; it takes a number`);
  return one;
}

/** Milliseconds since 1970. A time without an offset is local time, as older versions wrote it. */
function timeOf(record: Fields, name: string): number | undefined {
  const value = record[name];
  if (value === undefined || value === null) return undefined;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) throw new RecordError(`its ${name} is ${describe(value)}; it takes a time as ISO 8601 has it`);
  return time;
}

function attributeOf(record: Fields, system: boolean): { readonly system: boolean; readonly name: string; readonly value: Json } {
  const field = system ? "system_attr" : "user_attr";
  const value = record[field];
  const entries = isObject(value) ? Object.entries(value) : [];
  if (entries.length !== 1) throw new RecordError(`its ${field} is ${describe(value)}; it takes an object with one name`);
  checkDepth(value, field);
  const [name, inner] = entries[0] as [string, Json];
  return { system, name, value: inner };
}

/** Deeper than Python's json module reads: who goes through such a value may run out of stack. */
const deepest = 200;

function checkDepth(value: unknown, field: string): void {
  const isDeeper = (each: unknown, left: number): boolean =>
    typeof each === "object" && each !== null && (left === 0 || Object.values(each).some((inner) => isDeeper(inner, left - 1)));
  if (isDeeper(value, deepest)) throw new RecordError(`its ${field} has more than ${deepest} lists or objects in one another`);
}

function parameterOf(value: unknown, distribution: unknown, name: string): StoredParameter {
  if (typeof value !== "number") throw new RecordError(`its parameter ${describe(name)} is ${describe(value)}; it takes a number`);
  if (typeof distribution !== "string")
    throw new RecordError(`the distribution of ${describe(name)} is ${describe(distribution)}; it takes a text`);
  return { value, distribution: distributionOf(distribution) };
}

function fieldsOf(record: Fields, name: string): Fields {
  const value = record[name] ?? {};
  if (!isObject(value)) throw new RecordError(`its ${name} are ${describe(value)}; they take an object`);
  return value;
}

function attributesOf(record: Fields, name: string): Readonly<Record<string, Json>> {
  const fields = fieldsOf(record, name);
  checkDepth(fields, name);
  return fields as Readonly<Record<string, Json>>;
}

function templateOf(record: Fields): TrialTemplate {
  const started = timeOf(record, "datetime_start");
  if (record["state"] === undefined) return { state: "running", started };
  const distributions = fieldsOf(record, "distributions");
  const parameters: Record<string, StoredParameter> = {};
  for (const [name, value] of Object.entries(fieldsOf(record, "params")))
    set(parameters, name, parameterOf(value, distributions[name], name));
  const intermediate = fieldsOf(record, "intermediate_values") as Readonly<Record<number, number>>;
  for (const [step, value] of Object.entries(intermediate))
    if (!/^-?\d{1,15}$/.test(step) || typeof value !== "number")
      throw new RecordError(`its intermediate value at ${describe(step)} is ${describe(value)}; it takes a number at a whole step`);
  return {
    state: stateOf(record["state"]),
    value: objectiveOf(record["value"], record["values"]),
    started,
    finished: timeOf(record, "datetime_complete"),
    parameters,
    attributes: attributesOf(record, "user_attrs"),
    systemAttributes: attributesOf(record, "system_attrs"),
    intermediate,
  };
}

/** A name from a file may be that of an object's own machinery. */
function set<Value>(object: Record<string, Value>, name: string, value: Value): void {
  if (name === "__proto__") Object.defineProperty(object, name, { value, enumerable: true });
  else object[name] = value;
}

/** JSON, also with NaN and infinities as Python writes them. @throws RecordError */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    const text = withMarkers(line);
    try {
      return JSON.parse(text, (_, value) =>
        typeof value === "string" && value.startsWith(marker) ? Number(value.slice(marker.length)) : value,
      );
    } catch {
      throw new RecordError(
        line.charCodeAt(0) === 0xfeff ? "it begins with a byte order mark; take that away" : `it is no JSON: ${describe(line)}`,
      );
    }
  }
}

const bare = /-?Infinity|NaN/y;

/** Replaces numbers that JSON lacks by texts. The content of a text stays as it is. */
function withMarkers(line: string): string {
  let out = "";
  let from = 0;
  let isText = false;
  for (let i = 0; i < line.length; i++) {
    const letter = line[i];
    if (isText) {
      if (letter === "\\") i++;
      else if (letter === '"') isText = false;
    } else if (letter === '"') isText = true;
    else if (letter === "N" || letter === "I" || letter === "-") {
      bare.lastIndex = i;
      const [found] = bare.exec(line) ?? [];
      if (found === undefined) continue;
      out += `${line.slice(from, i)}"${marker}${found}"`;
      i += found.length - 1;
      from = i + 1;
    }
  }
  return out + line.slice(from);
}
