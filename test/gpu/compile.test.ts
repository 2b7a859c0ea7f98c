// Run-time compilation without a compiler: the options, the choice of architecture, the cache, and
// the errors.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  CompileError,
  type CompileOptions,
  type CompileOutcome,
  type CompileRequest,
  type CompilerLibrary,
  defaultCacheFolder,
  Nvrtc,
  shippedManifest,
  shippedSource,
} from "../../packages/gpu/src/index.js";
import { amount } from "../exhaustive.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "spillway-compile-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A compiler that answers with its request, and counts. */
class EchoCompiler implements CompilerLibrary {
  readonly library = "echo";
  readonly version = [13, 0] as const;
  readonly build: string;
  readonly architectures = [75, 80, 90, 100];
  readonly requests: CompileRequest[] = [];

  constructor(build = "13.0.88") {
    this.build = build;
  }

  compile(request: CompileRequest): CompileOutcome {
    this.requests.push(request);
    if (request.source.includes("wrong"))
      return {
        status: "NVRTC_ERROR_COMPILATION",
        log: "k.cu(1): error: wrong",
        image: new Uint8Array(0),
        ptx: undefined,
        loweredNames: {},
      };
    const image = new TextEncoder().encode(JSON.stringify(request));
    return {
      status: "NVRTC_SUCCESS",
      log: "a warning",
      image,
      ptx: request.output === "cubin" ? "the ptx" : undefined,
      loweredNames: { "f<int>": "_Z1f" },
    };
  }

  async compileAsync(request: CompileRequest): Promise<CompileOutcome> {
    return this.compile(request);
  }
}

const echo = (cache: string | false = false, build?: string) => {
  const compiler = new EchoCompiler(build);
  return { compiler, nvrtc: new Nvrtc(compiler, cache) };
};

describe("options", () => {
  it("become the compiler's", () => {
    const { nvrtc } = echo();
    const { options } = nvrtc.compile("", {
      architecture: "sm_90",
      std: "c++20",
      fastMath: true,
      fuseMultiplyAdd: false,
      lineInfo: true,
      maxRegisters: 64,
      defines: { N: 4, NAME: "x", ON: true },
      includePaths: ["/a b"],
      options: ["--extra"],
    });
    expect(options).toEqual([
      "--gpu-architecture=sm_90",
      "--std=c++20",
      "--use_fast_math",
      "--fmad=false",
      "--generate-line-info",
      "--maxrregcount=64",
      "--define-macro=N=4",
      "--define-macro=NAME=x",
      "--define-macro=ON=1",
      "--include-path=/a b",
      "--extra",
    ]);
  });

  it.each([
    [undefined, "compute_75", "ptx"],
    ["sm_90", "sm_90", "cubin"],
    ["sm_120", "compute_100", "ptx"],
    ["sm_86", "compute_80", "ptx"],
    ["sm_90a", "sm_90a", "cubin"],
  ])("for a device of %s compile for %s, to %s", (architecture, chosen, output) => {
    const compiled = echo().nvrtc.compile("", architecture === undefined ? {} : { architecture });
    expect(compiled.options[0]).toBe(`--gpu-architecture=${chosen}`);
    expect(compiled.output).toBe(output);
  });

  it("refuse a device that the compiler is too new for, a bad macro, and machine code of no machine", () => {
    const { nvrtc } = echo();
    expect(() => nvrtc.compile("", { architecture: "sm_70" })).toThrow(
      "NVRTC 13.0 compiles for compute capability 7.5 and later; this device has 7.0",
    );
    expect(() => nvrtc.compile("", { defines: { "A B": 1 } })).toThrow('got "A B"');
    expect(() => nvrtc.compile("", { output: "cubin" })).toThrow('machine code needs an architecture such as "sm_90"; got "compute_75"');
  });
});

describe("a source that does not compile", () => {
  it("is an error with the log and the options, and is not kept", () => {
    const { nvrtc, compiler } = echo(folder);
    const compile = () => nvrtc.compile("wrong", { name: "k.cu" });
    expect(compile).toThrow(
      "k.cu did not compile (NVRTC_ERROR_COMPILATION) with options --gpu-architecture=compute_75 --std=c++17:\nk.cu(1): error: wrong",
    );
    expect(compile).toThrow(CompileError);
    expect(compiler.requests).toHaveLength(2);
  });
});

describe("the cache", () => {
  const options = { architecture: "sm_90", headers: { "b.h": "2", "a.h": "1" }, nameExpressions: ["f<int>"] };

  it("gives the same result without the compiler, also on another thread and to another compiler object", async () => {
    const { nvrtc, compiler } = echo(folder);
    const first = nvrtc.compile("source", options);
    expect(first.cache).toBe("stored");
    const again = await nvrtc.compileAsync("source", { ...options, headers: { "a.h": "1", "b.h": "2" } });
    expect(again).toEqual({ ...first, cache: "hit" });
    expect(echo(folder).nvrtc.compile("source", options).cache).toBe("hit");
    expect(compiler.requests).toHaveLength(1);
  });

  it.each([
    ["source", "other", {}],
    ["name", "source", { name: "other.cu" }],
    ["option", "source", { fastMath: true }],
    ["header", "source", { headers: { "a.h": "1", "b.h": "3" } }],
    ["name expression", "source", { nameExpressions: [] }],
    ["architecture", "source", { architecture: "sm_80" }],
    ["output", "source", { output: "ptx" as const }],
  ])("compiles anew for another %s", (_what, source, change) => {
    const { nvrtc } = echo(folder);
    nvrtc.compile("source", options);
    expect(nvrtc.compile(source, { ...options, ...change }).cache).toBe("stored");
  });

  it("compiles anew for another patch level of NVRTC", () => {
    echo(folder).nvrtc.compile("source", options);
    expect(echo(folder, "13.0.48").nvrtc.compile("source", options).cache).toBe("stored");
  });

  it("sees the files that are included from folders, and what those include", () => {
    const include = join(folder, "include");
    mkdirSync(join(include, "sub"), { recursive: true });
    writeFileSync(join(include, "outer.cuh"), '#include "sub/inner.cuh"\n');
    writeFileSync(join(include, "sub", "inner.cuh"), "1");
    const { nvrtc } = echo(join(folder, "cache"));
    const compile = () => nvrtc.compile("# include <outer.cuh>\n", { includePaths: [include] }).cache;
    expect([compile(), compile()]).toEqual(["stored", "hit"]);
    writeFileSync(join(include, "sub", "inner.cuh"), "2");
    expect([compile(), compile()]).toEqual(["stored", "hit"]);
  });

  const uncertain: [way: string, source: string, options?: CompileOptions][] = [
    ["a macro", "#define H <v.h>\n#include H\n"],
    ["a comment in the line", '#include /* values */ "v.h"\n'],
    ["a comment over two lines", '# /*\n#include "v.h"\n*/ include "w.h"\n'],
    ["other spellings of #", '%:include "v.h"\n??=include "v.h"\n'],
    ["__has_include", '#if __has_include("v.h")\n#endif\n'],
    ["__has_include, pasted", '#define P(a, b) a##b\n#if P(__has_inc, lude)("v.h")\n#endif\n'],
    ["__has_include in a macro of the options", "#if Q\n#endif\n", { defines: { Q: '__has_include("v.h")' } }],
    ["#include_next", "#include_next <v.h>\n"],
    ["a header that nobody has", "#include <nobody.h>\n"],
    ["an option that includes a file", "", { options: ["--pre-include=v.h"] }],
    ["precompiled headers", "", { options: ["--pch"] }],
    ["an option of ptxas", "", { options: ["--ptxas-options=--options-file=o"] }],
    ["the time of day", 'extern "C" __device__ const char *t() { return __TIME__; }\n'],
  ];

  it.each(uncertain)("keeps nothing if what is read is not certain: %s", (...[, source, options = {}]) => {
    const include = join(folder, "include");
    mkdirSync(include);
    for (const name of ["v.h", "w.h"]) writeFileSync(join(include, name), "");
    const { nvrtc, compiler } = echo(join(folder, "cache"));
    const compile = () => nvrtc.compile(source, { includePaths: [include], ...options }).cache;
    expect([compile(), compile()]).toEqual(["uncertain", "uncertain"]);
    expect(compiler.requests).toHaveLength(2);
  });

  it("keeps nothing if a file changes while it is compiled", async () => {
    writeFileSync(join(folder, "v.h"), "1");
    const { nvrtc } = echo(join(folder, "cache"));
    const compiled = nvrtc.compileAsync('#include "v.h"\n', { includePaths: [folder] });
    writeFileSync(join(folder, "v.h"), "2");
    expect((await compiled).cache).toBe("uncertain");
  });

  it("keeps a source that pastes tokens and asks for the compiler's own macros", () => {
    const source = "#define P(a, b) a##b\n#if __CUDA_ARCH__ >= 900 || defined(X)\n#endif\n";
    const { nvrtc } = echo(folder);
    expect([nvrtc.compile(source).cache, nvrtc.compile(source).cache]).toEqual(["stored", "hit"]);
  });

  it.each(shippedManifest().map(({ name }) => name))("keeps the package's own %s", (name) => {
    const { source, headers, options } = shippedSource(name);
    expect(echo(folder).nvrtc.compile(source, { headers, options }).cache).toBe("stored");
  });

  it("takes a damaged file for none", () => {
    const { nvrtc } = echo(folder);
    nvrtc.compile("source", options);
    const [sub] = readdirSync(folder);
    const [name] = readdirSync(join(folder, sub!));
    const path = join(folder, sub!, name!);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = bytes[bytes.length - 1]! ^ 1;
    writeFileSync(path, bytes);
    expect(nvrtc.compile("source", options).cache).toBe("stored");
    expect(nvrtc.compile("source", options).cache).toBe("hit");
    writeFileSync(path, "");
    expect(nvrtc.compile("source", options).cache).toBe("stored");
  });

  it("loses what a killed process left half written, and not what another writes", () => {
    const { nvrtc } = echo(folder);
    nvrtc.compile("source", options);
    const [sub] = readdirSync(folder);
    const [name] = readdirSync(join(folder, sub!));
    for (const file of ["old.tmp", "young.tmp"]) writeFileSync(join(folder, sub!, file), "");
    utimesSync(join(folder, sub!, "old.tmp"), 0, 0);
    writeFileSync(join(folder, sub!, name!), "");
    nvrtc.compile("source", options);
    expect(readdirSync(join(folder, sub!)).sort()).toEqual([name, "young.tmp"].sort());
  });

  it("that cannot be written is no error", () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    expect(echo(file).nvrtc.compile("source", options).cache).toBe("unwritable");
  });

  it("stands where the variable or the platform says", () => {
    expect(defaultCacheFolder({ SPILLWAY_CACHE: "/c" }, "linux", "/home/me")).toBe(join("/c", "nvrtc"));
    expect(defaultCacheFolder({}, "linux", "/home/me")).toBe("/home/me/.cache/spillway/nvrtc");
    expect(defaultCacheFolder({ XDG_CACHE_HOME: "/x" }, "linux", "/home/me")).toBe("/x/spillway/nvrtc");
    expect(defaultCacheFolder({ LOCALAPPDATA: "/l" }, "win32", "/home/me")).toBe(join("/l", "spillway", "nvrtc"));
  });

  it("is whole at every moment while two processes write the same kernel", { timeout: 60_000 }, async () => {
    const module = new URL("../../packages/gpu/src/compile-cache.ts", import.meta.url).href;
    const script = `import { CompileCache } from ${JSON.stringify(module)};
      const cache = new CompileCache(${JSON.stringify(folder)});
      const key = "ab".repeat(32);
      const image = new Uint8Array(200000).fill(Number(process.argv[1]));
      let damaged = 0;
      for (let i = 0; i < ${amount(150, 40)}; i++) {
        if (cache.write(key, { status: "NVRTC_SUCCESS", log: "", loweredNames: {}, image, ptx: "p" })) damaged++;
        const read = cache.read(key);
        if (!read || read.image.some((byte) => byte !== read.image[0])) damaged++;
      }
      process.exit(damaged);`;
    const writers = [1, 2].map((value) =>
      spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script, String(value)], { stdio: "inherit" }),
    );
    const codes = await Promise.all(writers.map((each) => new Promise((resolve) => each.once("exit", resolve))));
    expect(codes).toEqual([0, 0]);
    expect(readdirSync(join(folder, "ab"))).toEqual([`${"ab".repeat(32)}.kernel`]);
  });
});
