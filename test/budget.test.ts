// The size of the code base against scripts/budget.json. A commit that needs more raises the number
// there, on purpose; one that needs less lowers it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entries, exportsOf } from "./exported-names.js";

const budget = JSON.parse(readFileSync("scripts/budget.json", "utf8")) as Readonly<Record<string, number>>;

/** The TypeScript files of a folder and those beneath it, packages from elsewhere left out. */
function textsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : textsIn(path);
    return entry.name.endsWith(".ts") ? [readFileSync(path, "utf8")] : [];
  });
}

const linesIn = (folder: string): number => textsIn(folder).reduce((lines, text) => lines + text.split("\n").length - 1, 0);

/** Casts that the compiler does not check. */
const unsafeCasts = (): number => [...textsIn("src"), ...textsIn("packages")].join("\n").match(/\bas (unknown as|never)\b/g)?.length ?? 0;

describe("the budget of the code base (scripts/budget.json)", () => {
  it.each([
    ["srcLines", () => linesIn("src")],
    ["packagesLines", () => linesIn("packages")],
    ["unsafeCasts", unsafeCasts],
    ["exportedNames", () => new Set(entries.flatMap(([, path]) => [...exportsOf(path).keys()])).size],
  ])("holds %s", (name, count) => {
    expect(count()).toBeLessThanOrEqual(budget[name]!);
  });
});
