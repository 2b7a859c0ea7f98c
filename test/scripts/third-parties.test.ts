// The licences of packages inside the bundles.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notices, packageFolders } from "../../scripts/third-parties.mjs";

const text = "MIT License\n\nPermission is hereby granted, free of charge, to any person";
let modules: string;

/** Writes a package into the folder of modules, and returns its place. */
function install(name: string, files: Record<string, string>): string {
  const folder = join(modules, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version: "1.2.3" }));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  return folder;
}

beforeAll(() => {
  modules = join(mkdtempSync(join(tmpdir(), "spillway-notices-")), "node_modules");
});
afterAll(() => rmSync(join(modules, ".."), { recursive: true, force: true }));

describe("the packages of a bundle", () => {
  it("are those that its files come from, scoped and nested ones too", () => {
    const paths = [
      "src/a.ts",
      "node_modules/a/x.js",
      "../node_modules/@s/b/lib/y.mjs",
      "node_modules/a/node_modules/c/z.js",
      "node_modules/a/w.js",
    ];
    expect(packageFolders(paths.map((path) => ({ path, bytes: 1 })))).toEqual([
      "../node_modules/@s/b",
      "node_modules/a",
      "node_modules/a/node_modules/c",
    ]);
  });

  it("are not those of which nothing came in", () => {
    expect(packageFolders([{ path: "node_modules/a/x.js", bytes: 0 }])).toEqual([]);
  });
});

describe("notices", () => {
  it("hold name, version and licence of each package", () => {
    const licensed = install("licensed", { LICENSE: text });
    const scoped = install("@scope/spelt", { "licence.md": text });
    const found = notices([licensed, scoped], {});
    expect(found).toContain(`licensed 1.2.3\n--------------\n\n${text}`);
    expect(found).toContain(`@scope/spelt 1.2.3\n`);
  });

  it("take a licence from the end of the README if it stands only there", () => {
    expect(notices([install("told", { "README.md": `# told\n\nWhat it does.\n\n## License\n\n${text}` })], {})).toMatch(
      /-\n\n## License\n\nMIT/,
    );
  });

  it.each([
    ["no licence at all", {}],
    ["the licence's name alone", { "README.md": "# x\n\n## License\n\nMIT" }],
  ])("refuse a package with %s", (_, files: Record<string, string>) => {
    const folder = install("unlicensed", files);
    expect(() => notices([folder], {})).toThrow(/unlicensed is in the bundle and has no licence text/);
  });

  it.each(["dependencies", "peerDependencies"])("refuse a package that users install as one of the %s", (kind) => {
    const folder = install("licensed", { LICENSE: text });
    expect(() => notices([folder], { [kind]: { licensed: "^1.0.0" } })).toThrow(/licensed is in the bundle, and users install it as well/);
  });
});
