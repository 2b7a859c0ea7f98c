// Reads the folder of a run again: its result.json, checked field by field.
import { join } from "node:path";
import * as z from "zod";
import { FileError, readText } from "../io/index.js";
import type { ExperimentResult } from "./result.js";

/** A number, or NaN for the null that stands for one that is not finite. */
const figure = z.union([z.number(), z.null().transform(() => Number.NaN)]);
const scores = z.record(z.string(), figure);
const seed = z.union([z.string(), z.number()]);
const details = z.record(z.string(), z.unknown());

const scoreSummary = z.looseObject({
  metric: z.string(),
  value: figure,
  statistic: z.enum(["median", "mean"]),
  median: figure,
  quartiles: z.tuple([figure, figure]),
  mean: figure,
  sd: figure,
  seeds: z.int().min(1),
  better: z.enum(["lower", "higher"]),
  unit: z.string().optional(),
  baselines: z.array(z.looseObject({ name: z.string(), value: figure })),
  published: z.looseObject({ value: z.number(), source: z.string() }).optional(),
});

const seedResult = z.looseObject({
  seed,
  scores,
  baselines: z.record(z.string(), scores),
  readout: details,
  timing: scores,
});

const resultSchema = z.looseObject({
  format: z.literal("spillway-result"),
  formatVersion: z.literal(1),
  name: z.string(),
  interrupted: z.boolean(),
  finished: z.string(),
  scores: z.array(scoreSummary),
  seeds: z.array(seedResult),
  engine: z.looseObject({ name: z.string(), reason: z.string() }).optional(),
  data: details,
  config: z.looseObject({ name: z.string(), task: z.looseObject({ type: z.string() }) }),
  timing: scores,
  versions: z.record(z.string(), z.string()),
  machine: details,
  files: z.array(z.string()),
});

/**
 * Reads the result of a run from its folder, as `runExperiment` or `spillway run` wrote it. A score
 * that was not finite is NaN. Its model is opened by `loadModel` of `spillway/model`.
 * @param folder the run's folder, which holds result.json
 * @throws FileError if it cannot be read, or naming the field that is not one of a result
 */
export async function readRun(folder: string): Promise<ExperimentResult> {
  const path = join(folder, "result.json");
  const text = await readText(path);
  let source: unknown;
  try {
    source = JSON.parse(text);
  } catch (cause) {
    throw new FileError(path, "it is no JSON", "content", cause);
  }
  const parsed = resultSchema.safeParse(source);
  if (parsed.success) return parsed.data as unknown as ExperimentResult;
  const { path: field, message } = parsed.error.issues[0]!;
  throw new FileError(path, `${field.length > 0 ? field.join(".") : "the whole"} is not that of a result: ${message}`, "content");
}
