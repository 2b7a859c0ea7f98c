// The OpenAPI document of a server, from the tables that its requests are checked with.
import { type JsonSchema, type OptionTable, object } from "@spillway/core/options.js";
import { packageVersion } from "../model/version.js";
import type { Route } from "./route.js";

const errorSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: {
        code: { type: "string", description: "What went wrong, for a program." },
        message: { type: "string", description: "What went wrong and what to do, in a sentence." },
        field: { type: "string", description: "The field that is wrong, if one is." },
      },
    },
  },
};

const refusalsOfAll = { 403: "The host or the origin is not this server's.", 503: "The server is ending, or the work took too long." };
const refusalsOfBodies = {
  400: "The body is not what it takes.",
  408: "The body came too slowly.",
  413: "The body is too long.",
  415: "The body is no JSON.",
  422: "The model's numbers ran away.",
};

/** The document (OpenAPI 3.1) of some routes. */
export function openApiOf(title: string, routes: readonly Route[], base: string): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const one of routes) paths[one.path] = { ...paths[one.path], [one.method.toLowerCase()]: operationOf(one) };
  return {
    openapi: "3.1.0",
    info: { title, version: packageVersion },
    ...(base && { servers: [{ url: base }] }),
    paths,
    components: { schemas: { Error: errorSchema } },
  };
}

function operationOf({ method, path, summary, body, answer, refusals }: Route): JsonSchema {
  const [, parameter] = /\{(\w+)\}/.exec(path) ?? [];
  const { status, description, fields, schema = fields && schemaOf(fields), type = "application/json" } = answer;
  const refused = { ...refusalsOfAll, ...(body && refusalsOfBodies), ...refusals };
  return {
    operationId: [method.toLowerCase(), ...path.split("/").map((part) => part.replace(/\W/g, ""))].filter(Boolean).join("-"),
    summary,
    ...(parameter && { parameters: [{ name: parameter, in: "path", required: true, schema: { type: "string" } }] }),
    ...(body && { requestBody: { required: true, content: { "application/json": { schema: schemaOf(body) } } } }),
    responses: {
      [status]: { description, ...(schema && { content: { [type]: { schema } } }) },
      ...Object.fromEntries(Object.entries(refused).map(([code, words]) => [code, refusal(words)])),
    },
  };
}

const refusal = (description: string) => ({
  description,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
});

const schemaOf = (table: OptionTable): JsonSchema => object(table).schema;
