// Every error of the package has one root and a code.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ArgumentError, DisposedError, LaunchError, SpillwayError } from "../../packages/core/src/errors.js";
import { withOwner } from "../../packages/core/src/field-owner.js";

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : path.endsWith(".ts") ? [path] : [];
  });
}

describe("the classes of errors", () => {
  it.each([...files("src"), ...files("packages")])("%s throws and defines none beside SpillwayError", (path) => {
    const code = readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    if (path !== join("packages", "core", "src", "errors.ts")) expect(code).not.toMatch(/class \w+ extends (Error|RangeError|TypeError)\b/);
    // What the operating system would say is thrown only to be caught beside it, and a program that
    // is written out has no SpillwayError.
    expect(code.replace('new Error("EISDIR")', "").replace(/new (Range|Type)Error\(\\`/g, "")).not.toMatch(
      /(throw|reject\()\s*new (Error|RangeError|TypeError|SyntaxError)\(/,
    );
  });

  it("are of the root, where they are public", async () => {
    const entries = Object.values(
      (JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, { default?: string }> }).exports,
    ).flatMap(({ default: path }) => (path === undefined ? [] : [path.replace("./dist/", "../../src/").replace(/\.js$/, ".ts")]));
    const meanings = new Map<string, unknown>();
    for (const path of entries) {
      for (const [name, value] of Object.entries((await import(/* @vite-ignore */ path)) as Record<string, unknown>)) {
        if (typeof value !== "function" || !(value.prototype instanceof Error)) continue;
        expect(value === SpillwayError || value.prototype instanceof SpillwayError, name).toBe(true);
        expect(meanings.get(name) ?? value, `${name} means two classes`).toBe(value);
        meanings.set(name, value);
      }
    }
    expect(meanings.size).toBeGreaterThan(20);
  });
});

describe("an error about an argument", () => {
  it("has the field, the value, what it takes, and a sentence of the three", () => {
    const error = new ArgumentError("leakRate", 2, "a number from 0 to 1");
    expect(error).toMatchObject({ code: "value", field: "leakRate", value: 2, expected: "a number from 0 to 1" });
    expect(error.message).toBe("leakRate is 2; it takes a number from 0 to 1");
    expect(error.name).toBe("ArgumentError");
  });

  it("names what takes the argument, if it is told", () => {
    expect(new ArgumentError("norm", "x", '"std"', { of: "nrmse" }).message).toBe('nrmse: norm is "x"; it takes "std"');
  });

  it("shows nothing that steers a terminal", () => {
    expect(new ArgumentError("a\u001b[2J", "\u001b[2J", "b").message).not.toContain("\u001b");
    expect(ArgumentError.because("\u001b[2J").message).not.toContain("\u001b");
  });

  it("can be told of a field that lies deeper, and of the location it comes from", () => {
    const error = new ArgumentError("size", 0, "at least 1");
    expect(error.under("reservoir")).toMatchObject({
      code: "value",
      field: "reservoir.size",
      message: "reservoir.size is 0; it takes at least 1",
    });
    expect(error.at("sequences[3]")).toMatchObject({ field: "size", message: "sequences[3]: size is 0; it takes at least 1" });
    expect(new ArgumentError("size", 0, "at least 1", { of: "size" }).under("reservoir").at("a file")).toMatchObject({
      of: "a file: size",
      field: "reservoir.size",
      message: "a file: size: reservoir.size is 0; it takes at least 1",
    });
  });

  it("is of the part that it carries, whatever its sentence begins with", () => {
    const owners = { "the options": { size: 1 } };
    const error = ArgumentError.unknownField("size", 1, ["seed"]);
    expect(withOwner(error, owners)).toMatchObject({ message: 'unknown field "size": it belongs to the options' });
    const ofPart = error.at("the readout of a file");
    expect(withOwner(ofPart, owners)).toBe(ofPart);
  });

  it("finds the known field that a misspelt one may have meant", () => {
    expect(ArgumentError.unknownField("sedd", 1, ["seed", "size"])).toMatchObject({
      code: "unknown-field",
      field: "sedd",
      value: 1,
      message: 'unknown field "sedd": did you mean "seed"?',
    });
  });
});

describe("the other errors of every module", () => {
  it("have codes", () => {
    expect(new DisposedError("this reservoir")).toMatchObject({
      code: "lifecycle",
      message: "this reservoir was disposed; create a new one",
    });
    expect(new LaunchError("add", "takes 3 arguments")).toMatchObject({ code: "value", message: "kernel add: takes 3 arguments" });
    expect(new SpillwayError("numeric", "it diverged").field).toBeUndefined();
  });
});
