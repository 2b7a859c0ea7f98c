// Every integrated system against SciPy's DOP853 (fixtures/reference_series.py), and the order of
// the schemes.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type SeriesTask, tasks } from "../../src/tasks/index.js";

interface Reference {
  readonly interval: number;
  readonly rows: readonly (readonly number[])[];
}

const references = JSON.parse(readFileSync(new URL("fixtures/reference-series.json", import.meta.url), "utf8")) as Record<
  string,
  Reference
>;

/** The columns that the fixture holds of systems with many. */
const columns: Record<string, readonly number[]> = { lorenz96: [0, 1, 2, 17, 35], kuramotoSivashinsky: [0, 1, 31, 64, 127] };

function seriesTask(name: string): SeriesTask {
  const task = tasks.find(name);
  if (task?.kind !== "series") throw new Error(`no series task ${name}`);
  return task;
}

/** The largest error of each reference row. */
function errors(name: string, reference: string, options: Record<string, unknown> = {}): number[] {
  const task = seriesTask(name);
  const { interval, rows } = references[reference]!;
  const dt = task.options["dt"]!.default as number;
  const every = Math.round(interval / dt);
  const series = task.generate((rows.length - 1) * every + 1, options);
  return rows.map((row, k) => Math.max(...row.map((value, i) => Math.abs(value - series.at(k * every, columns[name]?.[i] ?? i)))));
}

describe("generators against SciPy's DOP853 at a tolerance of 3e-14", () => {
  // The first bound holds one reference interval after the start, the second over all ten or
  // twenty: what was there grew by the chaos.
  it.each([
    ["lorenz", "lorenz", {}, 1e-9, 1e-8],
    ["rossler", "rossler", {}, 1e-11, 1e-6],
    ["multiscroll", "multiscroll", {}, 1e-8, 1e-5],
    ["doubleScroll", "doubleScroll", {}, 1e-10, 1e-7],
    ["rabinovichFabrikant", "rabinovichFabrikant", {}, 1e-11, 1e-9],
    ["lorenz96", "lorenz96", {}, 1e-9, 1e-3],
    ["kuramotoSivashinsky", "kuramotoSivashinsky", {}, 1e-8, 5e-3],
    ["mackeyGlass", "mackeyGlass", {}, 1e-10, 1e-8],
    ["mackeyGlass", "mackeyGlass, tau 30", { tau: 30 }, 1e-10, 1e-8],
    ["mackeyGlass", "mackeyGlass, tau 17.35", { tau: 17.35 }, 1e-10, 1e-8],
  ] as const)("%s follows the solution of %s", (name, reference, options, atFirst, overAll) => {
    const found = errors(name, reference, options);
    expect(found[0]).toBeLessThan(1e-14);
    expect(found[1]).toBeLessThan(atFirst);
    expect(Math.max(...found)).toBeLessThan(overAll);
  });

  it.each([
    ["lorenz", "lorenz", {}],
    ["rossler", "rossler", {}],
    ["multiscroll", "multiscroll", {}],
    ["doubleScroll", "doubleScroll", {}],
    ["rabinovichFabrikant", "rabinovichFabrikant", {}],
    ["lorenz96", "lorenz96", {}],
    ["mackeyGlass", "mackeyGlass", {}],
    ["mackeyGlass", "mackeyGlass, tau 30", { tau: 30 }],
  ] as const)("%s (%s) is of order 4: half the step has a sixteenth of the error", (name, reference, options) => {
    const step = seriesTask(name).options["step"]!.default as number;
    const halfWay = (values: number[]) => values[5]!;
    const ratio = halfWay(errors(name, reference, { ...options, step: 2 * step })) / halfWay(errors(name, reference, { ...options, step }));
    expect(ratio).toBeGreaterThan(12);
    expect(ratio).toBeLessThan(20);
  });

  it("kuramotoSivashinsky comes near order 4 where the step resolves the stiff modes", () => {
    const halfWay = (step: number) => errors("kuramotoSivashinsky", "kuramotoSivashinsky", { step })[5]!;
    // Measured ratios at dt = 20: 7.8, 9.7, 11.6, 13.4, 14.5 from step 1/4 down to 1/128.
    expect(halfWay(1 / 32) / halfWay(1 / 64)).toBeGreaterThan(10);
  });
});

describe("recurrences against the same recurrences in NumPy", () => {
  it.each([
    ["mackeyGlass, euler", { method: "euler" }],
    ["mackeyGlass, reservoirpy", { compat: "reservoirpy" }],
  ] as const)("%s", (reference, options) => {
    expect(Math.max(...errors("mackeyGlass", reference, options))).toBeLessThan(1e-13);
  });
});
