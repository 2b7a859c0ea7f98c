// The list of tasks: what the command line and experiment files rely on, and that no series depends
// on the JavaScript engine.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ArgumentError } from "../../packages/core/src/errors.js";
import type { Matrix } from "../../packages/numerics/src/index.js";
import * as exported from "../../src/tasks/index.js";
import { generateTask, tasks } from "../../src/tasks/index.js";
import { casesOf } from "../exhaustive.js";

const golden = JSON.parse(readFileSync(new URL("series.golden.json", import.meta.url), "utf8")) as Record<string, string>;

function matricesOf(name: string, length: number, options = {}): Matrix<Float64Array>[] {
  const task = tasks.get(name);
  const made = generateTask(task, length, options);
  return "inputs" in made ? [made.inputs, made.targets] : [made];
}

function hash(matrices: readonly Matrix<Float64Array>[]): string {
  const sum = createHash("sha256");
  for (const { data } of matrices) {
    const bytes = new DataView(new ArrayBuffer(8 * data.length));
    data.forEach((value, i) => {
      bytes.setFloat64(8 * i, value, true);
    });
    sum.update(bytes);
  }
  return sum.digest("hex");
}

describe("tasks", () => {
  it("holds every generator under its own name, with one line about it", () => {
    expect(tasks.names()).toEqual([
      "mackeyGlass",
      "narma",
      "lorenz",
      "rossler",
      "lorenz96",
      "henon",
      "logistic",
      "kuramotoSivashinsky",
      "mso",
      "multiscroll",
      "doubleScroll",
      "rabinovichFabrikant",
      "memoryTask",
    ]);
    for (const task of tasks.all()) {
      expect(typeof (exported as Record<string, unknown>)[task.name]).toBe("function");
      expect(task.description).toMatch(/^.{10,90}$/);
    }
  });

  it.each(tasks.all())("$name runs with its listed defaults written out as JSON, and gives the same series as without", (task) => {
    const written = JSON.parse(
      JSON.stringify(Object.fromEntries(Object.entries(task.options).map(([name, option]) => [name, option.default]))),
    );
    const [series] = matricesOf(task.name, 40, written);
    expect(series!.data).toEqual(matricesOf(task.name, 40)[0]!.data);
    for (const option of Object.values(task.options)) expect(option.description.length * option.takes.length).toBeGreaterThan(0);
  });

  it.each(tasks.all())("$name is as long as asked and finite", (task) => {
    for (const length of [1, 2, 77]) {
      for (const matrix of matricesOf(task.name, length)) {
        expect(matrix.rows).toBe(length);
        expect(matrix.data).toBeInstanceOf(Float64Array);
        expect(matrix.data.every(Number.isFinite)).toBe(true);
      }
    }
  });

  it.each(tasks.all())("$name does not depend on how many rows follow", (task) => {
    // mso is scaled by the rows it returns, and depends on them.
    const options = task.name === "mso" ? { normalise: false } : {};
    const short = matricesOf(task.name, 50, options);
    matricesOf(task.name, 120, options).forEach((long, i) => {
      expect(long.data.slice(0, short[i]!.data.length)).toEqual(short[i]!.data);
    });
  });

  it.each(tasks.all())("$name refuses an option it does not know, naming those it does", (task) => {
    expect(() => generateTask(task, 10, { xyzzy: 3 })).toThrow(
      `${task.name}: unknown field "xyzzy"; known fields are ${Object.keys(task.options)[0]}`,
    );
  });

  it.each(tasks.all())("$name refuses a length that is not a whole number above 0", (task) => {
    for (const length of [0, -1, 2.5, Number.NaN]) {
      expect(() => generateTask(task, length)).toThrow(`${task.name}: length is ${length}; it takes a whole number of at least 1`);
    }
  });

  it("says which task, option and value it refused", () => {
    try {
      exported.lorenz(10, { dt: -1 });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ArgumentError);
      expect(error).toMatchObject({ code: "value", field: "dt", value: -1 });
      expect((error as Error).message).toBe("lorenz: dt is -1; it takes a number above 0");
    }
  });

  it.each([
    ["lorenz", { initialState: [1, 1] }, "lorenz: initialState is an array of 2; it takes 3 numbers"],
    ["lorenz", { sigma: Number.NaN }, "lorenz: sigma is NaN; it takes a finite number"],
    ["lorenz", { discard: 0.5 }, "lorenz: discard is 0.5; it takes a whole number of at least 0"],
    ["lorenz96", { N: 3 }, "lorenz96: N is 3; it takes a whole number of at least 4"],
    ["lorenz96", { initialState: [1, 2] }, "lorenz96: initialState holds 2 numbers; it takes N, 36"],
    ["kuramotoSivashinsky", { N: 100 }, "kuramotoSivashinsky: N is 100; it takes a power of two from 8 to 65536"],
    ["mso", { normalise: "yes" }, 'mso: normalise is "yes"; it takes true or false'],
    ["narma", { seed: true }, "narma: seed is true; it takes text or a finite number"],
  ])("%s refuses %j", (name, options, sentence) => {
    expect(() => matricesOf(name, 10, options)).toThrow(sentence);
  });

  const flows = ["lorenz", "rossler", "lorenz96", "doubleScroll", "multiscroll"];
  it.each(casesOf(flows, (name) => name === "lorenz" || name === "multiscroll"))(
    "%s starts beside its usual start with a seed, and stays on its attractor for every seed",
    (name) => {
      const start = Array.from(matricesOf(name, 1)[0]!.data);
      const values = new Set<number>();
      for (let seed = 0; seed < 20; seed++) {
        const moved = matricesOf(name, 400, { seed })[0]!;
        expect(moved.data.slice(0, start.length).every((value, i) => Math.abs(value - start[i]!) <= 0.05)).toBe(true);
        expect(Math.max(...moved.data.map(Math.abs))).toBeLessThan(200);
        values.add(moved.data[0]!);
      }
      expect(values.size).toBe(20);
      expect(matricesOf(name, 5, { seed: 1 })).toEqual(matricesOf(name, 5, { seed: 1 }));
      expect(matricesOf(name, 5, { seed: null })).toEqual(matricesOf(name, 5));
    },
  );

  it("refuses options that are no object", () => {
    expect(() => exported.lorenz(10, [0.1] as never)).toThrow("lorenz: options is an array of 1; it takes an object of options");
  });
});

describe("the same bits in every JavaScript engine", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const unsafe = [
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "pow",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "atan2",
    "hypot",
    "cbrt",
  ];
  const variants: [string, Record<string, unknown>][] = [
    ...tasks.all().map((task): [string, Record<string, unknown>] => [task.name, {}]),
    ["mackeyGlass", { squash: true, seed: 1, n: 9.65, tau: 17.3 }],
    ["mackeyGlass", { method: "euler", seed: 1 }],
  ];

  it.each(variants)("%s %j uses no function of Math whose last bits an engine may choose", (name, options) => {
    for (const method of unsafe) {
      vi.spyOn(Math, method as "exp").mockImplementation(() => {
        throw new Error(`Math.${method} was called`);
      });
    }
    expect(matricesOf(name, 20, options)[0]!.rows).toBe(20);
  });

  // SHA-256 over the little-endian binary64 values of inputs or series, then targets, of 200 rows.
  // A change here changes what every score means. fixtures/golden_series.py finds the same for the
  // eight systems that need no elementary function and no draw.
  it.each(variants)("%s %j has the bits on record", (name, options) => {
    expect(hash(matricesOf(name, 200, options))).toBe(golden[`${name} ${JSON.stringify(options)}`]);
  });
});
