// The documentation leads somewhere: no dead link, no command or option that is not there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

function pages(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "site" ? [] : pages(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

const documents = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  ...pages("docs"),
  ...pages("bench"),
  ...(existsSync("kernels") ? pages("kernels") : []),
];
/** Anchors as code hosts make them of headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

describe.each(documents)("%s", (path) => {
  const text = readFileSync(path, "utf8");

  it("has no dead link", () => {
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?|mailto):/.test(target!)) continue;
      const [file, anchor] = target!.split("#");
      const full = file === "" ? path : join(dirname(path), file!);
      expect(existsSync(full), `${path} links to ${target}`).toBe(true);
      if (anchor) expect(anchorsOf(readFileSync(full, "utf8")), `${path} links to ${target}`).toContain(anchor);
    }
  });

  it("names scripts that there are", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    for (const [, name] of text.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts), path).toContain(name);
  });
});

it("every page of docs/ is found from its index", () => {
  const index = readFileSync("docs/README.md", "utf8");
  for (const page of pages("docs")) {
    if (page !== join("docs", "README.md")) expect(index, page).toContain(page.slice("docs/".length));
  }
});
