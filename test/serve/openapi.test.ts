// The OpenAPI document says what the server does: it is made of the tables that requests are
// checked with, so what is left to hold is that answers and refusals are as it says.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, Models, swing, wave } from "./served.js";

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>>;
  readonly parameters?: readonly { readonly name: string }[];
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

let models: Models;
beforeAll(async () => {
  models = await Models.create();
});
afterAll(() => models[Symbol.asyncDispose]());

/** A body for each path that takes one. */
const bodies: Readonly<Record<string, unknown>> = {
  "/forecast": { steps: 2 },
  "/predict": { inputs: wave(2) },
  "/classify": { sequences: [swing(0.2)] },
  "/update": { rows: wave(1), weights: "keep" },
  "/sessions": {},
  "/sessions/{session}/rows": { inputs: wave(1) },
  "/sessions/{session}/forecast": { steps: 1 },
};
/** The same for a model with known inputs and bands. */
const timed: typeof bodies = {
  "/forecast": { steps: 2, known: wave(2), intervals: [0.9] },
  "/predict": { inputs: wave(2), known: wave(2) },
  "/update": { rows: { series: wave(1), known: wave(1) }, weights: "keep" },
  "/sessions": {},
  "/sessions/{session}/rows": { inputs: wave(1), known: wave(1) },
  "/sessions/{session}/forecast": { steps: 1, known: wave(1) },
};

describe.each(["forecaster", "classifier", "timed"])("the document of a %s", (name) => {
  it("names every answer that the server gives, with its status, type and fields", async () => {
    await using server = await models.serve(name);
    const { openapi, paths } = (await ask(server, "GET", "/openapi.json")).body as { openapi: string; paths: Paths };
    expect(openapi).toBe("3.1.0");
    const session = name !== "classifier" ? ((await ask(server, "POST", "/sessions", {})).body as { session: string }).session : "";
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
    );
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length);
    for (const { path, method, operation } of operations.filter(({ path }) => !path.endsWith("/events"))) {
      expect(operation.parameters?.map((one) => `{${one.name}}`) ?? [], path).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(operation.requestBody !== undefined, path).toBe(method === "POST");
      const { status, headers, body } = await ask(
        server,
        method,
        path.replace("{session}", session),
        (name === "timed" ? timed : bodies)[path],
      );
      const described = operation.responses[status];
      expect(described, `${method} ${path} answered ${status}`).toBeDefined();
      expect(status, path).toBeLessThan(300);
      const [type, content] = Object.entries(described!.content ?? {})[0] ?? [];
      expect(headers["content-type"], path).toBe(type);
      const properties = content?.schema.properties;
      if (properties && path !== "/model") {
        expect(
          Object.keys(body as object).filter((field) => !(field in properties)),
          path,
        ).toEqual([]);
        expect(content.schema.required?.filter((field) => !(field in (body as object))) ?? [], path).toEqual([]);
      }
    }
  });

  it("names every refusal of a body", async () => {
    await using server = await models.serve(name);
    const { paths } = (await ask(server, "GET", "/openapi.json")).body as { paths: Paths };
    for (const [path, methods] of Object.entries(paths).filter(([, { post }]) => post)) {
      const statuses = [
        (await ask(server, "POST", path, "[")).status,
        (await ask(server, "POST", path, "{}", { "content-type": "text/plain" })).status,
        (await ask(server, "POST", path, undefined, { "content-length": String(2 ** 30), "content-type": "application/json" })).status,
        (await ask(server, "POST", path, { unheard: 1 }, { host: "example.org" })).status,
      ];
      expect(statuses, path).toEqual([400, 415, 413, 403]);
      for (const status of statuses) expect(Object.keys(methods["post"]!.responses)).toContain(String(status));
    }
  });
});
