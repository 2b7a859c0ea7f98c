// Tab completion in the shells themselves: each loads its script, and completes what is typed.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const main = resolve("dist/cli/main.js");
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

describe("tab completion", () => {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  const scriptFor = (shell: string) => execFileSync(process.execPath, [main, "complete", shell], { encoding: "utf8" });
  const ask = (shell: string, ...args: string[]) => execFileSync(shell, args, { encoding: "utf8", env, timeout: 60_000 });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "spillway-shells-"));
    mkdirSync(join(folder, "bin"));
    const command = join(folder, "bin", "spillway");
    writeFileSync(command, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(main)} "$@"\n`);
    chmodSync(command, 0o755);
    env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` };
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const cases: readonly (readonly [typed: string, words: readonly string[]])[] = [
    ["spillway comp", ["compare", "complete"]],
    ["spillway run --engine c", ["cpu", "cuda"]],
  ];

  it.each(cases)("of fish, after %s", (typed, words) => {
    const script = join(folder, "spillway.fish");
    writeFileSync(script, scriptFor("fish"));
    const answered = ask("fish", "--no-config", "-c", `source ${quoted(script)}; complete -C ${quoted(typed)}`);
    expect(
      answered
        .trim()
        .split("\n")
        .map((line) => line.split("\t")[0]),
    ).toEqual(words);
  });

  it.each(cases)("of zsh, after %s", (typed, words) => {
    writeFileSync(join(folder, "_spillway"), scriptFor("zsh"));
    // A zsh at a terminal of its own: it says when it is ready, and lists what a tab offers.
    const setUp = `PS1='> '; setopt no_beep; fpath=(${quoted(folder)} $fpath); autoload -Uz compinit; compinit -u -D; echo LOADED $_comps[spillway]`;
    const driver = join(folder, "driver.zsh");
    writeFileSync(
      driver,
      [
        "zmodload zsh/zpty",
        "zpty shell zsh -f -i",
        `zpty -w shell ${quoted(setUp)}`,
        "zpty -r -m shell out '*LOADED _spillway*'",
        `zpty -w -n shell ${quoted(typed)}$'\\t'`,
        `zpty -r -m shell out '*(${words.join("*")}|${words.toReversed().join("*")})*'`,
        'print -r -- "$out"',
      ].join("\n"),
    );
    const listed = ask("zsh", "-f", driver);
    for (const word of words) expect(listed).toContain(word);
  });

  it("of bash, after spillway comp", () => {
    const script = join(folder, "spillway.bash");
    writeFileSync(script, scriptFor("bash"));
    const typed = `source /usr/share/bash-completion/bash_completion; source ${quoted(script)}; COMP_WORDS=(spillway comp) COMP_CWORD=1 COMP_LINE='spillway comp' COMP_POINT=13`;
    const name = "$(complete -p spillway | sed 's/.*-F \\([^ ]*\\).*/\\1/')";
    const answered = ask("bash", "-c", `${typed}; ${name} spillway comp spillway; printf '%s\\n' "\${COMPREPLY[@]}"`);
    expect(
      answered
        .trim()
        .split("\n")
        .map((line) => line.split(/\s/)[0]),
    ).toEqual(["compare", "complete"]);
  });
});
