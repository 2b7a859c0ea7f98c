import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { FileError, FormatError } from "../../packages/io/src/index.js";
import { exitCodeOf, sentenceOf, UsageError } from "../../src/cli/exit.js";
import { createProgress, LineProgress } from "../../src/cli/progress.js";
import { formatTable } from "../../src/cli/table.js";
import { ArgumentError, WorkInterruptedError } from "../../src/reservoir/index.js";

function collecting() {
  const lines: string[] = [];
  return { lines, stream: { isTTY: false, write: (text: string) => lines.push(text) } };
}

describe("progress where there is no terminal", () => {
  it("is plain lines, at most one a second", () => {
    const { lines, stream } = collecting();
    let now = 0;
    const progress = new LineProgress(stream, () => now);
    progress.begin("work", 200);
    now = 500;
    progress.update(50);
    now = 1000;
    progress.update(101);
    now = 1900;
    progress.begin("more", 10);
    now = 2000;
    progress.update(1);
    now = 3000;
    progress.update(2, "more, second part");
    progress.end();
    expect(lines).toEqual(["work: 0%\n", "work: 50%\n", "more: 10%\n", "more, second part: 20%\n"]);
  });

  it("says each line once, however long it stays", () => {
    const { lines, stream } = collecting();
    let now = 0;
    const progress = new LineProgress(stream, () => now);
    progress.begin("work", 1000);
    for (now = 1000; now < 9000; now += 1000) progress.update(now / 1000);
    progress.update(12);
    expect(lines).toEqual(["work: 0%\n", "work: 1%\n"]);
  });

  it("is a bar on a terminal, with what is being done", async () => {
    const written: string[] = [];
    const terminal = new Writable({
      write: (chunk, _, done) => {
        written.push(String(chunk));
        done();
      },
    });
    const progress = await createProgress(false, Object.assign(terminal, { isTTY: true }));
    progress.begin("work", 4);
    progress.update(1, "second part");
    progress.end();
    const text = written.join("");
    expect(text).toContain("work [                            ] 0%");
    expect(text).toContain("second part [=======                     ] 25%");
  });

  it("is nothing where quiet is asked for", async () => {
    const { lines, stream } = collecting();
    const progress = await createProgress(true, stream as never);
    progress.begin("work", 2);
    progress.update(1);
    progress.note("a line");
    expect(lines).toEqual([]);
  });
});

describe("tables", () => {
  it("align texts to the left and numbers to the right", () => {
    expect(
      formatTable(
        ["name", "n"],
        [
          ["a", "1"],
          ["long name", "100"],
        ],
        [1],
      ),
    ).toBe("name          n\na             1\nlong name   100");
  });
});

describe("what an error means to a shell", () => {
  it.each([
    ["what the user gave", new UsageError("x"), 2],
    ["a field", new ArgumentError("size", 0, "more"), 2],
    ["a missing file", new FileError("x", "no such file", "missing"), 2],
    ["a file's content", new FormatError("CSV", "x", "bad"), 2],
    ["a full disk", new FileError("x", "full", "full"), 1],
    ["a defect", new Error("x"), 1],
    ["a stop", new WorkInterruptedError(1, 2, undefined), 130],
  ])("%s", (_, error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });

  it("a person reads a sentence; a defect comes with its place", () => {
    expect(sentenceOf(new UsageError("say it"))).toBe("say it");
    expect(sentenceOf(new UsageError("two\nlines \u001b[2J"))).toBe("two\nlines \\u001b[2J");
    expect(sentenceOf(new RangeError("Array buffer allocation failed"))).toMatch(/^it takes more memory than there is/);
    expect(sentenceOf(new RangeError("WebAssembly.Memory(): could not allocate memory"))).toMatch(/^it takes more memory than there is/);
    const ended = Object.assign(new Error("Worker terminated due to reaching memory limit"), { code: "ERR_WORKER_OUT_OF_MEMORY" });
    expect(sentenceOf(ended)).toMatch(/^it takes more memory than there is/);
    const full = Object.assign(new Error("EMFILE: too many open files, open 'x.js'"), { code: "EMFILE" });
    expect(sentenceOf(full)).toMatch(/^too many files are open at once; close some, or raise the limit \(ulimit -n\): EMFILE/);
    expect(sentenceOf(new ArgumentError("solver", 3, "a name"))).toBe("solver is 3; it takes a name");
    expect(sentenceOf(new TypeError("Cannot read properties of undefined"))).toMatch(/\n {4}at /);
  });
});
