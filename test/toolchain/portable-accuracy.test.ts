import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

/** What scripts/portable-accuracy.mjs prints. */
interface Accuracy {
  samples: number;
  maxUlp: number;
  falling: number;
  beyondOne: number;
}

function accuracyOf(name: string): Accuracy {
  return JSON.parse(
    execFileSync(process.execPath, ["--import", "tsx", "scripts/portable-accuracy.mjs", name, "2000000"], { encoding: "utf8" }),
  ) as Accuracy;
}

describe("two million samples against the C library's long double", () => {
  it.each([
    ["exp", 0.76],
    ["log", 0.501],
    ["sin", 0.8],
    ["cos", 0.8],
    ["pow", 0.91],
    ["tanh", 1.07],
    ["tanh32", 1.066],
  ])("%s stays within %d units in the last place", (name, bound) => {
    const accuracy = accuracyOf(name);
    expect(accuracy.samples).toBeGreaterThanOrEqual(2000000);
    expect(accuracy.maxUlp).toBeLessThanOrEqual(bound);
  });

  it.each(["tanh", "tanh32"])("%s never falls between neighbours and never passes 1", (name) => {
    const accuracy = accuracyOf(name);
    expect(accuracy.falling).toBe(0);
    expect(accuracy.beyondOne).toBe(0);
  });
});
