// Compiles the runtime of exported models, packages/export/runtime/*.c, into WebAssembly modules,
// and writes them with its C into src/model/c/runtime.ts.
// Usage: node scripts/build-export.mjs [--check | --sources]. It needs clang and wasm-ld; with
// --sources only the C is written again, and with --check nothing is, but what differs is said.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { zlibSync } from "fflate";
import { tsImport } from "tsx/esm/api";

const { preprocess } = await tsImport("../src/model/c/source.ts", import.meta.url);
const folder = "packages/export/runtime";
const target = "src/model/c/runtime.ts";
const files = readdirSync(folder).filter((name) => name.endsWith(".c"));
const sources = Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), "utf8")]));

const compiler = ["clang", "--target=wasm32", "-std=c99", "-ffreestanding", "-nostdlib", "-fno-builtin"];
compiler.push(
  "-msimd128",
  "-mbulk-memory",
  "-mnontrapping-fptoint",
  "-ffp-contract=off",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-Wno-unused-function",
  "-Wno-pragma-clang-attribute",
);
const linker = [
  "wasm-ld",
  "--no-entry",
  "--compress-relocations",
  "--strip-debug",
  "--export=model",
  "--export=__heap_base",
  "-z",
  "stack-size=16",
];

/** The functions of a module with their bodies' order, by the names that the linker keeps. */
function namesOf(bytes) {
  let at = 8;
  const number = () => {
    let out = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      out |= (byte & 127) << shift;
      if (byte < 128) return out >>> 0;
    }
  };
  const text = () => {
    const length = number();
    at += length;
    return bytes.subarray(at - length, at).toString();
  };
  const names = [];
  let stripped = bytes.length;
  while (at < bytes.length) {
    const from = at;
    const id = bytes[at++];
    const end = number() + at;
    if (id === 0) {
      stripped = Math.min(stripped, from);
      if (text() === "name")
        while (at < end) {
          const part = bytes[at++];
          const partEnd = number() + at;
          if (part === 1) for (let left = number(); left > 0; left--) names[number()] = text();
          at = partEnd;
        }
    }
    at = end;
  }
  return { names, bytes: bytes.subarray(0, stripped) };
}

/** What each function calls, read from the compiler's text. */
function callsOf(assembly) {
  const calls = new Map();
  let current = new Set();
  for (const line of assembly.split("\n")) {
    const label = /^([A-Za-z_]\w*):/.exec(line)?.[1];
    if (label) {
      current = new Set();
      calls.set(label, current);
    }
    const called = /^\s+call\s+([A-Za-z_]\w*)/.exec(line)?.[1];
    if (called) current.add(called);
  }
  return calls;
}

/** What forecasters have that are not plain: these have a smaller module, without it. */
const beyondPlain = [
  ...["SEVERAL", "COMPOSITE", "NOISE", "CELL", "ORTHOGONAL", "FEEDBACK", "TEACHES", "FED", "OBSERVES", "GIVEN", "MASKS", "CALENDAR"],
  ...["YEARS", "OUTSIDE", "LAGS", "FILLS", "FILLS_FED", "TRANSFORMS", "PAST", "DIFFERENCES", "SQUASH", "LOGARITHM", "BOX_COX"],
  ...["STANDARDISE", "EXP", "LOG", "SQUARES", "SQUARE_HALF", "COMBINED"],
];

/** A module of one kind of model and number. */
function compile(kind, number) {
  const isPlain = kind === "PLAIN";
  const has = (name) => {
    if (["FORECASTER", "CLASSIFIER", "DETECTOR"].includes(name)) return name === (isPlain ? "FORECASTER" : kind);
    if (["DOUBLE", "INTEGER"].includes(name)) return name === number;
    if (name === "WINDOWS" && number === "INTEGER") return false;
    if (isPlain && name.startsWith("TANH_")) return name === `TANH_${number}`;
    return !(isPlain && (beyondPlain.includes(name) || name === "ROOT"));
  };
  const cwd = mkdtempSync(join(tmpdir(), "spillway-export-"));
  try {
    for (const name of files) writeFileSync(join(cwd, name), preprocess(sources[name], has));
    const run = (command, ...args) =>
      execFileSync(command[0], [...command.slice(1), ...args], { cwd, stdio: ["ignore", "inherit", "inherit"] });
    const calls = new Map();
    const isDetector = kind === "DETECTOR";
    const parts = [["wasm", isDetector ? "-O3" : "-Oz"]];
    if (!isDetector) parts.push(["wasm-rows", process.env.ROWS ?? "-O2"]);
    if (isDetector || kind === "CLASSIFIER") parts.push(["wasm-sound", "-O2"]);
    for (const [part, level] of parts) {
      run(compiler, level, "-S", `${part}.c`, "-o", `${part}.s`);
      run(compiler, level, "-c", `${part}.c`, "-o", `${part}.o`);
      for (const [name, called] of callsOf(readFileSync(join(cwd, `${part}.s`), "utf8"))) calls.set(name, called);
    }
    run(linker, ...parts.map(([part]) => `${part}.o`), "-o", "wasm.wasm");
    const { names, bytes } = namesOf(readFileSync(join(cwd, "wasm.wasm")));
    const functions = names.map((name) => [name, ...[...(calls.get(name) ?? [])].map((called) => names.indexOf(called))].join(" "));
    return { bytes, functions };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

const before = readFileSync(target, "utf8");
const isSourcesOnly = process.argv.includes("--sources");
const kinds = ["FORECASTER", "PLAIN", "CLASSIFIER"].flatMap((kind) => ["SINGLE", "DOUBLE", "INTEGER"].map((number) => [kind, number]));
kinds.push(["DETECTOR", "DOUBLE"]);
const name = ([kind, number]) => `${kind.toLowerCase()}-${number.toLowerCase()}`;
/** A zlib stream in base64. */
const base64 = (bytes) => Buffer.from(zlibSync(bytes, { level: 9 })).toString("base64");
/** What stands in runtime.ts for the compiled modules: their bytes as one zlib stream, and a table. */
function packed() {
  const compiled = kinds.map((each) => ({ name: name(each), ...compile(...each) }));
  const stream = base64(Buffer.concat(compiled.map(({ bytes }) => bytes)));
  const table = Object.fromEntries(compiled.map(({ name, bytes, functions }) => [name, { length: bytes.length, functions }]));
  return [JSON.stringify(stream), JSON.stringify(table)];
}
const writtenBefore = (name) => new RegExp(`^export const ${name}.*? = (.*);$`, "m").exec(before)[1];
const [stream, modules] = isSourcesOnly ? [writtenBefore("packedModules"), writtenBefore("modules")] : packed();
const written = Object.fromEntries(Object.entries(sources).filter(([name]) => !name.startsWith("wasm")));
const hash = createHash("sha256").update(JSON.stringify(sources)).digest("hex");
const after = `// Written by scripts/build-export.mjs from packages/export/runtime; not to be edited.

/** The hash of the C that the modules were compiled from. */
export const compiledFrom = ${JSON.stringify(isSourcesOnly ? /compiledFrom = "(\w+)"/.exec(before)[1] : hash)};

/** What models have that the modules of plain forecasters lack. */
export const beyondPlain: readonly string[] = ${JSON.stringify(beyondPlain)};

/** The C of the runtime by its files: JSON, as a zlib stream in base64. */
export const packedSources: string = ${JSON.stringify(base64(Buffer.from(JSON.stringify(written))))};

/** The WebAssembly modules one after the other, as a zlib stream in base64. */
export const packedModules: string = ${stream};

/** Bytes of each module, and of each function its name and the numbers of those that it calls. */
export const modules: Readonly<Record<string, { readonly length: number; readonly functions: readonly string[] }>> = ${modules};
`;
if (process.argv.includes("--check")) {
  if (after !== before) throw new Error(`${target} is not what ${folder} makes: run node scripts/build-export.mjs`);
} else writeFileSync(target, after);
