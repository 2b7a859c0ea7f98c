// The reference values that Python made: its scripts still make them. Needs Python with NumPy and
// SciPy; a missing one fails.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";

const python = process.env.PYTHON ?? "/usr/bin/python3";
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Runs a script in a copy of the folder above its own, and returns that copy of its folder. */
function rerun(script: string, ...args: string[]): string {
  const project = dirname(dirname(script));
  const copy = mkdtempSync(join(tmpdir(), "spillway-python-"));
  folders.push(copy);
  cpSync(project, copy, { recursive: true });
  const folder = join(copy, basename(dirname(script)));
  const { status, stderr, error } = spawnSync(python, [basename(script), ...args], { cwd: folder, encoding: "utf8" });
  if (error) throw error;
  expect(status, stderr).toBe(0);
  return folder;
}

/** Equal but for the last digits of floats, which another BLAS or FFT may round otherwise. */
function expectClose(actual: unknown, expected: unknown, path = ""): void {
  if (typeof expected === "number" && typeof actual === "number") {
    expect(Math.abs(actual - expected), `${path}: ${actual} and ${expected}`).toBeLessThanOrEqual(
      1e-8 * Math.max(1e-2, Math.abs(expected)),
    );
  } else if (expected !== null && typeof expected === "object") {
    expect(Object.keys(actual as object), path).toEqual(Object.keys(expected));
    for (const [key, value] of Object.entries(expected)) expectClose((actual as Record<string, unknown>)[key], value, `${path}.${key}`);
  } else {
    expect(actual, path).toEqual(expected);
  }
}

const json = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"));

describe("Python's reference values", () => {
  it("of spectra", () => {
    const folder = rerun("test/numerics/fixtures/spectrum.py");
    expectClose(json(join(folder, "spectrum.json")), json("test/numerics/fixtures/spectrum.json"));
  });

  it("of series by SciPy", () => {
    const folder = rerun("test/tasks/fixtures/reference_series.py");
    expectClose(json(join(folder, "reference-series.json")), json("test/tasks/fixtures/reference-series.json"));
  });

  it("of series by plain Python, to the bit", () => {
    rerun("test/tasks/fixtures/golden_series.py", "--check");
  });

  it("of elementary functions, to the bit", () => {
    const folder = rerun("test/numerics/make-portable-table.py");
    expect(json(join(folder, "fixtures/portable-table.json"))).toEqual(json("test/numerics/fixtures/portable-table.json"));
  });
});
