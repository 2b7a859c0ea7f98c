// Every block of shell in docs/ runs as it stands, in a folder of its page with the experiments of
// the page and their data, one block after the other; and prints what the block behind it says.
// The tutorial and the other commands of README.md and CONTRIBUTING.md have a test of their own.
// Needs bash, curl and gcc. A seed in SPILLWAY_SAMPLE takes half of the pages.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { readYaml } from "../../src/experiment/description/yaml.js";
import { type Block, blocksOf, pages, tableFor } from "../docs-pages.js";
import { wronglySaid } from "../docs-printed.js";
import { sampled } from "../exhaustive.js";

/**
 * What stands before each block: the commands by their names, and a server that runs on until its
 * page ends, at a port that is free. The requests of later blocks go there.
 */
const prelude = `
set -eo pipefail
npx() { "$@"; }
tsx() { node --import tsx "$@"; }
spillway() {
  if [ "$1" != serve ]; then node dist/cli/main.js "$@"; return; fi
  node dist/cli/main.js "$@" --port 0 > served.txt 2>&1 < /dev/null &
  echo $! > server.pid
  until grep -q http: served.txt; do kill -0 $!; sleep 0.1; done
}
curl() {
  local each sent=() url
  url=$(grep -m 1 -o 'http://[0-9.:]*' served.txt)
  for each; do sent+=("\${each/http:\\/\\/127.0.0.1:8080/$url}"); done
  command curl --silent --show-error --max-time 5 "\${sent[@]}"
}
# What goes on behind a block ends with it, but for the server.
trap 'for each in $(jobs -p); do [ "$each" = "$(cat server.pid 2> /dev/null)" ] || kill $each; done' EXIT
`;

/** Why a command that needs what a machine may lack fails there. */
const lacking: Readonly<Record<string, RegExp>> = {
  gpu: /engine cuda cannot run here|no NVIDIA driver|libcuda/,
  network: /ENOTFOUND|EAI_AGAIN|iovalkey|ioredis/,
};

const tested = pages
  .filter((page) => /^docs\/(?!tutorial)/.test(page) && page !== "docs/in-the-browser.md" && page !== "docs/api/README.md")
  .map((page) => [page, blocksOf(page)] as const)
  .filter(([, blocks]) => blocks.some(isShell));

describe.each(sampled(tested, 0.5, "pages"))("%s", (_, blocks) => {
  const desk = mkdtempSync(join(tmpdir(), "spillway-desk-"));
  for (const name of ["dist", "examples", "kernels"]) symlinkSync(resolve(name), join(desk, name));
  for (const name of ["node_modules", "shared"]) mkdirSync(join(desk, name));
  for (const [name, folder] of [
    ["spillway", "."],
    ["tsx", "node_modules/tsx"],
  ] as const)
    symlinkSync(resolve(folder), join(desk, "node_modules", name), "dir");
  for (const { text } of blocks.filter(({ language }) => language === "yaml")) {
    writeFileSync(join(desk, `${(readYaml(text).value as { name: string }).name}.yaml`), text);
    const table = /^(search|network):/m.test(text) ? undefined : tableFor(text);
    if (table) writeFileSync(join(desk, table.file), table.csv);
  }
  for (const [i, { text }] of blocks.filter(({ language }) => language === "ts").entries())
    writeFileSync(join(desk, `block-${i + 1}.ts`), text);

  afterAll(() => {
    try {
      process.kill(Number(readFileSync(join(desk, "server.pid"), "utf8")));
    } catch {
      // There is none, or it has ended.
    }
    rmSync(desk, { recursive: true, force: true, maxRetries: 5 });
  });

  const run = async (script: string) =>
    promisify(execFile)("bash", ["-c", prelude + script], { cwd: desk, encoding: "utf8", timeout: 120_000, maxBuffer: 2 ** 26 }).catch(
      (error: { stdout: string; stderr: string }) => ({ ...error, failed: true }),
    );

  it.each(blocks.flatMap((block, i) => (isShell(block) ? [[`line ${block.line}`, block, blocks[i + 1]] as const] : [])))(
    "%s",
    async (_name, { given, how, text }, after) => {
      const made = await run(given);
      expect("failed" in made ? made.stderr : "").toBe("");
      for (const script of how === "" ? [text] : text.trim().split("\n")) {
        const ran = await run(script);
        if ("failed" in ran) expect(ran.stderr).toMatch(lacking[how] ?? /^$/);
        else if (after && ["text", "json"].includes(after.language)) expect(wronglySaid(after, ran.stdout)).toBe("");
      }
    },
  );
});

it("README.md shows what the demo prints", async () => {
  const blocks = blocksOf("README.md");
  const shown = blocks.findIndex(({ text }) => text.includes("npm run demo")) + 1;
  const desk = mkdtempSync(join(tmpdir(), "spillway-desk-"));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [resolve("dist/cli/main.js"), "demo"], { cwd: desk, encoding: "utf8" });
    expect(wronglySaid(blocks[shown]!, stdout)).toBe("");
  } finally {
    rmSync(desk, { recursive: true, force: true });
  }
});

function isShell({ language }: Block): boolean {
  return language === "sh";
}

/** Programs that call the functions of the blocks of C, each once. */
const callers: Readonly<Record<string, string>> = {
  tide: "on_measurement(0.9); on_measurement(1.1); return !(next[23] > 0.2 && next[23] < 1.6);",
  tiny: "on_reading(1 << 20); return 0;",
  gesture: "double rows[40]; for (int i = 0; i < 40; i++) rows[i] = i % 3; return what(rows, 20) == 0;",
};

describe("the C of docs/small-machines.md", () => {
  const blocks = blocksOf("docs/small-machines.md").filter(({ language }) => language === "c");
  const nameOf = (text: string) => /#include "(\w+)\.h"/.exec(text)![1]!;

  it.each(blocks.map(({ text }) => [nameOf(text), text] as const))("%s.c compiles without a warning, and runs", async (name, text) => {
    const desk = mkdtempSync(join(tmpdir(), "spillway-desk-"));
    try {
      const { Classifier, Forecaster, mackeyGlass } = await import("../../src/index.js");
      const { saveC } = await import("../../src/model/index.js");
      const reservoir = { size: 20, seed: 1 } as const;
      const sequences = Array.from({ length: 12 }, (_, b) => Array.from({ length: 20 }, (_row, t) => [t % (b % 2 ? 3 : 5), b % 2]));
      const model =
        name === "gesture"
          ? await Classifier.fit(
              sequences,
              sequences.map((_, b) => `class ${b % 2}`),
              { reservoir },
            )
          : await Forecaster.fit(mackeyGlass(600, { seed: 1 }), {
              reservoir: name === "tiny" ? { ...reservoir, arithmetic: "integer" } : reservoir,
            });
      await saveC(desk, model, { name });
      await model.dispose();
      const begin = name === "gesture" ? "" : `${name}_begin(&state);`;
      writeFileSync(join(desk, "main.c"), `${text}\nint main(void)\n{\n  ${begin} ${callers[name]}\n}\n`);
      const flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined,address"];
      await promisify(execFile)("gcc", [...flags, "-o", "program", "main.c", `${name}.c`], { cwd: desk });
      await promisify(execFile)(join(desk, "program"));
    } finally {
      rmSync(desk, { recursive: true, force: true });
    }
  });

  it("is of three models", () => expect(blocks.map(({ text }) => nameOf(text)).sort()).toEqual(Object.keys(callers).sort()));
});
