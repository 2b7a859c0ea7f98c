// The README shows only what runs: its first program is an example that CI runs, and its links lead somewhere.
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const readme = readFileSync("README.md", "utf8");
const words = (text: string) =>
  text
    .replace(/\/\/.*$/gm, "")
    .replace(/\s+/g, " ")
    .trim();

describe("the README", () => {
  it("shows the first example as it is", () => {
    const [, block] = readme.match(/```ts\n([\s\S]*?)```/)!;
    const example = readFileSync("examples/01-first-reservoir.ts", "utf8").replace(/^console\.log\(`(engine|plan):.*$/gm, "");
    expect(words(block!)).toBe(words(example));
  });

  it.each([...readme.matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1]!))("has a link to %s, which exists", (target) => {
    expect(existsSync(target)).toBe(true);
  });

  it("names the files and commands that there are", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    for (const [, name] of readme.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(name);
    for (const [path] of readme.matchAll(/examples\/[\w./-]+\.(yaml|ts)/g)) expect(existsSync(path), path).toBe(true);
  });
});
