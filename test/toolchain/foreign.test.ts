// CUDA C++ as other people write it, compiled for three architectures and run on the simulated device with all checks on: right programs give what
// the host computes, and each planted bug is named with its line.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { UnsupportedPtxError } from "../../src/ptx/interpreter/index.js";
import { Bench, simulationError } from "../ptx/device.js";
import { programs } from "./foreign/programs.js";

const folder = join(import.meta.dirname, "foreign");
const files = Object.keys(programs);
const architectures = [75, 80, 90];
const made = mkdtempSync(join(tmpdir(), "spillway-foreign-"));
const texts = new Map<string, string>();

/** The lines that may be named for a bug, and the kinds that it may be of, from the comments of a source. */
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

beforeAll(async () => {
  const jobs = files.flatMap((file) => architectures.map((architecture) => ({ file, architecture })));
  const compile = async (): Promise<void> => {
    for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
      const { file, architecture } = job;
      const ptx = join(made, `${file}.${architecture}.ptx`);
      const flags = ["-ptx", "-lineinfo", "-std=c++17", `-arch=compute_${architecture}`];
      await promisify(execFile)("nvcc", [...flags, "-o", ptx, join(folder, `${file}.cu`)]);
      texts.set(`${file}.${architecture}`, readFileSync(ptx, "utf8"));
    }
  };
  await Promise.all(cpus().map(compile));
}, 600_000);

it("has a launch for every source", () => {
  const sources = readdirSync(folder).filter((name) => name.endsWith(".cu"));
  expect(sources.map((name) => name.replace(".cu", "")).sort()).toEqual([...files].sort());
});

describe.each(architectures)("sm_%d", (architecture) => {
  describe.each(files)("%s.cu", (file) => {
    // A device of its own for each launch, on which nothing was freed before.
    const bench = (): Bench => new Bench(texts.get(`${file}.${architecture}`)!, { checks: { globalRaces: true } });
    const compiled = programs[file]!.filter(({ from = 0 }) => from <= architecture);
    const here = compiled.filter(({ refusedFrom = Infinity }) => architecture < refusedFrom);
    const refused = compiled.filter((each) => !here.includes(each));

    it.each(here)("$kernel is right", ({ kernel, shape, run }) => {
      const { args, check } = run(0);
      const { printed } = bench().run(kernel, shape, args);
      check(printed.join(""));
    });

    if (refused.length > 0)
      it.each(refused)("$kernel uses what is not modelled, and is refused when it is asked for", ({ kernel }) => {
        expect(() => bench().program.info(kernel)).toThrow(UnsupportedPtxError);
      });

    const planted = here.flatMap(({ bugs = 1, ...program }) => Array.from({ length: bugs }, (_, k) => ({ ...program, bug: k + 1 })));
    if (planted.length === 0) return;
    it.each(planted)("$kernel's bug $bug is named with its line", ({ kernel, shape, run, bug }) => {
      const error = simulationError(() => bench().run(kernel, shape, run(bug).args));
      const named = [error.site.source, error.site.inlinedAt];
      const mark = marks(file).find(
        (each) => each.kernel === kernel && (each.bug ?? bug) === bug && named.some((place) => place?.endsWith(`${file}.cu:${each.line}`)),
      );
      expect(mark?.kinds, error.message).toContain(error.kind);
    });
  });
});
