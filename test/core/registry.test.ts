import { describe, expect, it } from "vitest";
import { byType, callback, choiceOf, number, object, option, resolve, schemaOf } from "../../packages/core/src/options.js";
import { type Part, Registry } from "../../packages/core/src/registry.js";

interface Shape extends Part {
  readonly area: (side: number) => number;
}

const square: Shape = {
  name: "square",
  description: "Four sides.",
  options: { side: option(number({ above: 0 }), 1, "Of it.") },
  area: (side) => side ** 2,
};
const circle: Shape = {
  name: "circle",
  description: "None.",
  options: { radius: option(number(), 1, "r.") },
  area: (r) => 3 * r * r,
};

const shapes = () =>
  new Registry<Shape>({ kind: "shape", register: "registerShape", needs: { area: callback("a function of a side") } }, [square]);

describe("a registry of parts", () => {
  it("gives its parts by name, in the order of registration", () => {
    const registry = shapes();
    registry.register(circle);
    expect(registry.names()).toEqual(["square", "circle"]);
    expect(registry.get("circle")).toBe(circle);
    expect(registry.find("cube")).toBeUndefined();
    expect(registry.all()).toEqual([square, circle]);
  });

  it("takes the same object again, and no other of its name", () => {
    const registry = shapes();
    registry.register(square);
    expect(() => registry.register({ ...square })).toThrow('registerShape: name is "square"; it takes a name that no shape has yet');
  });

  it.each([
    [{ name: "__proto__" }, "name", 'a letter, then letters, digits, "-" or "_", at most 64 in all'],
    [{ name: "" }, "name", "a letter"],
    [{ name: 7 }, "name", "a letter"],
    [{ description: " " }, "description", "a sentence"],
    [{ options: null }, "options", "an object of options, {} if there are none"],
    [{ options: { type: circle.options.radius } }, "options", "names other than type"],
    [{ options: { side: 3 } }, "options.side", "what option, optional or given makes"],
    [{ area: 3 }, "area", "a function of a side"],
  ])("refuses a part with %j", (wrong, field, takes) => {
    const part = { ...circle, ...wrong } as unknown as Shape;
    expect(() => shapes().register(part)).toThrow(expect.objectContaining({ name: "ArgumentError", code: "value", field }));
    expect(() => shapes().register(part)).toThrow(takes);
  });

  it("names the nearest part for a name that it does not have, else how one is registered", () => {
    const wrong = (name: string) => () => shapes().get(name, "outline");
    expect(wrong("sqare")).toThrow('outline is "sqare"; it takes one of square (did you mean square?)');
    expect(wrong("hyperboloid")).toThrow("(one of your own is registered first: registerShape, or --import on the command line)");
  });

  it("lets a table that was made before see parts that are registered later", () => {
    const registry = shapes();
    const table = {
      shape: option(byType<{ readonly type: string; readonly [option: string]: unknown }>(registry), { type: "square" }, "Outline."),
      name: option(choiceOf(registry), "square", "Alone."),
    };
    const kind = object({ outer: option(object(table), {} as never, "") });
    expect(() => resolve(table, { shape: "circle" })).toThrow("shape is");
    registry.register(circle);
    expect(resolve(table, { shape: { type: "circle" }, name: "circle" })).toEqual({ shape: { type: "circle", radius: 1 }, name: "circle" });
    expect(JSON.stringify(kind.schema)).toContain('"radius"');
    expect(schemaOf(table.name)).toMatchObject({ enum: ["square", "circle"], description: "Alone. Takes one of square, circle." });
  });
});
