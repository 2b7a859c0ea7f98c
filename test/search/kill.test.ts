// Workers of a study that are killed at random moments: the command that does it for as long as it
// is told, for a few seconds.
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { exhaustive } from "../exhaustive.js";

it.runIf(exhaustive)("loses nothing and counts nothing twice if its workers are killed at random", () => {
  const { status, stdout } = spawnSync(process.execPath, ["scripts/kill-search.mjs", "--seconds", "15"], { encoding: "utf8" });
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^15 s, \d+ kills: \d+ trials complete/)]);
});
