// The programs in the pages of docs/ say of the package what its declarations say. Many are
// fragments: what they leave out, a name or the type of a parameter, is no mistake.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

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

describe("the programs in docs/", () => {
  it("take and give what the package declares", () => {
    const programs = readdirSync("docs")
      .filter((name) => name.endsWith(".md"))
      .flatMap((name) =>
        Array.from(
          readFileSync(join("docs", name), "utf8").matchAll(/^```ts(?: \w+)?\n([\s\S]*?)^```$/gm),
          ([, program], i) => [`${name.replace(".md", "")}-${i + 1}`, program!] as const,
        ),
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
