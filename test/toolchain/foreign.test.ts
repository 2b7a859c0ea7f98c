// CUDA C++ as other people write it, compiled by nvcc for three architectures, and by clang if it
// is installed, and run on the simulated device with all checks on: right programs give what the
// host computes, and each planted bug is named with its line.
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { openDevice } from "../../packages/gpu/src/index.js";
import { SimulationError } from "../../packages/ptx/src/interpreter/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { Bench, simulationError } from "../ptx/device.js";
import { hosted } from "./foreign/hosted.js";
import { programs } from "./foreign/programs.js";

const folder = join(import.meta.dirname, "foreign");
const files = Object.keys(programs);
const architectures = [75, 80, 90];
const made = mkdtempSync(join(tmpdir(), "spillway-foreign-"));
const texts = new Map<string, string>();

/**
 * The lines that may be named for a bug, and the kinds that it may be of, from the comments of a
 * source.
 */
function marks(file: string): { line: number; bug: number | undefined; kernel: string; kinds: string[] }[] {
  return readFileSync(join(folder, `${file}.cu`), "utf8")
    .split("\n")
    .flatMap((text, k) =>
      [...text.matchAll(/\/\/ bug (?:(\d) )?([a-z]\w*): ([\w ]+?)(?= \/\/|$)/g)].map(([, bug, kernel, kinds]) => ({
        line: k + 1,
        bug: bug === undefined ? undefined : Number(bug),
        kernel: kernel!,
        kinds: kinds!.split(" "),
      })),
    );
}

/** The line that an error names has the mark of a bug that may be told so. */
function expectNamed(error: SimulationError, file: string, kernel: string, bug: number): void {
  const named = [error.site.source, error.site.inlinedAt];
  const mark = marks(file).find(
    (each) => each.kernel === kernel && (each.bug ?? bug) === bug && named.some((site) => site?.endsWith(`${file}.cu:${each.line}`)),
  );
  expect(mark?.kinds, error.message).toContain(error.kind);
}

/** Both compilers make PTX of plain.cu, which has no header. */
const compilers = {
  nvcc: (architecture: number) => ["-ptx", "-lineinfo", "-std=c++17", `-arch=compute_${architecture}`],
  clang: (architecture: number) => [
    ...["-x", "cuda", "--cuda-device-only", "-S", "-O2", "-std=c++17", "-gline-tables-only", `--cuda-gpu-arch=sm_${architecture}`],
    ...["-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-Xclang", "-target-feature", "-Xclang", "+ptx70"],
  ],
} as const;
type Compiler = keyof typeof compilers;
const hasClang = spawnSync("clang", ["--version"]).status === 0;
const plain: [Compiler, number][] = [
  ...architectures.map((each): [Compiler, number] => ["nvcc", each]),
  ...(hasClang ? [75, 80] : []).map((each): [Compiler, number] => ["clang", each]),
];

beforeAll(async () => {
  const jobs: [file: string, Compiler, number][] = [
    ...files.flatMap((file) => architectures.map((architecture): [string, Compiler, number] => [file, "nvcc", architecture])),
    ...plain.map(([compiler, architecture]): [string, Compiler, number] => ["plain", compiler, architecture]),
  ];
  const compile = async (): Promise<void> => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
      const [file, compiler, architecture] = job;
      const ptx = join(made, `${file}.${compiler}.${architecture}.ptx`);
      await promisify(execFile)(compiler, [...compilers[compiler](architecture), "-o", ptx, join(folder, `${file}.cu`)]);
      texts.set(`${file}.${compiler}.${architecture}`, readFileSync(ptx, "utf8"));
    }
  };
  await Promise.all(cpus().map(compile));
}, 600_000);

it("has a launch for every source", () => {
  const sources = readdirSync(folder).filter((name) => name.endsWith(".cu"));
  expect(sources.map((name) => name.replace(".cu", "")).sort()).toEqual([...files, "plain"].sort());
});

describe.each(architectures)("sm_%d", (architecture) => {
  describe.each(files)("%s.cu", (file) => {
    // A device of its own for each launch, on which nothing was freed before.
    const bench = (): Bench => new Bench(texts.get(`${file}.nvcc.${architecture}`)!, { checks: { globalRaces: true } });
    const here = programs[file]!.filter(({ from = 0 }) => from <= architecture);

    it.each(here)("$kernel is right", ({ kernel, shape, run }) => {
      const { args, check } = run(0);
      const { printed } = bench().run(kernel, shape, args);
      check(printed.join(""));
    });

    const planted = here.flatMap(({ bugs = 1, ...program }) => Array.from({ length: bugs }, (_, k) => ({ ...program, bug: k + 1 })));
    if (planted.length === 0) return;
    it.each(planted)("$kernel's bug $bug is named with its line", ({ kernel, shape, run, bug }) => {
      const error = simulationError(() => bench().run(kernel, shape, run(bug).args));
      expectNamed(error, file, kernel, bug);
    });
  });
});

describe.each(plain)("plain.cu by %s for sm_%d", (compiler, architecture) => {
  /** Runs a program on a device of its own. */
  const run = (kernel: string, bug: number): void => {
    const driver = simulatedDriver({ capability: `${Math.floor(architecture / 10)}.${architecture % 10}`, checks: { globalRaces: true } });
    const context = openDevice({ driver, onLeak: () => undefined });
    try {
      const module = context.load(texts.get(`plain.${compiler}.${architecture}`)!, { label: "plain" });
      const stream = context.stream();
      const check = hosted.find((each) => each.kernel === kernel)!.run({ context, module, stream }, bug);
      stream.sync();
      check();
    } finally {
      context.dispose();
    }
  };

  it.each(hosted)("$kernel is right", ({ kernel }) => run(kernel, 0));

  it.each(hosted.flatMap(({ kernel, bugs }) => Array.from({ length: bugs }, (_, k) => ({ kernel, bug: k + 1 }))))(
    "$kernel's bug $bug is named with its line",
    ({ kernel, bug }) => {
      const error = simulationError(() => {
        try {
          run(kernel, bug);
        } catch (lost) {
          throw (lost as Error).cause instanceof SimulationError ? (lost as Error).cause : lost;
        }
      });
      expectNamed(error, "plain", kernel, bug);
    },
  );
});

if (!hasClang) it.skip("clang is not installed: what it makes of plain.cu is not run", () => undefined);
