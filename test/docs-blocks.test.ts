// The programs in the pages of docs/ say of the package what its declarations say. Many are
// fragments: what they leave out, a name or the type of a parameter, is no mistake.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { blocksOf, pages } from "./docs-pages.js";
import { wronglySaid } from "./docs-printed.js";

/** Codes of the compiler for names that are not there, also Node's, and for what has no type. */
const ofFragments = new Set(["TS2304", "TS2552", "TS2580", "TS2584", "TS2591", "TS2593", "TS18004", "TS7006", "TS7031"]);

const { exports: parts } = JSON.parse(readFileSync("package.json", "utf8")) as { exports: Record<string, { types?: string }> };
const paths = Object.fromEntries(
  Object.entries(parts).flatMap(([name, { types }]) => (types ? [[name.replace(/^\./, "spillway"), [resolve(types)]]] : [])),
);

/** The mistakes in programs, each with its file and line. */
function mistakesIn(programs: ReadonlyMap<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), "spillway-blocks-"));
  try {
    for (const [name, program] of programs) writeFileSync(join(folder, `${name}.ts`), `${program}\nexport {};\n`);
    const compilerOptions = {
      ...{ target: "es2022", lib: ["es2023", "esnext.disposable", "dom"], module: "nodenext", types: [] },
      ...{ strict: true, noEmit: true, skipLibCheck: true, paths },
    };
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const tsc = resolve("node_modules/typescript/bin/tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "--pretty", "false", "-p", "."], { cwd: folder, encoding: "utf8" });
    const found = stdout.split("\n").filter((line) => /: error TS\d+/.test(line));
    return found.filter((line) => !ofFragments.has(/TS\d+/.exec(line)![0]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Which test runs the blocks of a kind, and how they may be run. */
const homes: readonly (readonly [page: RegExp, language: string, hows: readonly string[], test: string])[] = [
  [/^README\.md$/, "ts", [""], "test/readme.test.ts"],
  [/^docs\/[\w/-]+\.md$/, "ts", ["", "continued", "gpu", "chromium"], "test/docs-run.test.ts"],
  [/^(README|CONTRIBUTING|docs\/tutorial)\.md$/, "sh", [""], "test/readme.test.ts"],
  [/^docs\/api\/README\.md$/, "sh", ["system"], ".ci/run"],
  [/^docs\/in-the-browser\.md$/, "sh", [""], "test/browser/recipes.test.ts"],
  [/^docs\/in-the-browser\.md$/, "js", ["", "continued"], "test/browser/recipes.test.ts"],
  [/^docs\/in-the-browser\.md$/, "html", [""], "test/browser/recipes.test.ts"],
  // A machine may lack a GPU, or what a network would bring.
  [/^docs\/[\w-]+\.md$/, "sh", ["", "gpu", "network"], "test/toolchain/docs-shell.test.ts"],
  [/^docs\/small-machines\.md$/, "c", [""], "test/toolchain/docs-shell.test.ts"],
  [/^docs\/extending\.md$/, "js", [""], "test/parts/own-package.ts"],
  [/./, "yaml", [""], "test/docs.test.ts"],
  [/^docs\/tutorial\.md$/, "csv", [""], "test/readme.test.ts"],
];

/** Words with which a command begins. */
const command = /^(\$ )?(spillway|npx|npm|node|curl|python3?|pip|gcc|git|docker) /m;

describe.each(pages.map((page) => [page, blocksOf(page)] as const))("the blocks of %s", (page, blocks) => {
  it("are each run by a test, are what the block before prints, or are no program", () => {
    for (const [i, { language, how, line, text }] of blocks.entries()) {
      const block = `${page}:${line}: \`\`\`${language} ${how}`.trim();
      if (language === "") expect(text, `${block} has commands: say sh`).not.toMatch(command);
      else if (language === "text" || language === "json")
        expect(blocks[i - 1]?.language, `${block} says what the sh before it prints`).toBe("sh");
      else {
        const home = homes.find(([pages, kind]) => kind === language && pages.test(page));
        expect(home, `${block} is run by no test`).toBeDefined();
        expect(home![2], `${block} is run in a way that its test does not know`).toContain(how);
        expect(readFileSync(home![3], "utf8"), home![3]).toMatch(/docs/);
      }
    }
  });
});

describe("what a block says is printed", () => {
  const text = "rows: 3, error 0.26\n...\ndone in 1.2 s\n";
  const says = (printed: string) => wronglySaid({ language: "text", text }, printed);

  it("is found among other lines, with numbers to the decimals that are said, and any time", () => {
    expect(says("a\nrows: 3,  error 0.2581\nb\ndone in 7 s\n")).toBe("");
    expect(wronglySaid({ language: "json", text: '{ "a": [1.50,\n "b"] }' }, '{"a":[1.4961,"b"]}')).toBe("");
  });

  it.each([
    ["another number", "rows: 3, error 0.266\ndone in 1 s"],
    ["another whole number", "rows: 3.1, error 0.26\ndone in 1 s"],
    ["another word", "rows: 3, mistake 0.26\ndone in 1 s"],
    ["another order", "done in 1 s\nrows: 3, error 0.26"],
  ])("is not: %s", (_, printed) => expect(says(printed)).toMatch(/is not printed/));
});

describe("the programs in docs/", () => {
  it("take and give what the package declares", () => {
    const programs = pages
      .filter((page) => page.startsWith("docs"))
      .flatMap((page) =>
        blocksOf(page)
          .filter(({ language }) => language === "ts")
          .map(({ line, text }) => [`${basename(page, ".md")}-${line}`, text] as const),
      );
    expect(programs.length).toBeGreaterThan(40);
    expect(mistakesIn(new Map(programs))).toEqual([]);
  });

  it("would be found with a name or an option that the package does not have", () => {
    const found = mistakesIn(
      new Map([
        ["name", 'import { reservoir } from "spillway";'],
        ["option", 'import { ReservoirComputer } from "spillway";\nawait ReservoirComputer.create({ sise: 5 });'],
      ]),
    );
    expect(found).toEqual([
      expect.stringMatching(/^name\.ts\(1,10\): .*no exported member/),
      expect.stringMatching(/^option\.ts\(2,\d+\): /),
    ]);
  });
});
