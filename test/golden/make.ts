// Writes golden.json anew: npx tsx test/golden/make.ts. Needs gcc. From this package come the words
// of a seed and the measured radius, from reference.c every hash. The hashes change only with
// docs/numerics.md, for a reason that the CHANGELOG gives.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { seedKeys } from "../../packages/numerics/src/index.js";
import { resolveConfig } from "../../src/reservoir/config-schema.js";
import { buildModel } from "../../src/reservoir/weights.js";
import { goldenRuns } from "./cases.js";
import { compileReference, referenceHashes } from "./compile.js";
import { bitsOf, type GoldenCase, type GoldenGiven, type GoldenRun, goldenPath } from "./golden.js";

function given(run: GoldenRun): GoldenGiven {
  const model = buildModel(resolveConfig(run.config));
  const { weights, noise } = seedKeys(model.config.seed);
  return {
    seedWords: [...weights, ...noise].map((word) => word.toString(16).padStart(8, "0")),
    measuredRadius: bitsOf(model.measuredRadius),
  };
}

using reference = compileReference("gcc", "-O2");
const runs = goldenRuns.map((run) => ({ ...run, ...given(run) }));
const hashes = referenceHashes(reference, runs);
const cases: GoldenCase[] = runs.map((run) => ({ ...run, hashes: hashes.get(run.name)! }));
writeFileSync(goldenPath, JSON.stringify({ madeBy: "test/golden/make.ts, from reference.c", cases }));
execFileSync("npx", ["biome", "format", "--write", fileURLToPath(goldenPath)], { stdio: "inherit" });
