// Compiles kernels/*.cu into kernels/ptx/NAME.ptx, as portable as its instructions allow, and
// describes each in kernels/ptx/NAME.json.
// Usage: node scripts/build-kernels.mjs [--check | --draft] [--force] [NAME...]. It needs nvcc and ptxas of CUDA 13; kernels/README.md says more.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs, promisify } from "node:util";

const exec = promisify(execFile);
const folder = "kernels";

/**
 * PTX versions, oldest first, that a header may be lowered to. PTX ISA 9.0, table "PTX Release
 * History".
 */
const versions = [
  ...["6.0", "6.1", "6.2", "6.3", "6.4", "6.5", "7.0", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8"],
  ...["8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6", "8.7", "8.8", "9.0"],
];

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: "boolean" }, draft: { type: "boolean" }, force: { type: "boolean" } },
});

/** Lets as many of the given jobs run at once as there are processors. */
function limited(free) {
  const waiting = [];
  return async (job) => {
    if (free > 0) free--;
    else await new Promise((resolve) => waiting.push(resolve));
    try {
      return await job();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}

const slot = limited(availableParallelism());

async function run(tool, args, options = {}) {
  return slot(async () => {
    try {
      return await exec(tool, args, { maxBuffer: 2 ** 28, ...options });
    } catch (error) {
      throw new Error(`${tool} ${args.join(" ")}\n${error.stderr || error.stdout || error.message}`);
    }
  });
}

const number = (target) => Number(/\d+/.exec(target)[0]);

/** Every real architecture that this ptxas assembles for, ascending. */
async function knownTargets() {
  const { stdout } = await run("ptxas", ["--help"]);
  const allowed = /--gpu-name[\s\S]*?Allowed values for this option:([\s\S]*?)(?:\n\s*\n|Default value)/.exec(stdout)[1];
  return [...allowed.matchAll(/'(sm_\d+[af]?)'/g)].map(([, name]) => name).sort((a, b) => number(a) - number(b) || (a < b ? -1 : 1));
}

/**
 * Whether PTX for one target assembles for another: "sm_90" for itself and all after it, "sm_90a"
 * only for itself.
 */
const reaches = (target, other) => (/[af]$/.test(target) ? other === target : number(other) >= number(target));

/**
 * Those of some targets that PTX for a target assembles for; one for a single architecture is
 * described for that.
 */
const reached = (target, targets) => (/[af]$/.test(target) ? [target] : targets.filter((each) => reaches(target, each)));

/** The source and what it includes from kernels/, in the order in which they are met. */
function sources(name) {
  const found = new Map();
  const visit = (path) => {
    if (found.has(path)) return;
    const text = readFileSync(join(folder, path), "utf8");
    found.set(path, text);
    for (const [, include] of text.matchAll(/^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"/gm)) visit(include);
  };
  visit(`${name}.cu`);
  return found;
}

const sha256 = (...texts) => {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${Buffer.byteLength(text)}:`).update(text);
  return hash.digest("hex");
};

/**
 * What the comments at a source's head declare: `// target: sm_75 sm_90` (default sm_75) and
 * `// fmad: true` (default false).
 */
function declared(source) {
  const head = /^(?:[ \t]*(?:\/\/.*)?\r?\n)*/.exec(source)[0];
  const value = (key) => new RegExp(`^// ${key}:\\s*(.+)$`, "m").exec(head)?.[1].trim();
  return { targets: (value("target") ?? "sm_75").split(/[\s,]+/), fmad: value("fmad") ?? "false" };
}

/**
 * PTX without comments and without what differs from machine to machine: the hashes of paths in the
 * names of a file's own variables.
 */
function canonical(ptx) {
  return `${ptx
    .replace(/\/\/.*$/gm, "")
    .replace(/(_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}(_\d+_\w*?_cu_)[0-9a-f]{8}/g, "$100000000$200000000")
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n")}\n`;
}

const withHeader = (ptx, version, target) =>
  ptx.replace(/^\.version .*$/m, `.version ${version}`).replace(/^\.target .*$/m, `.target ${target}`);

/** The same instructions under the lowest target and version with which ptxas takes them. */
async function lowered(ptx, target, scratch) {
  const path = join(scratch, `lowered-${target}.ptx`);
  let refusal;
  for (const lower of target === "sm_75" ? ["sm_70", "sm_75"] : [target]) {
    for (const version of versions) {
      const text = withHeader(ptx, version, lower);
      writeFileSync(path, text);
      try {
        await run("ptxas", [`-arch=${target.replace("sm", "compute")}`, path, "-o", join(scratch, "parsed")]);
        return { text, version, target: lower };
      } catch (error) {
        refusal = error;
      }
    }
  }
  throw refusal;
}

/** Registers, spills and static shared memory of each entry, as ptxas prints them. */
function resources(log) {
  const found = new Map();
  const pattern =
    /Compiling entry function '([^']+)'[\s\S]*?(\d+) bytes stack frame, (\d+) bytes spill stores[\s\S]*?Used (\d+) registers([^\n]*)/g;
  for (const [, name, , spilled, registers, rest] of log.matchAll(pattern))
    found.set(name, { registers: +registers, spilled: +spilled, shared: +(/(\d+) bytes smem/.exec(rest)?.[1] ?? 0) });
  return found;
}

/** The entries of a PTX text with their parameters, "b8[24]" for a struct, and launch bounds. */
function entries(ptx) {
  return [...ptx.matchAll(/\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{]*)\{/g)].map(([, name, list, directives]) => {
    if (name.startsWith("_Z")) throw new Error(`${name}: a kernel is declared extern "C", so that it is found by its name`);
    const parameters = [...(list ?? "").matchAll(/\.param\b[^,]*?\.(?:align\s+\d+\s+\.)?([bsuf]\d+)\s+[\w$]+(\[\d+\])?/g)];
    const bound = (key) => {
      const value = new RegExp(`\\.${key}\\s+([\\d, ]+)`).exec(directives)?.[1];
      return value === undefined ? undefined : value.split(",").reduce((product, each) => product * Number(each), 1);
    };
    return {
      name,
      parameters: parameters.map(([, type, count]) => type + (count ?? "")),
      maxThreads: bound("maxntid") ?? bound("reqntid"),
      minBlocks: bound("minnctapersm"),
      clusterBlocks: bound("reqnctapercluster"),
    };
  });
}

/**
 * The architectures whose registers and spills are looked at: all, but for `--check` the first, the
 * last and the one that most is measured on. One PTX and one ptxas give the same registers again, so
 * for the others the check asks only that they assemble, which takes a fourth of the time.
 */
const isMeasured = (each, architectures) => !flags.check || each === "sm_90" || each === architectures[0] || each === architectures.at(-1);

/**
 * Compiles a file for one of its targets: the PTX, and what ptxas makes of it for every target;
 * nothing for those that are only assembled.
 */
async function compileImage(name, target, flagsOfNvcc, targets, scratch) {
  const raw = join(scratch, `${name}-${target}.ptx`);
  const arch = target.replace("sm", "compute");
  await run("nvcc", [`-arch=${arch}`, "-ptx", ...flagsOfNvcc, `${name}.cu`, "-o", raw], { cwd: folder });
  const image = await lowered(canonical(readFileSync(raw, "utf8")), target, scratch);
  const path = join(scratch, `${name}-${target}-image.ptx`);
  writeFileSync(path, image.text);
  const architectures = reached(target, targets);
  const assemble = async (each, ...more) => {
    const { stderr } = await run("ptxas", ["-v", ...more, `-arch=${each}`, path, "-o", join(scratch, `${name}-${target}-${each}.cubin`)]);
    return resources(stderr);
  };
  const [logs] = await Promise.all([
    Promise.all(
      architectures.map(async (each) => {
        if (isMeasured(each, architectures)) return assemble(each);
        await assemble(each, "-O0");
      }),
    ),
    Promise.all(
      parsedOnly
        .filter((each) => reaches(target, each))
        .map((each) => run("ptxas", [`-arch=${each.replace("sm", "compute")}`, path, "-o", join(scratch, "parsed")])),
    ),
  ]);
  const dynamic = /\.extern\s+\.shared/.test(image.text);
  return { ...image, reached: architectures, logs, entries: entries(image.text), dynamic };
}

/** One line an entry: two people's changes to a file's kernels then merge line by line. */
function manifestText(manifest) {
  const images = manifest.images.map(({ entries: list, ...rest }) => {
    const head = JSON.stringify(rest).slice(0, -1);
    return `    ${head}, "entries": [\n${list.map((entry) => `      ${JSON.stringify(entry)}`).join(",\n")}\n    ]}`;
  });
  const { images: _, ...rest } = manifest;
  return `${JSON.stringify(rest, undefined, 2).slice(0, -2)},\n  "images": [\n${images.join(",\n")}\n  ]\n}\n`;
}

const imageFile = (name, target, index) => (index === 0 ? `${name}.ptx` : `${name}.${target}.ptx`);

async function build(name, compiler, targets) {
  const texts = sources(name);
  const { targets: wanted, fmad } = declared(texts.get(`${name}.cu`));
  const nvccFlags = ["-std=c++17", "-O3", `-fmad=${fmad}`, "-prec-div=true", "-prec-sqrt=true", "-ftz=false", "-I", "include"];
  const scratch = mkdtempSync(join(tmpdir(), "spillway-kernels-"));
  try {
    const images = await Promise.all(wanted.map((target) => compileImage(name, target, nvccFlags, targets, scratch)));
    const files = new Map();
    const before = flags.check ? JSON.parse(committed(`${name}.json`) ?? "null") : undefined;
    const manifest = {
      source: `${name}.cu`,
      includes: [...texts.keys()].slice(1).map((path) => basename(path)),
      sourceSha256: sha256(...texts.values()),
      compiler,
      flags: nvccFlags,
      images: images.map((image, index) => {
        const file = imageFile(name, wanted[index], index);
        files.set(file, image.text);
        return {
          file,
          version: image.version,
          target: image.target,
          sha256: sha256(image.text),
          dynamicShared: image.dynamic,
          assembledFor: image.reached,
          entries: image.entries.map((entry) => {
            const described = before?.images[index]?.entries.find((each) => each.name === entry.name);
            const spilledBytes = image.logs.map((log, at) => log?.get(entry.name).spilled ?? described?.spilledBytes?.[at] ?? 0);
            return {
              ...entry,
              sharedBytes: image.logs[0].get(entry.name).shared,
              registers: image.logs.map((log, at) => log?.get(entry.name).registers ?? described?.registers[at]),
              spilledBytes: spilledBytes.some((bytes) => bytes > 0) ? spilledBytes : undefined,
            };
          }),
        };
      }),
    };
    files.set(`${name}.json`, manifestText(manifest));
    return files;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const committed = (file) => {
  const path = join(folder, "ptx", file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
};

/**
 * Whether what is there was made of these sources by this compiler for these targets, and nobody
 * changed it since.
 */
function upToDate(name, compiler, targets) {
  const text = committed(`${name}.json`);
  if (text === undefined) return false;
  const manifest = JSON.parse(text);
  if (manifest.compiler !== compiler || manifest.sourceSha256 !== sha256(...sources(name).values())) return false;
  return manifest.images.every(
    ({ file, sha256: hash, target, assembledFor }) =>
      sha256(committed(file) ?? "") === hash && reached(target, targets).join() === assembledFor.join(),
  );
}

const all = readdirSync(folder)
  .filter((file) => file.endsWith(".cu"))
  .map((file) => file.slice(0, -3))
  .sort();
const names = positionals.length > 0 ? positionals.map((name) => basename(name, ".cu")) : all;
for (const name of names) if (!all.includes(name)) throw new Error(`there is no ${folder}/${name}.cu; there are ${all.join(", ")}`);
const compiler = `nvcc ${/V([\d.]+)/.exec((await run("nvcc", ["--version"])).stdout)[1]}`;
const known = await knownTargets();
// "sm_90a" makes of portable PTX what "sm_90" does: ptxas only reads it for the first, and is asked
// what it makes of it for the second.
const described = flags.draft ? ["sm_90"] : known.filter((target) => !/[af]$/.test(target));
const parsedOnly = flags.check ? known.filter((target) => /[af]$/.test(target)) : [];
let failed = false;
await Promise.all(
  names.map(async (name) => {
    if (!flags.check && !flags.force && upToDate(name, compiler, described)) return;
    const started = performance.now();
    try {
      const files = await build(name, compiler, described);
      const changed = [...files].filter(([file, text]) => committed(file) !== text);
      if (flags.check) {
        for (const [file] of changed) console.error(`kernels/ptx/${file} is not what ${name}.cu compiles to`);
        failed ||= changed.length > 0;
      } else {
        for (const [file, text] of changed) writeFileSync(join(folder, "ptx", file), text);
      }
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      const told = [...files].map(([file, text]) => `${file} (${(text.length / 1024).toFixed(0)} KiB)`).join(", ");
      console.log(`${name}: ${told}, ${changed.length === 0 ? "as before" : `${changed.length} changed`}, ${seconds} s`);
    } catch (error) {
      failed = true;
      console.error(`${name}.cu: ${error.message}`);
    }
  }),
);
if (failed) process.exitCode = 1;
