// The JSON Schema of experiment files, for editors. The checks themselves say more than JSON Schema
// can.
import { type JsonSchema, object } from "@spillway/core/options.js";
import { experimentTable } from "./schema.js";

/**
 * The JSON Schema (draft 2020-12) of an experiment file. What a field takes, in the words of the
 * error, ends its description.
 */
export function experimentJsonSchema(): JsonSchema {
  return { $schema: "https://json-schema.org/draft/2020-12/schema", title: "Spillway experiment", ...object(experimentTable).schema };
}
