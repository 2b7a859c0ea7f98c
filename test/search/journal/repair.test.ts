// Journals that were damaged: what is whole stays, what is not is told, and the file is kept.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { journalFile, randomSampler, repairJournal, Study } from "../../../packages/search/src/index.js";

const folder = mkdtempSync(join(tmpdir(), "spillway-repair-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const space = { x: { float: [0, 1] } } as const;
const open = (path: string) => Study.open({ storage: journalFile(path), space, sampler: randomSampler() });

async function journal(name: string, trials: number): Promise<{ readonly path: string; readonly lines: string[] }> {
  const path = join(folder, `${name}.log`);
  const study = await open(path);
  for (let k = 0; k < trials; k++) await study.tell([[(await study.ask())[0]!, k]]);
  return { path, lines: readFileSync(path, "utf8").trimEnd().split("\n") };
}

describe("a repair", () => {
  it("leaves a whole journal as it is", async () => {
    const { path, lines } = await journal("whole", 3);
    expect(await repairJournal(path)).toEqual({ kept: lines.length, mended: [], lost: [], broken: undefined });
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toEqual(lines);
  });

  it("keeps the whole record at the end of a line whose begin was torn", async () => {
    const { path, lines } = await journal("torn", 4);
    const torn = lines[5]!.slice(0, 40);
    const damaged = `${[...lines.slice(0, 5), torn + lines[5]!, ...lines.slice(6)].join("\n")}\n`;
    writeFileSync(path, damaged);
    await expect(open(path)).rejects.toThrow(/line 6 is no record of a journal: .*; spillway runs .* --repair takes such lines out$/s);
    expect(await repairJournal(path)).toEqual({ kept: lines.length, mended: [6], lost: [], broken: `${path}.broken` });
    expect(readFileSync(path, "utf8").trimEnd().split("\n")).toEqual(lines);
    expect(readFileSync(`${path}.broken`, "utf8")).toBe(damaged);
    expect((await open(path)).trials.map(({ value }) => value)).toEqual([0, 1, 2, 3]);
  });

  it("puts a failed trial in the place of one whose line was damaged, since what follows counts it", async () => {
    for (const end of [30, 200]) {
      const { path, lines } = await journal(`damaged-${end}`, 4);
      const lineNumbers = lines.flatMap((line, lineNumber) => (line.startsWith('{"op_code":4') ? [lineNumber] : []));
      lines[lineNumbers[1]!] = lines[lineNumbers[1]!]!.slice(0, end);
      writeFileSync(path, `${lines.join("\n")}\n`);
      const { kept, lost } = await repairJournal(path);
      expect([kept, lost.map(({ line }) => line)]).toEqual([lines.length - 1, [lineNumbers[1]! + 1]]);
      expect(lost[0]!.reason).toMatch(/^it is no JSON: .*; a failed trial replaces it$/s);
      const { trials } = await open(path);
      const whole = await journal(`whole-${end}`, 4);
      expect(trials.map(({ state, value }) => [state, value])).toEqual([["complete", 0], ["failed", undefined], ["complete", 2], ["complete", 3]]); // biome-ignore format: one line
      expect(trials[2]!.params).toEqual((await open(whole.path)).trials[2]!.params);
    }
  });

  it("takes out what is no record, and tells it: foreign text, a byte order mark, an unknown operation, no end", async () => {
    const { path, lines } = await journal("foreign", 2);
    const unknown = '{"op_code": 11, "worker_id": "w"}';
    writeFileSync(path, `\ufeff${lines[0]}\n${lines.slice(1).join("\n")}\nhello\n${unknown}\n{"op_code": 4, "wor`);
    const { kept, mended, lost } = await repairJournal(path);
    expect([kept, mended]).toEqual([lines.length, [1]]);
    expect(lost.map(({ line }) => line)).toEqual([lines.length + 1, lines.length + 2, lines.length + 3]);
    expect(lost[1]!.reason).toContain("its op_code is 11");
    expect(lost[2]!.reason).toBe("it has no end: 19 bytes");
    expect((await open(path)).finished).toBe(2);
  });

  it("reads lines that end in CR LF, long ones, and says what is no journal", async () => {
    const { path, lines } = await journal("crlf", 2);
    writeFileSync(path, `${lines.join("\r\n")}\r\n`);
    expect((await open(path)).finished).toBe(2);
    const study = await open(path);
    await study.setAttribute("long", "x".repeat(2 ** 20));
    expect((await open(path)).attributes["long"]).toHaveLength(2 ** 20);
    await expect(repairJournal(join(folder, "none.log"))).rejects.toThrow("none.log");
  });
});
