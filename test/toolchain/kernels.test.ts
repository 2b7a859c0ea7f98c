// The shipped PTX is what nvcc makes of its source, byte for byte; it assembles for every
// architecture that ptxas knows from its own up, whole and cut to each of its entries. A seed in
// SPILLWAY_SAMPLE takes a quarter of the files; `npm test` compares the hashes of all of them.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { loadNvrtc, openDevice, shippedManifest, shippedPtx } from "../../packages/gpu/src/index.js";
import { simulatedDriver } from "../../packages/sim/src/index.js";
import { Matrix, ReservoirComputer } from "../../src/index.js";
import { sampled } from "../exhaustive.js";

/** The matrix products, leaky integration and power iteration; encoding; detection. */
const plain = ["neuromorphic_gemv", "spike_encoding", "spike_encoders", "pattern_detection"];
const entriesOf = (ptx: string) => [...ptx.matchAll(/\.entry (\w+)/g)].map(([, entry]) => entry).sort();
const shippedEntries = (name: string) =>
  shippedManifest()
    .find((each) => each.name === name)!
    .images[0]!.entries.map((each) => each.name)
    .sort();

it.each(plain)("compiles by nvcc in the folder of the kernels: nvcc -ptx -o ptx/%s.ptx", (name) => {
  const folder = mkdtempSync(join(tmpdir(), "spillway-nvcc-"));
  try {
    cpSync("kernels", folder, { recursive: true, filter: (path) => !path.endsWith(".ptx") });
    execFileSync("nvcc", ["-ptx", "-o", `ptx/${name}.ptx`, `${name}.cu`], { cwd: folder });
    expect(entriesOf(readFileSync(join(folder, `ptx/${name}.ptx`), "utf8"))).toEqual(shippedEntries(name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** .ci/run says "none" if no NVRTC can be installed. */
describe.runIf(process.env["SPILLWAY_NVRTC_LIBRARY"] !== "none")("NVRTC", () => {
  const simulated = () => openDevice({ driver: simulatedDriver(), kernelSource: "nvrtc", nvrtc: loadNvrtc({ cache: false }) });

  it.each(plain)("compiles the shipped source of %s to the shipped entries", (name) => {
    using context = simulated();
    expect(entriesOf(context.shippedPtx(name))).toEqual(shippedEntries(name));
  });

  it.each(["dense", "sparse"] as const)("makes named kernels that give the bits of the CPU: %s", async (storage) => {
    using context = simulated();
    const options = { size: 40, storage, connectionProbability: 0.3, noiseLevel: 0.01, seed: 1 } as const;
    const series = Matrix.from(Array.from({ length: 9 }, (_, t) => [Math.sin(t)]));
    await using compiled = await ReservoirComputer.create(options, { context, plan: "named", kernelSource: "nvrtc" });
    await using host = await ReservoirComputer.create(options, { engine: "cpu" });
    expect((await compiled.run(series)).data).toEqual((await host.run(series)).data);
  });
});

describe.each(sampled(shippedManifest(), 0.25, "kernels"))("$source", ({ name, images }) => {
  it("compiles to what is committed, and assembles for every architecture", () => {
    const printed = execFileSync(process.execPath, ["scripts/build-kernels.mjs", "--check", name], { encoding: "utf8" });
    expect(printed).toContain(`${name}: ${name}.ptx`);
    expect(printed).toContain("as before");
  });

  it.each(images)("gives modules of one entry each that assemble, from $file", async ({ target, entries }) => {
    const folder = mkdtempSync(join(tmpdir(), "spillway-entries-"));
    const digits = /(\d+)(\d)/.exec(target)!;
    const computeCapability = [Number(digits[1]), Number(digits[2])] as const;
    const waiting = entries.map((entry) => entry.name);
    const assemble = async () => {
      for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
        const path = join(folder, `${entry}.ptx`);
        writeFileSync(path, shippedPtx(name, { entries: [entry], computeCapability }));
        await promisify(execFile)("ptxas", ["-O0", `-arch=${target === "sm_70" ? "sm_75" : target}`, path, "-o", `${path}.cubin`]);
      }
    };
    try {
      await Promise.all(Array.from({ length: availableParallelism() }, assemble));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
