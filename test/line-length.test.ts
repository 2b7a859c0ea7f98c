// Comments and docs fit a terminal of 100 columns. Tables, code and equations may be wider.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const columns = 100;
const roots = ["src", "packages", "lab", "test", "kernels", "assembly", "examples", "docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"];
const skipped = /(^|\/)(node_modules|site|fixtures|foreign|kernels\/ptx)$/;

function files(path: string): string[] {
  if (/\.\w+$/.test(path)) return /\.(tsx?|mjs|cuh?|md)$/.test(path) ? [path] : [];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const full = join(path, entry.name);
    if (entry.isDirectory()) return skipped.test(full) ? [] : files(full);
    return files(full);
  });
}

/**
 * Lines of prose with their numbers: comments of a program, or a page without tables, code and the
 * programs in its comments (docs-pages.ts).
 */
function prose(path: string): (readonly [number, string])[] {
  const lines = readFileSync(path, "utf8").split("\n");
  let isCode = false;
  return lines.flatMap((line, i): (readonly [number, string])[] => {
    if (/^\s*(\* )?```|^<!-- given:$|^-->$/.test(line)) isCode = !isCode;
    const isProse = path.endsWith(".md") ? !isCode && !/^\s*\|/.test(line) : /^\s*(\/\/|\*|\/\*)|\s\/\/ /.test(line);
    return isProse && line.trim() !== "" ? [[i + 1, line]] : [];
  });
}

it("fewer than one in a hundred lines of comments and docs is longer than 100 columns", () => {
  const all = roots.flatMap(files).flatMap((path) => prose(path).map(([number, line]) => ({ at: `${path}:${number}`, line })));
  const long = all.filter(({ line }) => line.length > columns).map(({ at }) => at);
  expect(all.length).toBeGreaterThan(15_000);
  expect(long.length / all.length, `${long.length} of ${all.length}:\n${long.join("\n")}`).toBeLessThan(0.01);
});
