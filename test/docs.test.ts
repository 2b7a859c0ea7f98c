// The documentation leads somewhere: no dead link, no script, experiment field or tensor that is
// not there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeSafetensors } from "../packages/io/src/index.js";
import { optionsPage } from "../scripts/option-tables.js";
import { parseExperimentText } from "../src/experiment/description/file.js";
import { readNetworkExperiment } from "../src/experiment/description/network-file.js";
import { readYaml } from "../src/experiment/description/yaml.js";
import { readSearch, type SearchInput } from "../src/experiment/search/search-plan.js";
import { type AnyReservoirOptions, Classifier, Forecaster, mackeyGlass, nrmse, recursiveLeastSquares, ridge } from "../src/index.js";

function pages(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "site" ? [] : pages(path);
    return entry.name.endsWith(".md") ? [path] : [];
  });
}

const documents = [
  "README.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  ...pages("docs"),
  ...pages("bench"),
  ...(existsSync("kernels") ? pages("kernels") : []),
];
/** Anchors as code hosts make them of headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

describe.each(documents)("%s", (path) => {
  const text = readFileSync(path, "utf8");

  it("has no dead link", () => {
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?|mailto):/.test(target!)) continue;
      const [file, anchor] = target!.split("#");
      const full = file === "" ? path : join(dirname(path), file!);
      expect(existsSync(full), `${path} links to ${target}`).toBe(true);
      if (anchor) expect(anchorsOf(readFileSync(full, "utf8")), `${path} links to ${target}`).toContain(anchor);
    }
  });

  it("names scripts that there are", () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    // "`npm run bench:gpu:bits`, `:batch`" names two.
    for (const [, first, others] of text.matchAll(/npm run ([\w:]+)`?((?:(?:,| and) `:\w+`(?: \([^)]*\))?)*)/g)) {
      const kin = [...others!.matchAll(/`(:\w+)`/g)].map(([, name]) => first!.replace(/:\w+$/, name!));
      for (const name of [first!, ...kin]) expect(Object.keys(scripts), path).toContain(name);
    }
  });

  // Results stay as they were printed, with the names that files then had.
  if (!path.startsWith(join("bench", "results"))) {
    it("names files that there are", () => {
      const named = /(?<![\w/.-])(?:assembly|bench|docs|examples|kernels|lab|notebooks|packages|scripts|src|test)\/[\w./-]*\w/g;
      for (const [file] of text.matchAll(named)) {
        const isGenerated = file.startsWith("docs/api/site/");
        expect(isGenerated || existsSync(file) || existsSync(join(dirname(path), file)), `${path} names ${file}`).toBe(true);
      }
    });
  }

  it("shows experiments that are taken as they stand", async () => {
    for (const [, yaml] of text.matchAll(/```yaml\n([\s\S]*?)```/g)) {
      const isSearch = /^search:/m.test(yaml!);
      if (isSearch) await expect(readSearch(readYaml(yaml!).value as SearchInput), path).resolves.toBeDefined();
      else if (/^network:/m.test(yaml!)) expect(() => readNetworkExperiment(readYaml(yaml!).value), path).not.toThrow();
      else expect(() => parseExperimentText(yaml!, path), path).not.toThrow();
    }
  });
});

it("every page of docs/ is found from its index", () => {
  const index = readFileSync("docs/README.md", "utf8");
  for (const page of pages("docs")) {
    if (page !== join("docs", "README.md")) expect(index, page).toContain(page.slice("docs/".length));
  }
});

it("docs/forecasting.md says what a bias does for a closed loop", async () => {
  const text = readFileSync("docs/forecasting.md", "utf8").replace(/\s+/g, " ");
  const [, ...figures] = /NRMSE ([\d.]+) to ([\d.]+) without, ([\d.]+) to ([\d.]+) with\)/.exec(text)!;
  const series = mackeyGlass(3084);
  const range = async (bias: number | undefined): Promise<number[]> => {
    const errors: number[] = [];
    for (let seed = 0; seed < 5; seed++) {
      await using model = await Forecaster.fit(series.slice(0, 3000), { reservoir: { size: 300, bias, seed } });
      errors.push(nrmse(series.slice(3000), await model.forecast(84)));
    }
    return [Math.min(...errors), Math.max(...errors)];
  };
  const found = [...(await range(0)), ...(await range(undefined))];
  expect(found.map((value, i) => value.toFixed(figures[i]!.split(".")[1]?.length ?? 0))).toEqual(figures);
});

describe("docs/comparison.md compares rules that are held here by what ReservoirPy 0.4.2 computes", () => {
  const x = [
    [0.5, -1],
    [1, 0.25],
    [-0.75, 2],
  ];
  const y = [1, 2, 4];

  /**
   * Its RLS, forgetting 1: the bias follows the running mean of the errors, beside the recursion of
   * the weights.
   */
  function theirs(alpha: number, withBias: boolean): { weights: number[]; bias: number } {
    let p = [
      [1 / alpha, 0],
      [0, 1 / alpha],
    ];
    const times = (matrix: number[][], v: number[]) => matrix.map((row) => row[0]! * v[0]! + row[1]! * v[1]!);
    let weights = [0, 0];
    let bias = 0;
    x.forEach((row, t) => {
      const g = times(p, row);
      const scale = 1 + row[0]! * g[0]! + row[1]! * g[1]!;
      p = p.map((line, i) => line.map((value, j) => value - (g[i]! * g[j]!) / scale));
      const error = row[0]! * weights[0]! + row[1]! * weights[1]! + bias - y[t]!;
      weights = weights.map((w, i) => w - times(p, row)[i]! * error);
      if (withBias) bias -= error / (t + 1);
    });
    return { weights, bias };
  }
  const ours = (alpha: number, intercept: boolean) => recursiveLeastSquares({ alpha, intercept }).partialFit(x, y).solve();

  it("recursive least squares without a bias is the same", () => {
    const { weights } = theirs(0.1, false);
    for (const [k, weight] of ours(0.1, false).weights.data.entries()) expect(weight).toBeCloseTo(weights[k]!, 12);
  });

  it("with a bias it is ridge regression on one more feature here, and not there", () => {
    const { weights, intercept } = ours(0.1, true);
    const solved = ridge({ lambda: 0.1, intercept: false }).fit(
      x.map((row) => [...row, 1]),
      y,
    );
    for (const [k, value] of [...weights.data, ...intercept].entries()) expect(value).toBeCloseTo(solved.weights.data[k]!, 12);
    expect(Math.abs(theirs(0.1, true).bias - intercept[0]!)).toBeGreaterThan(0.1);
  });
});

it("docs/options.md is what the descriptions of options say; npm run docs:options writes it", () => {
  expect(readFileSync("docs/options.md", "utf8")).toBe(optionsPage());
});

describe("docs/experiments.md names every tensor of", () => {
  const [, table] = readFileSync("docs/experiments.md", "utf8").match(/\| tensor \|[^\n]*\n([\s\S]*?)\n\n/)!;
  const names = table!.split("\n").flatMap((row) => [...row.split("|")[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  const isNamed = (tensor: string) => names.some((name) => (name.endsWith("*") ? tensor.startsWith(name.slice(0, -1)) : tensor === name));
  const series = mackeyGlass(60);
  const forecaster = async (reservoir: AnyReservoirOptions) => {
    await using model = await Forecaster.fit(series, { reservoir, washout: 10, standardise: true, engine: "reference" });
    return model.toBytes();
  };

  it.each([
    ["a forecaster with feedback", () => forecaster({ size: 5, storage: "dense", feedback: { scaling: 0.1 }, seed: 1 })],
    ["a sparse forecaster", () => forecaster({ size: 5, storage: "sparse", seed: 1 })],
    ["a liquid driven by a current", () => forecaster({ kind: "spiking", size: 5, input: { mode: "current" }, seed: 1 })],
    [
      "a classifier",
      async () => {
        const options = { reservoir: { kind: "spiking", size: 5, seed: 1 }, engine: "reference", standardise: false } as const;
        const spikes = [
          [[1], [0]],
          [[0], [1]],
          [[1], [1]],
          [[0], [0]],
        ];
        await using model = await Classifier.fit(spikes, [0, 1, 0, 1], options);
        return model.toBytes();
      },
    ],
  ])("%s", async (_, bytes) => {
    const tensors = Object.keys(decodeSafetensors(await bytes()).tensors).map((name) => name.replace(/^member\.\d+\./, ""));
    expect(tensors.filter((name) => !isNamed(name))).toEqual([]);
  });
});
