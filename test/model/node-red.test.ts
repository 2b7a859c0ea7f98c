// The Node-RED node of the examples, by its own test, on the built package.
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";

it("passes its own test", () => {
  const env = { ...process.env, SPILLWAY: pathToFileURL("dist/index.js").href };
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--test", "examples/node-red/"], { encoding: "utf8", env });
  expect(status, stdout + stderr).toBe(0);
  expect(stdout).toMatch(/# pass 3\n/);
});
