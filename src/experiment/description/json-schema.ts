// The JSON Schema of experiment files, for editors. The checks themselves say more than JSON Schema
// can.
import { type JsonSchema, object, type StandardSchema, standardSchema } from "@spillway/core/options.js";
import type { ExperimentInput, OpenExperiment } from "./description.js";
import { parseExperiment } from "./parse.js";
import { experimentTable } from "./schema.js";

/** Where the JSON Schema of the newest version is published; it stays the same. */
const experimentSchemaId = "https://unpkg.com/spillway/dist/cli/experiment.schema.json";

/**
 * Experiments for libraries that take a Standard Schema: a route of tRPC, a validator. The value has
 * every default filled in; an issue is the sentence of `parseExperiment` with the path of its field.
 */
export const experimentSchema: StandardSchema<ExperimentInput, OpenExperiment> = standardSchema((value) =>
  parseExperiment(value as ExperimentInput),
);

/**
 * The JSON Schema (draft 2020-12) of an experiment file. What a field takes, in the words of the
 * error, ends its description.
 */
export function experimentJsonSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: experimentSchemaId,
    title: "Spillway experiment",
    ...object(experimentTable).schema,
  };
}
