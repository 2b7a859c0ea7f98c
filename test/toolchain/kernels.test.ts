// The shipped PTX is what nvcc makes of its source, byte for byte; it assembles for every
// architecture that ptxas knows from its own up, whole and cut to each of its entries. A seed in
// SPILLWAY_SAMPLE takes a quarter of the files; `npm test` compares the hashes of all of them.
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { shippedManifest, shippedPtx } from "../../packages/gpu/src/index.js";
import { sampled } from "../exhaustive.js";

it.each(["neuromorphic_gemv", "spike_encoding", "spike_encoders", "pattern_detection"])(
  "compiles by nvcc alone, in the folder of the kernels: %s.cu",
  (name) => {
    const folder = mkdtempSync(join(tmpdir(), "spillway-nvcc-"));
    const ptx = join(folder, `${name}.ptx`);
    try {
      execFileSync("nvcc", ["-ptx", "-o", ptx, `${name}.cu`], { cwd: "kernels" });
      const entries = [...readFileSync(ptx, "utf8").matchAll(/\.entry (\w+)/g)].map(([, entry]) => entry);
      const { images } = shippedManifest().find((each) => each.name === name)!;
      expect(entries.sort()).toEqual(images[0]!.entries.map((each) => each.name).sort());
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

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
