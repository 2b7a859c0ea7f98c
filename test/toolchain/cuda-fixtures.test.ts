// The committed PTX of the CUDA tests is what nvcc makes of its source, and assembles for every
// architecture that ptxas knows from 7.5 up.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const folder = "test/gpu/fixtures";

/** The instructions, without comments, which hold the compiler's build. */
const body = (ptx: string) =>
  ptx
    .replace(/\/\/.*$/gm, "")
    .replace(/^\.(version|target).*$/gm, "")
    .trim();

describe.each([
  ["kernels", "compute_75", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]],
  ["structs", "compute_75", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"]],
  ["cluster", "compute_90", ["sm_90", "sm_100", "sm_120"]],
])("%s.ptx", (name, architecture, targets) => {
  it("is made of its source", () => {
    const made = join(mkdtempSync(join(tmpdir(), "spillway-ptx-")), "made.ptx");
    execFileSync("nvcc", [`-arch=${architecture}`, "-ptx", join(folder, `${name}.cu`), "-o", made]);
    expect(body(readFileSync(join(folder, `${name}.ptx`), "utf8"))).toBe(body(readFileSync(made, "utf8")));
  });

  it.each(targets)("assembles for %s", (target) => {
    execFileSync("ptxas", [`-arch=${target}`, join(folder, `${name}.ptx`), "-o", "/dev/null"]);
  });
});
