import { describe, expect, it } from "vitest";
import { csvColumns, FormatError, parseCsv } from "../../packages/io/src/index.js";
import { failure } from "./help.js";

describe("the columns of a CSV", () => {
  it("have the names of its header, and are numeric if their first rows hold numbers or nothing", async () => {
    const text = 'date,load,"a, b",note\n2016-07-01,1.5,NA,x\n2016-07-02,2.5,,3\n';
    expect(await csvColumns(text)).toEqual([
      { name: "date", numeric: false },
      { name: "load", numeric: true },
      { name: "a, b", numeric: true },
      { name: "note", numeric: false },
    ]);
  });

  it("are called by their index without a header, as in a table", async () => {
    const text = "1;2,5\n3;4,5\n";
    expect(await csvColumns(text, { decimal: "," })).toEqual([
      { name: "0", numeric: true },
      { name: "1", numeric: true },
    ]);
    expect((await parseCsv(text, { decimal: "," })).columns).toEqual(["0", "1"]);
  });

  it("keep their order if names occur twice", async () => {
    expect(await csvColumns("x,x\na,1\n")).toEqual([
      { name: "x", numeric: false },
      { name: "x", numeric: true },
    ]);
  });

  it("are judged by the first rows alone, however long the text is", async () => {
    const text = `x\n${"1\n".repeat(49)}oops\n`;
    expect(await csvColumns(text)).toEqual([{ name: "x", numeric: true }]);
  });

  it("are asked for if the first row is words and numbers, and refused if there is no row", async () => {
    expect((await failure(() => csvColumns("a,1\nb,2"), FormatError)).reason).toContain("say header: true if it names the columns");
    expect((await failure(() => csvColumns("\n\n"), FormatError)).reason).toBe("there is no row in it; it takes rows of numbers");
  });
});
