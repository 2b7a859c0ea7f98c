// The size of the code base against scripts/budget.json. A commit that needs more raises the number
// there, on purpose; one that needs less lowers it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entries, exportsOf } from "./exported-names.js";

const budget = JSON.parse(readFileSync("scripts/budget.json", "utf8")) as Readonly<Record<string, number>>;

/** Lines of TypeScript in a folder and those beneath it, packages from elsewhere left out. */
function linesIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { withFileTypes: true }).reduce((lines, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? lines : lines + linesIn(path);
    return entry.name.endsWith(".ts") ? lines + readFileSync(path, "utf8").split("\n").length - 1 : lines;
  }, 0);
}

describe("the budget of the code base (scripts/budget.json)", () => {
  it.each([
    ["srcLines", () => linesIn("src")],
    ["packagesLines", () => linesIn("packages")],
    ["exportedNames", () => new Set(entries.flatMap(([, path]) => [...exportsOf(path).keys()])).size],
  ])("holds %s", (name, count) => {
    expect(count()).toBeLessThanOrEqual(budget[name]!);
  });
});
