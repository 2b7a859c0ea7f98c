// The cache of run-time compilation against NVRTC itself: whatever changes on disk, a compilation
// with the cache gives what one without it gives. NVRTC is the one of a toolkit, or
// SPILLWAY_NVRTC_LIBRARY.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CompileOptions, loadNvrtc, type Nvrtc } from "../../packages/gpu/src/index.js";
import { loadNvrtcLibrary } from "../../packages/gpu/src/nvrtc-library.js";

/** .ci/run says "none" if no NVRTC can be installed. */
const isThere = process.env["SPILLWAY_NVRTC_LIBRARY"] !== "none";
let root: string;
let cached: Nvrtc;
let uncached: Nvrtc;
let project = 0;
const start = process.cwd();

beforeAll(() => {
  if (!isThere) return;
  root = mkdtempSync(join(tmpdir(), "spillway-nvrtc-"));
  cached = loadNvrtc({ cache: join(root, "cache") });
  uncached = loadNvrtc({ cache: false });
});

beforeEach(() => {
  if (isThere) newProject();
});

afterAll(() => {
  if (!isThere) return;
  process.chdir(start);
  rmSync(root, { recursive: true, force: true });
});

/** An empty folder to work in. */
function newProject(): string {
  const folder = join(root, `project${project++}`);
  mkdirSync(join(folder, "inc"), { recursive: true });
  process.chdir(folder);
  return folder;
}

const kernel = 'extern "C" __global__ void k(int *out) { out[0] = VALUE; }\n';
const define = (value: number) => `#undef VALUE\n#define VALUE ${value}\n`;

/** The number that the kernel writes, and where it came from. */
function compile(nvrtc: Nvrtc, source: string, options: CompileOptions) {
  const { ptx, cache } = nvrtc.compile(source, { architecture: "compute_90", ...options });
  return { value: Number(/st\.global\.\w+\s+\[%rd\d+\],\s*(\d+);|mov\.\w+\s+%r\d+,\s*(\d+);/.exec(ptx!)?.slice(1).find(Boolean)), cache };
}

type Way = readonly [name: string, head: string, options: (inc: string) => CompileOptions, expected: "hit" | "uncertain"];
const named = (inc: string) => ({ includePaths: [inc] });
const ways: readonly Way[] = [
  ["includePaths", '#include "v.h"\n', named, "hit"],
  ["-Idir", '#include "v.h"\n', (inc) => ({ options: [`-I${inc}`] }), "hit"],
  ["--include-path=dir", '#include "v.h"\n', (inc) => ({ options: [`--include-path=${inc}`] }), "hit"],
  ["-I dir", '#include "v.h"\n', (inc) => ({ options: ["-I", inc] }), "hit"],
  ["--include-path dir", '#include "v.h"\n', (inc) => ({ options: ["--include-path", inc] }), "hit"],
  ["-I=dir", '#include "v.h"\n', (inc) => ({ options: [`-I=${inc}`] }), "uncertain"],
  ["--pre-include=file", "", (inc) => ({ options: [`--pre-include=${join(inc, "v.h")}`] }), "uncertain"],
  ["-include=file", "", (inc) => ({ options: [`-include=${join(inc, "v.h")}`] }), "uncertain"],
  ["a relative path", '#include "inc/v.h"\n', () => ({}), "hit"],
  ["a macro", '#define H "v.h"\n#include H\n', named, "uncertain"],
  ["a macro of the options", "#include H\n", (inc) => ({ includePaths: [inc], defines: { H: '"v.h"' } }), "uncertain"],
  ["a comment in the line", '#include /* values */ "v.h"\n', named, "uncertain"],
  ["a line in two", '#include \\\n"v.h"\n', named, "hit"],
  ["beside the source", '#include "v.h"\n', (inc) => ({ name: join(inc, "kernel.cu") }), "hit"],
  ["a header that names its neighbour", '#include "w.h"\n', named, "hit"],
  [
    "a header in memory that names a file",
    '#include "m.h"\n',
    (inc) => ({ includePaths: [inc], headers: { "m.h": '#include "v.h"\n' } }),
    "hit",
  ],
  ["a digraph", '%:include "v.h"\n', named, "uncertain"],
  ["__has_include", '#if __has_include("inc/v.h")\n#include "v.h"\n#endif\n', named, "uncertain"],
];

describe.runIf(isThere)("a header that changes", () => {
  it.each(ways)("is read again: %s", (_name, head, options, expected) => {
    const inc = join(process.cwd(), "inc");
    writeFileSync(join(inc, "w.h"), '#include "v.h"\n');
    const values = [111, 111, 222, 111].map((value) => {
      writeFileSync(join(inc, "v.h"), define(value));
      return compile(cached, head + kernel, options(inc));
    });
    expect(values.map(({ value }) => value)).toEqual([111, 111, 222, 111]);
    expect(values[1]!.cache).toBe(expected);
  });

  it("is read again by its absolute path, and in the working folder", () => {
    for (const head of [`#include "${join(process.cwd(), "v.h")}"\n`, '#include "v.h"\n'])
      for (const value of [111, 222]) {
        writeFileSync("v.h", define(value));
        expect(compile(cached, head + kernel, {}).value).toBe(value);
      }
  });

  it("is not mixed up with the header of another project's working folder", () => {
    for (const value of [111, 222, 333]) {
      newProject();
      writeFileSync("v.h", define(value));
      expect(compile(cached, `#include "v.h"\n${kernel}`, {}).value).toBe(value);
    }
  });

  it("is found if it appears in a folder that is searched earlier", () => {
    mkdirSync("first");
    const options = { includePaths: ["first", "inc"] };
    writeFileSync("inc/v.h", define(111));
    expect(compile(cached, `#include "v.h"\n${kernel}`, options).value).toBe(111);
    writeFileSync("first/v.h", define(222));
    expect(compile(cached, `#include "v.h"\n${kernel}`, options).value).toBe(222);
  });
});

/** How one text includes another file. */
const directives: readonly ((name: string) => string)[] = [
  (name) => `#include "${name}"\n`,
  (name) => `#include <${name}>\n`,
  (name) => ` # include\t"${name}" // a comment\n`,
  (name) => `#include \\\n"${name}"\n`,
  (name) => `#include /* a */ "${name}"\n`,
  (name) => `#define H_${name[0]} "${name}"\n#include H_${name[0]}\n`,
  (name) => `%:include "${name}"\n`,
  (name) => `#if __has_include("${name}")\n#include "${name}"\n#endif\n`,
  (name) => `#define J(a, b) a##b\n#define K(a, b) J(a, b)\n#if K(__has_, include)("${name}")\n#undef VALUE\n#define VALUE 444\n#endif\n`,
  (name) => `#ifdef NEVER\n#include "nobody.h"\n#endif\n#include "${name}"\n`,
  (name) => `/*\n#include "${name}"\n*/ #include "${name}"\n`,
];
const folders = ["inc", "inc/sub", "beside", "."];
const asOptions: readonly ((folder: string) => CompileOptions)[] = [
  (folder) => ({ includePaths: [folder] }),
  (folder) => ({ options: [`-I${folder}`] }),
  (folder) => ({ options: ["-I", folder] }),
  (folder) => ({ options: ["--include-path", folder] }),
  (folder) => ({ name: `${folder}/kernel.cu` }),
  (folder) => ({ includePaths: [folder, "inc"], headers: { "b.h": '#include "c.h"\n' } }),
];
const pick = (items: { readonly length: number }) => fc.nat({ max: items.length - 1 });

describe.runIf(isThere)("generated ways to include", () => {
  it("give what a compilation without the cache gives, after every change on disk", () => {
    const change = fc.record({
      file: fc.constantFrom("a.h", "b.h", "c.h"),
      folder: fc.constantFrom(...folders),
      value: fc.integer({ min: 100, max: 103 }),
      remove: fc.boolean(),
    });
    let hits = 0;
    fc.assert(
      fc.property(
        fc.array(pick(directives), { minLength: 3, maxLength: 3 }),
        pick(asOptions),
        fc.constantFrom(...folders),
        fc.array(change, { minLength: 2, maxLength: 5 }),
        ([inSource, inA, inB], option, folder, changes) => {
          newProject();
          for (const each of folders) mkdirSync(each, { recursive: true });
          const source = `#define VALUE 1\n${directives[inSource!]!("a.h")}${kernel}`;
          const options = asOptions[option]!(folder);
          const write = (at: string, file: string, value: number) => {
            const next = { "a.h": directives[inA!]!("b.h"), "b.h": directives[inB!]!("c.h"), "c.h": "" }[file]!;
            writeFileSync(join(at, file), `${next}${define(value)}`);
          };
          for (const file of ["a.h", "b.h", "c.h"]) write(folder, file, 104);
          const outcome = (nvrtc: Nvrtc) => {
            try {
              const { value, cache } = compile(nvrtc, source, options);
              if (cache === "hit") hits++;
              return value;
            } catch {
              return "does not compile";
            }
          };
          for (const each of changes) {
            outcome(cached);
            if (each.remove) rmSync(join(each.folder, each.file), { force: true });
            else write(each.folder, each.file, each.value);
            expect(outcome(cached)).toBe(outcome(uncached));
          }
        },
      ),
      { numRuns: 60 },
    );
    expect(hits).toBeGreaterThan(0);
  });
});

it.runIf(isThere)("is keyed by the patch level of NVRTC, as its PTX names it", () => {
  const { ptx } = uncached.compile(kernel, { defines: { VALUE: 1 } });
  expect(loadNvrtcLibrary().build).toContain(/release [\d.]+, V\d+\.\d+\.\d+/.exec(ptx!)![0]);
});
