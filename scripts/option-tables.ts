// Writes docs/options.md from the descriptions of options in src. test/docs.test.ts says if it is
// stale.
import { writeFileSync } from "node:fs";
import type { OptionTable } from "../src/core/options.js";
import { experimentTable } from "../src/experiment/schema.js";
import { classifierTable, forecasterTable } from "../src/model/schemas.js";
import { leastMeanSquaresTable } from "../src/readout/least-mean-squares.js";
import { recursiveLeastSquaresTable } from "../src/readout/recursive-least-squares.js";
import { ridgeTable } from "../src/readout/ridge.js";
import { softmaxTable } from "../src/readout/softmax-regression.js";
import { batchTable, createTable, generateTable, runTable, streamTable, trainTable } from "../src/reservoir/computer.js";
import { reservoirTable } from "../src/reservoir/config-schema.js";
import { deviceTemplateTable } from "../src/spikes/gpu/templates.js";
import { processTable } from "../src/spikes/liquid/process.js";
import { registrationTable } from "../src/reservoir/engines.js";
import { ensembleTable, ensembleWorkTable } from "../src/reservoir/ensemble.js";
import { ownMatricesTable } from "../src/reservoir/options.js";
import { spikingTable } from "../src/spikes/liquid/schema.js";
import { binTable } from "../src/spikes/pattern/binning.js";
import { tasks } from "../src/tasks/index.js";

const columns = 100;

/** A list item of at most so many columns a line. */
function item(text: string): string {
  const lines = [""];
  for (const word of `- ${text}`.split(" ")) {
    const last = lines[lines.length - 1]!;
    if (last !== "" && last.length + 1 + word.length > columns) lines.push(`  ${word}`);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.join("\n");
}

interface Described {
  readonly default?: unknown;
  readonly required?: boolean;
  readonly takes: string;
  readonly description: string;
}

function section(title: string, options: readonly (readonly [name: string, option: Described])[]): string {
  const items = options.map(([name, option]) => {
    const isPlain =
      option.default !== undefined && (typeof option.default !== "object" || option.default === null || Array.isArray(option.default));
    const state = option.required ? " (has to be given)" : isPlain ? ` (\`${JSON.stringify(option.default)}\`)` : "";
    const takes = option.takes ? ` Takes ${option.takes}.` : "";
    const sentence = option.description.replace(/^([a-z])(?=[a-z])/, (letter) => letter.toUpperCase()).replace(/(?<![.?!])$/, ".");
    return item(`\`${name}\`${state}: ${sentence}${takes}`);
  });
  return `## ${title}\n\n${items.join("\n")}\n`;
}

const ofTable = (title: string, table: OptionTable) => section(title, Object.entries(table));

/** The page. */
export function optionsPage(): string {
  return [
    "# Options\n\nWritten by `npm run docs:options` from the descriptions that check them. In\nparentheses is the default.\n",
    ofTable("A reservoir", reservoirTable),
    ofTable("A spiking reservoir", spikingTable),
    ofTable("`ReservoirComputer.create`", createTable),
    ofTable("Its `matrices`", ownMatricesTable),
    ofTable("`run`", runTable),
    ofTable("`batch`", batchTable),
    ofTable("`generate`", generateTable),
    ofTable("`train`", trainTable),
    ofTable("`stream`", streamTable),
    ofTable("`ReservoirEnsemble.create`", ensembleTable),
    ofTable("`ReservoirEnsemble.run`", ensembleWorkTable),
    ofTable("`registerEngine`", registrationTable),
    ofTable("`Forecaster`", forecasterTable),
    ofTable("`Classifier`", classifierTable),
    ofTable("`ridge`", ridgeTable),
    ofTable("`softmaxRegression`", softmaxTable),
    ofTable("`recursiveLeastSquares`", recursiveLeastSquaresTable),
    ofTable("`leastMeanSquares`", leastMeanSquaresTable),
    ofTable("`binSpikes` and `binSpikesOnDevice`", binTable),
    ofTable("`processPatterns`", processTable),
    ofTable("`DeviceTemplates`", deviceTemplateTable),
    ofTable("An experiment file", experimentTable),
    ...tasks.all().map(({ name, options }) => ofTable(`The task \`${name}\``, options)),
  ].join("\n");
}

if (process.argv[1]?.endsWith("option-tables.ts")) writeFileSync(new URL("../docs/options.md", import.meta.url), optionsPage());
