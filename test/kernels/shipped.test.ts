// The committed PTX, its description and its source are of one making; and what is shipped is
// found, read and cut.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { entryModule, ptxEntries, shippedManifest, shippedPtx, shippedPtxVersion, shippedSource } from "../../packages/gpu/src/index.js";
import { parsePtx } from "../../packages/ptx/src/interpreter/index.js";
import { casesOf } from "../exhaustive.js";

const manifest = shippedManifest();

/** As scripts/build-kernels.mjs does it: each text after its length in bytes. */
function sha256(...texts: string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${Buffer.byteLength(text)}:`).update(text);
  return hash.digest("hex");
}

const read = (path: string) => readFileSync(`kernels/${path}`, "utf8");

describe("the shipped kernels", () => {
  it("are all the sources there are, and no PTX is left from one that is gone", () => {
    const sources = readdirSync("kernels").filter((file) => file.endsWith(".cu"));
    expect(manifest.map(({ source }) => source)).toEqual(sources.sort());
    const files = manifest.flatMap(({ name, images }) => [`${name}.json`, ...images.map(({ file }) => file)]);
    expect(readdirSync("kernels/ptx").sort()).toEqual(files.sort());
  });

  it("have names that no two files share", () => {
    const names = manifest.flatMap(({ images }) => [...new Set(images.flatMap(({ entries }) => entries.map(({ name }) => name)))]);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  describe.each(manifest)("of $source", ({ name, source, includes, sourceSha256, images }) => {
    it("were compiled from the source and the includes as they are now (else: node scripts/build-kernels.mjs)", () => {
      expect(sourceSha256).toBe(sha256(read(source), ...includes.map((include) => read(include))));
    });

    it.each(images)("in $file are those that are described", ({ file, sha256: hash, entries, version, target }) => {
      const ptx = read(`ptx/${file}`);
      expect(sha256(ptx)).toBe(hash);
      expect(ptx.startsWith(`.version ${version}\n.target ${target}\n`)).toBe(true);
      const found = [...ptxEntries(ptx)].map(([entry, parameters]) => ({
        name: entry,
        bytes: parameters.map(({ bytes }) => bytes),
      }));
      const width = (type: string) => (Number(/\d+/.exec(type)![0]) / 8) * Number(/\[(\d+)\]/.exec(type)?.[1] ?? 1);
      expect(entries.map((entry) => ({ name: entry.name, bytes: entry.parameters.map(width) }))).toEqual(found);
    });

    it.each(images)(
      "in $file were assembled for every architecture from its own on, not drafted for one",
      ({ assembledFor, entries, target }) => {
        // Code with instructions of one architecture runs on no other.
        if (target.endsWith("a")) expect(assembledFor).toEqual([target]);
        else expect(assembledFor).toEqual(expect.arrayContaining(["sm_90", "sm_100", "sm_120"]));
        for (const { registers } of entries) expect(registers).toHaveLength(assembledFor.length);
      },
    );

    it.each(casesOf(images, (_, k) => k % 4 === 0))(
      "in $file can each be loaded alone: the cut module parses and holds one entry",
      ({ file, entries }) => {
        const ptx = read(`ptx/${file}`);
        for (const entry of entries) {
          const cut = parsePtx(entryModule(ptx, [entry.name]));
          expect([...cut.functions.values()].filter(({ kind }) => kind === "entry").map((each) => each.name)).toEqual([entry.name]);
        }
      },
    );

    it("come with their source as NVRTC takes it", () => {
      const shipped = shippedSource(name);
      expect(Object.keys(shipped.headers)).toEqual(includes);
      expect(shipped.options).toContain("--prec-div=true");
      expect(shipped.source + Object.values(shipped.headers).join("")).not.toMatch(/#include\s*<(?!cuda_fp16\.h|cuda_bf16\.h)/);
    });
  });
});

describe("shippedPtx", () => {
  it("says what there is when asked for what there is not", () => {
    expect(() => shippedPtx("nothing")).toThrow(
      `there is no shipped kernel file "nothing"; there are ${manifest.map((each) => each.name).join(", ")}`,
    );
    expect(() => shippedPtx("executor", { entries: ["nothing"] })).toThrow('no entry "nothing"; it has vector_add, ');
  });

  it("refuses a device before every form of a file", () => {
    expect(() => shippedPtx("executor", { computeCapability: [6, 1] })).toThrow(
      "the kernels of executor need a device of sm_70 or later; this one is of sm_61",
    );
    expect(shippedPtx("executor", { computeCapability: [12, 0] })).toBe(shippedPtx("executor"));
  });
});

describe("the built package", async () => {
  const { shippedPtx: packaged }: { shippedPtx: typeof shippedPtx } = await import(new URL("../../dist/api/gpu.js", import.meta.url).href);

  it.each(manifest)("has the PTX of $source, compressed", ({ name, images }) => {
    for (const { file, target } of images) {
      const computeCapability = [Math.floor(Number(/\d+/.exec(target)![0]) / 10), Number(/\d+/.exec(target)![0]) % 10] as const;
      const there = readdirSync("dist/kernels/ptx").filter((each) => each.startsWith(file));
      expect(there).toEqual([`${file}.br`]);
      expect(packaged(name, { computeCapability })).toBe(shippedPtx(name, { computeCapability }));
    }
  });
});

describe("shippedPtxVersion", () => {
  it("is the newest PTX that a device of a compute capability would load", () => {
    const [major, minor] = shippedPtxVersion([9, 0]);
    const versions = manifest.flatMap(({ images }) => images.map(({ version }) => version));
    expect(versions).toContain(`${major}.${minor}`);
    const [leastMajor, leastMinor] = shippedPtxVersion();
    expect(leastMajor * 100 + leastMinor).toBeLessThanOrEqual(major * 100 + minor);
  });
});

describe("entryModule", () => {
  const ptx = `// a comment { that opens
.version 7.0
.target sm_75
.address_size 64
.global .align 4 .b8 used_table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.const .align 4 .f32 unused;
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);
.func (.param .b32 out) helper (.param .b32 in) { ld.global.u32 %r1, [used_table]; ret; }
.visible .entry first(.param .u64 p)
.maxntid 128, 1, 1
{ { .reg .b32 %t; call (r), helper, (p); } .pragma "a ; } b"; ret; }
.visible .entry second() { mov.u32 %r1, dynamic; ret; }
.visible .entry third { ret; }
`;

  it("keeps an entry, the functions it calls and the variables that those use", () => {
    const cut = entryModule(ptx, ["first"]);
    expect(cut).toMatch(/^\.version 7\.0\n\.target sm_75\n\.address_size 64\n\.global/);
    for (const name of ["used_table", "helper", "first", ".maxntid 128"]) expect(cut).toContain(name);
    for (const name of ["unused;", "dynamic", "vprintf", "second", "third"]) expect(cut).not.toContain(name);
  });

  it("keeps several, in the module's order", () => {
    expect([...ptxEntries(entryModule(ptx, ["third", "second"])).keys()]).toEqual(["second", "third"]);
  });

  it("says where a text ends too early", () => {
    expect(() => entryModule(`${ptx}.entry fourth() {`, ["first"])).toThrow('the PTX ends within the declaration ".entry fourth() {"');
  });
});
