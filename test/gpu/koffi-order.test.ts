// Two parts of the package load C libraries. Whichever does so first, NVRTC gets stacks on which
// deeply nested source compiles.
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { casesOf } from "../exhaustive.js";

const blas = "try { (await import('./packages/numerics/src/index.ts')).SystemBlas.load(); } catch {}";
const gpu = "const { ForeignLibrary } = await import('./packages/gpu/src/ffi.ts'); const library = new ForeignLibrary('libm.so.6');";
// As SystemBlas would, were there a BLAS: a library that is there.
const named = { ...process.env, SPILLWAY_BLAS: "libm.so.6" };

it.each(
  casesOf(
    [
      ["SystemBlas", `${blas} ${gpu}`],
      ["the CUDA layer", `${gpu} ${blas}`],
    ] as const,
    (_, k) => k === 0,
  ),
)("gives deep stacks where %s comes first", (_, order) => {
  const script = `${order} console.log(library.deepAsyncStacks);`;
  const printed = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    encoding: "utf8",
    env: named,
  });
  expect(printed.trim()).toBe("true");
});
