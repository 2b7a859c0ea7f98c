import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearest, nearNames, suggestion } from "../../packages/core/src/near-names.js";
import { describe as inWords, quoted, visible, visibleLines } from "../../packages/core/src/text.js";

describe("foreign text in a message", () => {
  it.each([
    ["an escape sequence", "\u001b[2J", "\\u001b[2J"],
    ["the one-byte sequence introducer", "\u009b2J", "\\u009b2J"],
    ["line breaks and tabs", "a\r\n\tb", "a\\r\\n\\tb"],
    ["a reversal of the reading direction", "\u202efdp.exe", "\\u202efdp.exe"],
    ["what has no width", "a\u200b\ufeffb", "a\\u200b\\ufeffb"],
    ["a character beyond 16 bits that is not seen", "\u{e0041}", "\\udb40\\udc41"],
    ["half of a surrogate pair", "\ud800", "\\ud800"],
    ["letters of any script", "Größe 長さ 😀", "Größe 長さ 😀"],
  ])("shows %s", (_, text, expected) => {
    expect(visible(text)).toBe(expected);
    expect(quoted(text)).toBe(`"${expected}"`);
  });

  it("leaves lines and tabs of a whole output, and JSON the same JSON", () => {
    expect(visibleLines("a\n\tb\r\u001b[2J")).toBe("a\n\tb\\r\\u001b[2J");
    const value = { text: "\u009b31m \u202e \u{e0041} 👩‍🔬" };
    expect(JSON.parse(visibleLines(JSON.stringify(value, undefined, 2)))).toEqual(value);
  });

  it("is cut where it is long", () => {
    expect(visible("a".repeat(100), 10)).toBe("aaaaaaa...");
    expect(quoted("a".repeat(100))).toHaveLength(62);
  });

  it("keeps quotes and backslashes apart from its own", () => {
    expect(quoted('a"\\n')).toBe('"a\\"\\\\n"');
  });
});

describe("a value in words", () => {
  it.each([
    [undefined, "missing"],
    [null, "null"],
    [Number.NaN, "NaN"],
    [12n, "12n"],
    ["x\u001b", '"x\\u001b"'],
    [[1, 2], "an array of 2"],
    [new Float32Array(2), "a Float32Array"],
    [{ rows: 2, cols: 3 }, "a 2 x 3 matrix"],
    [{ a: [1, "b", { c: null }], d: 5n }, '{"a":[1,"b",{"c":null}],"d":5n}'],
    [{ "\u001b": "\u009b" }, '{"\\u001b":"\\u009b"}'],
    [{}, "{}"],
  ])("%s", (value, expected) => {
    expect(inWords(value)).toBe(expected);
  });

  it("is short for what holds itself, and for what would be larger than memory written out", () => {
    const ring: Record<string, unknown> = {};
    ring["ring"] = ring;
    expect(inWords(ring).length).toBeLessThanOrEqual(60);
    let bomb: unknown = "x";
    for (let level = 0; level < 60; level++) bomb = { a: bomb, b: bomb, c: bomb };
    expect(inWords(bomb).length).toBeLessThanOrEqual(60);
    expect(inWords("a".repeat(1e6)).length).toBeLessThanOrEqual(62);
    let rows: unknown = 1;
    for (let level = 0; level < 100_000; level++) rows = { rows, cols: 1 };
    expect(inWords(rows).length).toBeLessThanOrEqual(60);
    expect(inWords({ toString: 1, valueOf: [] })).toBe('{"toString":1,"valueOf":[]}');
  });
});

describe("near names", () => {
  it("are those of a few edits, the nearest first, and those that go on where the name ends", () => {
    expect(nearNames("temprature", ["time", "Temperature", "rain"])).toEqual(["Temperature"]);
    expect(nearNames("JapaneseVowels.ts", ["JapaneseVowels_TEST.ts", "GunPoint_TEST.ts"])).toEqual(["JapaneseVowels_TEST.ts"]);
    expect(nearNames("x", ["a", "b"])).toEqual([]);
    expect(nearest("washuot", ["size", "washout"])).toBe("washout");
    expect(suggestion("vector_ad", ["vector_add"])).toBe(' (did you mean "vector_add"?)');
    expect(suggestion("nothing_like_it", ["vector_add"])).toBe("");
  });

  it("find a name with one change first, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, maxLength: 12, unit: fc.constantFrom(..."abcdefgh") }), fc.nat(), (name, at) => {
        const i = at % name.length;
        expect(nearNames(name, [`${name.slice(0, i)}z${name.slice(i + 1)}`, "something else"])).toHaveLength(1);
      }),
    );
  });
});
