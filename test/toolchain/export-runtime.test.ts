// The WebAssembly modules of the export runtime are what clang makes of its C, byte for byte.
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

it("compiles to the modules that are committed", () => {
  const check = () => execFileSync(process.execPath, ["scripts/build-export.mjs", "--check"], { encoding: "utf8" });
  expect(check).not.toThrow();
});
