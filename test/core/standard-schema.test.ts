// Option tables and experiments as schemas of Standard Schema, which other libraries take.
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, expectTypeOf, it } from "vitest";
import { count, given, list, number, object, option, optional, text } from "../../packages/core/src/options.js";
import { experimentSchema, parseExperiment } from "../../src/experiment/index.js";
import "../../src/index.js";

const table = {
  size: given(count(1, 1000), "How many."),
  rate: option(number({ above: 0, atMost: 1 }), 0.5, "How fast."),
  parts: option(list(object({ name: given(text(), "What it is called.") }), "a list of parts"), [], "What it has."),
  note: optional(text(), "A note."),
};
const schema = object(table);

/** What a library does that takes any such schema. */
async function validated<Schema extends StandardSchemaV1>(own: Schema, value: unknown): Promise<StandardSchemaV1.InferOutput<Schema>> {
  const { version, vendor, validate } = own["~standard"];
  expect([version, vendor]).toEqual([1, "spillway"]);
  const result = await validate(value);
  if (result.issues) throw new Error(result.issues.map(({ message, path }) => `${JSON.stringify(path)} ${message}`).join("\n"));
  return result.value;
}

describe("an option table", () => {
  it("is a Standard Schema: by its types, and by the value with every default", async () => {
    expectTypeOf(schema).toExtend<StandardSchemaV1>();
    const value = await validated(schema, { size: 3, parts: [{ name: "a" }] });
    expectTypeOf(value.size).toEqualTypeOf<number>();
    expectTypeOf(value.rate).toEqualTypeOf<number>();
    expectTypeOf<StandardSchemaV1.InferInput<typeof schema>["rate"]>().toEqualTypeOf<number | undefined>();
    expect(value).toEqual({ size: 3, rate: 0.5, parts: [{ name: "a" }] });
  });

  it.each([
    [{ size: 0 }, '["size"] size is 0; it takes a whole number'],
    [{ size: 1, parts: [{ name: "a" }, { name: 7 }] }, '["parts",1,"name"] parts[1].name is 7; it takes a text'],
    [{ size: 1, rat: 1 }, '["rat"] unknown field "rat": did you mean "rate"?'],
    [{}, '["size"] size is missing'],
    [[], "[] it is an array of 0; it takes an object with size, rate, parts, note"],
    [null, "[] it is null; it takes an object with size, rate, parts, note"],
  ])("says of %j what is wrong, and where", async (value, issue) => {
    await expect(validated(schema, value)).rejects.toThrow(issue);
  });

  it("does not take errors of a program for issues", () => {
    const broken = object({ x: given({ takes: "", schema: {}, read: () => JSON.parse("{") as number }, "") });
    expect(() => broken["~standard"].validate({ x: 1 })).toThrow(SyntaxError);
  });
});

describe("experimentSchema", () => {
  const experiment = { name: "a", data: { task: "narma" }, reservoir: { size: 20 }, task: { type: "predict" as const } };

  it("gives what parseExperiment gives, and its errors", async () => {
    expectTypeOf(experimentSchema).toExtend<StandardSchemaV1>();
    expect(await validated(experimentSchema, experiment)).toEqual(parseExperiment(experiment));
    await expect(validated(experimentSchema, { ...experiment, reservoir: { size: -1 } })).rejects.toThrow(
      '["reservoir","size"] reservoir.size is -1',
    );
  });
});
