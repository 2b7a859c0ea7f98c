// The JSON Schema of experiment files, for editors. The checks themselves are the zod schema's, which says more than JSON Schema can.
import * as z from "zod";
import { topologyNames } from "../reservoir/config-schema.js";
import { neuronTypes } from "../spikes/liquid/schema.js";
import { experimentSchema } from "./schema.js";
import { reservoirFieldDescriptions, spikingFieldDescriptions } from "./reservoir-fields.js";

interface SchemaNode {
  description?: string;
  anyOf?: unknown[];
  properties?: Record<string, SchemaNode>;
  [key: string]: unknown;
}

/** The JSON Schema (draft 2020-12) of an experiment file. What a field takes, in the words of the error, ends its description. */
export function experimentJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(experimentSchema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const takes = takesOf(zodSchema._zod.def);
      if (takes) jsonSchema.description = [jsonSchema.description, `Takes ${takes}.`].filter(Boolean).join(" ");
    },
  }) as SchemaNode;
  const [rate, spiking] = schema.properties!["reservoir"]!.anyOf as [SchemaNode, SchemaNode];
  describeFields(rate, reservoirFieldDescriptions);
  const liquid = schema.properties!["liquid"]!;
  for (const node of [spiking, liquid]) {
    describeFields(node, spikingFieldDescriptions);
    alsoByName(node, "neuron", neuronTypes);
    alsoByName(node, "connectivity", ["distance", "random"]);
  }
  alsoByName(rate, "topology", topologyNames);
  return { title: "Spillway experiment", ...schema };
}

function describeFields({ properties }: SchemaNode, descriptions: Readonly<Record<string, string>>): void {
  for (const [field, node] of Object.entries(properties!))
    node.description = [descriptions[field], node.description].filter(Boolean).join(" ");
}

/** A field that takes a name alone as well as an object with settings. */
function alsoByName({ properties }: SchemaNode, field: string, names: readonly string[]): void {
  const { description = "", ...byObject } = properties![field]!;
  properties![field] = { description, anyOf: [{ type: "string", enum: names }, byObject] };
}

function takesOf(def: object): string | undefined {
  const { error } = def as { error?: (issue: object) => unknown };
  const words = typeof error === "function" ? error({}) : undefined;
  return typeof words === "string" && words !== "" ? words : undefined;
}
