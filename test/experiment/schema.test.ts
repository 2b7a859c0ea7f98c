import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { parseExperimentText } from "../../src/experiment/description/file.js";
import { experimentJsonSchema } from "../../src/experiment/description/json-schema.js";
import { parseExperiment } from "../../src/experiment/description/parse.js";
import { tasks } from "../../src/tasks/index.js";

interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Node[];
  readonly oneOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Node;
  readonly not?: Node;
}

const schema = experimentJsonSchema() as Node;
const [rate, spiking] = schema.properties!["reservoir"]!.anyOf as [Node, Node];
const examples = fileURLToPath(new URL("../../examples/experiments/", import.meta.url));

const reservoirExamples = readdirSync(examples).filter(
  (name) => name.endsWith(".yaml") && !/^network:/m.test(readFileSync(join(examples, name), "utf8")),
);

/** Whether a value fits a node, as far as an editor cares: fields, choices and kinds. */
function fits(node: Node, value: unknown): boolean {
  const branches = node.anyOf ?? node.oneOf;
  if (node.not !== undefined) return !fits(node.not, value);
  if (branches) return branches.some((branch) => fits(branch, value));
  if (node.enum) return node.enum.includes(value);
  if (node.const !== undefined) return node.const === value;
  if (node.type === "array") return Array.isArray(value) && value.every((item) => fits(node.items!, item));
  if (node.type === "null") return value === null;
  if (node.type === "object") {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    if (!node.properties) return true;
    const fields = value as Record<string, unknown>;
    return (
      (node.required ?? []).every((field) => field in fields) &&
      Object.entries(fields).every(([field, each]) => {
        const known = node.properties![field];
        return known ? fits(known, each) : node.additionalProperties !== false;
      })
    );
  }
  if (node.type === "integer") return Number.isInteger(value);
  return node.type === undefined || typeof value === node.type;
}

describe("the JSON Schema of experiment files", () => {
  it.each([
    ["a rate reservoir", rate],
    ["a spiking reservoir", spiking],
  ])("describes every field of %s", (_, { properties }) => {
    for (const [field, node] of Object.entries(properties!)) expect(node.description, field).toMatch(/^\S.*\. Takes \S/);
  });

  it("says what a field takes, in the words of the error", () => {
    expect(rate.properties!["size"]!.description).toBe("N, the number of neurons. Takes a whole number of at least 1.");
  });

  it("names every task, and takes a topology by name alone", () => {
    const generated = schema.properties!["data"]!.anyOf![0]!;
    expect(generated.properties!["task"]!.enum).toEqual(tasks.all().map(({ name }) => name));
    expect(fits(schema.properties!["reservoir"]!, { size: 5, topology: "ring" })).toBe(true);
    expect(fits(schema.properties!["reservoir"]!, { size: 5, topology: "rnig" })).toBe(false);
    expect(fits(schema.properties!["reservoir"]!, { kind: "spiking", size: 5, neuron: "izhikevich" })).toBe(true);
    expect(fits(schema.properties!["reservoir"]!, { kind: "spiking", size: 5, neuron: "izikevich" })).toBe(false);
  });

  it("asks for the fields that have no default", () => {
    expect([...schema.required!].sort()).toEqual(["data", "name", "task"]);
  });

  it("can be told from a misspelt field", () => {
    const example = parse(readFileSync(join(examples, "narma10.yaml"), "utf8")) as Record<string, unknown>;
    expect(fits(schema, { ...example, washuot: 5 })).toBe(false);
  });

  // Files with a network have fields of their own: network.test.ts.
  it.each(reservoirExamples)("takes the example %s, as does the check itself", (name) => {
    const text = readFileSync(join(examples, name), "utf8");
    expect(fits(schema, parse(text))).toBe(true);
    expect(parseExperimentText(text, name).experiment.name).toBe(name.replace(".yaml", ""));
  });
});

describe("the JSON Schema, compiled by ajv in strict mode", () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { date: /^\d{4}-\d\d-\d\d$/ } });
  const check = ajv.compile(experimentJsonSchema());

  it("has an address that stays the same, where the package has the file", () => {
    const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly exports: Readonly<Record<string, string>> };
    const file = exports["./experiment.schema.json"]!.slice(2);
    expect(experimentJsonSchema()["$id"]).toBe(`https://unpkg.com/spillway/${file}`);
  });

  it.each(reservoirExamples)("takes %s", (name) => {
    const experiment: unknown = parse(readFileSync(join(examples, name), "utf8"), { merge: true });
    expect([check(experiment), check.errors]).toEqual([true, null]);
  });

  it("refuses what is refused when it is read", () => {
    const experiment = { name: "a", data: { task: "narma" }, reservoir: { size: 20 }, task: { type: "predict" } };
    expect(check(experiment)).toBe(true);
    const wrong = [
      { reservoir: { size: -1 } },
      { reservoir: { sise: 20 } },
      { task: { type: "predicted" } },
      { data: { file: "a.csv", format: "xls" } },
      { seeds: "one" },
      { metrics: [7] },
    ];
    for (const change of wrong) {
      expect(check({ ...experiment, ...change }), JSON.stringify(change)).toBe(false);
      expect(() => parseExperiment({ ...experiment, ...change }), JSON.stringify(change)).toThrow();
    }
  });
});
