// Every generated kernel assembles for every target that has it, and next to nothing is put aside where registers are meant to hold the work.
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { type Target, targets } from "../../src/ptx/builder/index.js";
import { generateKernel } from "../../src/ptx/kernels/catalogue.js";
import { catalogueCases } from "../ptx/kernels/cases.js";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "spillway-ptx-kernels-"));

/** What ptxas says of each kernel, a few assemblers at a time. What is meant for one chip alone has its family's code, and is only assembled. */
async function assemble(target: Target): Promise<{ name: string; log: string }[]> {
  const cases = catalogueCases.filter(([, first]) => targets[first].sm <= targets[target].sm);
  const results: { name: string; log: string }[] = [];
  const next = cases.entries();
  const work = async (): Promise<void> => {
    for (const [k, [type]] of next) {
      const name = `${type.kind}-${k}`;
      const file = join(folder, `${target}-${name}.ptx`);
      writeFileSync(file, generateKernel(type, { target }).ptx);
      const { stderr } = await run("ptxas", [
        `-arch=${target}`,
        ...(targets[target].accelerated ? ["-O0"] : []),
        "-v",
        file,
        "-o",
        "/dev/null",
      ]);
      results.push({ name: `${name} ${JSON.stringify(type)}`, log: stderr });
    }
  };
  await Promise.all(Array.from({ length: cpus().length }, work));
  expect(results.length).toBe(cases.length);
  return results;
}

/** Bytes that a thread may put aside: a register or two here and there; attention of 256 numbers a head has more to hold than 255 registers. */
const spillLimit = (name: string): number => (name.includes('"headDim":256') ? 256 : 128);

it.each(Object.keys(targets) as Target[])("all assemble for %s", async (target) => {
  for (const { name, log } of await assemble(target)) {
    const spilled = Number(/(\d+) bytes spill stores/.exec(log)?.[1]);
    if (!targets[target].accelerated) expect(spilled, `${name}: ${log}`).toBeLessThanOrEqual(spillLimit(name));
    expect(log).not.toMatch(/warning/);
  }
});
