// Every generated kernel assembles for every target that has it, and next to nothing is put aside
// where registers are meant to hold the work.
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { type MemoryType, PtxModule, type Target, targets, type Value } from "../../packages/ptx/src/builder/index.js";
import { generateKernel, type KernelType } from "../../packages/ptx/src/kernels/catalogue.js";
import { sampled } from "../exhaustive.js";
import { catalogueCases } from "../ptx/kernels/cases.js";
import { productCases, productKernel } from "../ptx/warp-group-products.js";

interface Assembled {
  readonly name: string;
  readonly log: string;
  readonly optimised: boolean;
}

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "spillway-ptx-kernels-"));

/**
 * True if a target for one chip alone has code of its own; its other kernels are those of its
 * family, and are only assembled.
 */
const ownCode = (target: Target, type: KernelType): boolean =>
  !targets[target].accelerated || (type.kind === "gemmTensorCore" && type.type !== "tf32");

/** What ptxas says of each kernel, a few assemblers at a time. */
async function assemble(target: Target): Promise<Assembled[]> {
  const cases = catalogueCases.filter(([, first]) => targets[first].sm <= targets[target].sm);
  const results: Assembled[] = [];
  const next = cases.entries();
  const work = async (): Promise<void> => {
    for (const [k, [type]] of next) {
      const name = `${type.kind}-${k}`;
      const file = join(folder, `${target}-${name}.ptx`);
      writeFileSync(file, generateKernel(type, { target }).ptx);
      const { stderr } = await run("ptxas", [`-arch=${target}`, ...(ownCode(target, type) ? [] : ["-O0"]), "-v", file, "-o", "/dev/null"]);
      results.push({ name: `${name} ${JSON.stringify(type)}`, log: stderr, optimised: ownCode(target, type) });
    }
  };
  await Promise.all(Array.from({ length: cpus().length }, work));
  expect(results.length).toBe(cases.length);
  return results;
}

/**
 * Bytes that a thread may put aside: a register or two here and there; attention of 256 numbers a
 * head has more to hold than 255 registers.
 */
const spillLimit = (name: string): number => (name.includes('"headDim":256') ? 256 : 128);

it.each(sampled(Object.keys(targets) as Target[], 0.3, "targets"))("all assemble for %s", async (target) => {
  for (const { name, log, optimised } of await assemble(target)) {
    const spilled = Number(/(\d+) bytes spill stores/.exec(log)?.[1]);
    if (optimised) expect(spilled, `${name}: ${log}`).toBeLessThanOrEqual(spillLimit(name));
    // C75..: products of warp groups that the assembler has wait for one another.
    expect(log, name).not.toMatch(/warning|C75\d\d/);
  }
});

it("arrays in local and constant memory, of every element, assemble", async () => {
  const module = new PtxModule({ target: "sm_90" });
  module.kernel("arrays", {}, (k) => {
    const index = k.and(k.threadIndex(), 1);
    const elements = [
      "b8",
      "u8",
      "s8",
      "b16",
      "u16",
      "s16",
      "b32",
      "u32",
      "s32",
      "b64",
      "u64",
      "s64",
      "f16",
      "bf16",
      "f16x2",
      "bf16x2",
      "f32",
      "f64",
    ] as const;
    for (const element of elements) {
      const loaded = k.load(k.at<"const", MemoryType>(k.constants(element, [1, 2]), index)) as Value<"u32">;
      const own = k.local<MemoryType>(element, 2);
      k.store(k.at(own, index), loaded);
      k.store(k.at(k.pointer<MemoryType>(element, element), index), k.load(own.plus(1)) as Value<"u32">);
    }
  });
  const file = join(folder, "arrays.ptx");
  writeFileSync(file, module.emit());
  const { stderr } = await run("ptxas", ["-arch=sm_90", "-v", file, "-o", "/dev/null"]);
  expect(stderr).not.toMatch(/warning/);
});

it("what only warp groups have assembles for sm_90a", async () => {
  const registers = new PtxModule({ target: "sm_90a" });
  registers.kernel("registers", { block: [256], minBlocks: 1 }, (k) => {
    const set = (how: "inc" | "dec", count: number) => () => k.setMaxRegisters(how, count);
    k.if(k.compare("eq", k.warpGroupIndex(), 0), set("dec", 40), set("inc", 160));
  });
  for (const [k, ptx] of [registers.emit(), ...productCases.map(productKernel)].entries()) {
    const file = join(folder, `warp-group-${k}.ptx`);
    writeFileSync(file, ptx);
    const { stderr } = await run("ptxas", ["-arch=sm_90a", "-v", file, "-o", "/dev/null"]);
    expect(stderr).not.toMatch(/warning|C75\d\d/);
  }
});
