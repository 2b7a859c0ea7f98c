// Flags that set an option of a table: sentence, default, what they take and the errors are the
// table's.
import type { Command } from "commander";
import { beforeAll, describe, expect, it } from "vitest";
import type { OptionTable } from "../../packages/core/src/options.js";
import { launchTable } from "../../packages/gpu/src/launch-config.js";
import { openTable as deviceTable } from "../../packages/gpu/src/open-device.js";
import { generatorTable } from "../../packages/ptx/src/kernels/generated-kernel.js";
import { analyseTable } from "../../src/analysis/analyse/options.js";
import { compareTable } from "../../src/analysis/compare/options.js";
import { kernelNumbers, kernelSwitches, kernelWords } from "../../src/cli/commands/ptx-options.js";
import { helpOf, TableFlag } from "../../src/cli/flag.js";
import { createProgram } from "../../src/cli/program.js";
import { runFiguresTable } from "../../src/experiment/report/plot-options.js";
import { aheadTable } from "../../src/experiment/runs/ahead-options.js";
import { experimentRunTable } from "../../src/experiment/runs/run-options.js";
import { labTable } from "../../src/lab/options.js";
import { createTable } from "../../src/reservoir/computer-options.js";
import { serveTable } from "../../src/serve/options.js";
import { casesOf } from "../exhaustive.js";
import { spillway } from "./in-process.js";

/** What the functions that each command calls take. */
const tables: Readonly<Record<string, OptionTable>> = {
  run: experimentRunTable,
  demo: experimentRunTable,
  analyse: analyseTable,
  compare: compareTable,
  plan: createTable,
  bench: createTable,
  lab: labTable,
  serve: serveTable,
  forecast: aheadTable,
  plot: runFiguresTable,
  ptx: generatorTable,
  "ptx run": { ...launchTable, ...deviceTable },
};

const onEveryCommand = {
  json: "how the command prints",
  quiet: "how the command prints",
  import: "modules are loaded before any function is called",
};
/** Flags that are of no table, and why. */
const own: Readonly<Record<string, string>> = {
  "run --set": "changes the experiment, not the run",
  "run --scale": "changes the experiment, not the run",
  "analyse --set": "changes the experiment, not the analysis",
  "analyse --map-measures": "written as a,b, where the table takes a list",
  "analyse --measures": "written as a,b, where the table takes a list",
  "analyse --data": "the experiment's data as the table's inputs",
  "analyse --out": "a folder for the page that the command makes",
  "compare --set": "changes the experiment, not the comparison",
  "plan --set": "changes the experiment, not the comparison",
  "compare --engines": "an argument of compare, not an option",
  "compare --plans": "names with commas between; each is checked by its device",
  "classify --out": "a file for the table that the command makes",
  "compare --out": "a folder for the page that the command makes",
  "detect --columns": "written as a,b, where the table takes a list",
  "detect --missing-markers": "written as a,b, where the table takes a list",
  "detect --model": "an argument of AnomalyDetector.load, not an option",
  "detect --no-forecast": "turns off what the table's forecast says",
  "detect --no-stuck": "turns off what the table's stuck says",
  "detect --out": "a file for the table that the command makes",
  "detect --plot": "a file for the page that the command makes",
  "detect --save": "an argument of detector.save, not an option",
  "detect --seed": "a text, as any seed may be",
  "detect --time": "the column whose stamps the command reads",
  "bench --gpus": "another bench of the same command",
  "bench --out": "a folder for the page that the command makes",
  "lab --no-open": "the command opens the browser",
  "search --set": "changes the experiment, not the search",
  "search --no-refit": "turns off what the table's refit says",
  "plot --format": "what files the command writes",
  "plot --theme": "what files the command writes",
  "plot --out": "what files the command writes",
  "plot --runs": "where the command looks for a name",
  "runs --trials": "what of a run is printed",
  "runs --state": "what of a run is printed",
  "runs --csv": "what of a run is printed",
  "runs --plot": "what of a run is drawn",
  "runs --figures": "what files the command writes",
  "runs --format": "what files the command writes",
  "runs --theme": "what files the command writes",
  "runs --study": "an argument of mergeStudies, not an option",
  "runs --merge": "arguments of mergeStudies, not an option",
  "runs --repair": "repairJournal, which takes no options",
  "search --dry-run": "prints what the search would be",
  "export --to": "which of two functions is called",
  "export --out": "an argument of saveC and saveOnnx, not an option",
  "ptx --no-affine": "turns off a field of norms, which no table describes",
  "ptx run --entry": "an argument of module.kernel, not an option",
  "ptx run --args": "the arguments of the kernel",
  "ptx run --grid": "written as 4x2x1, where the table takes numbers",
  "ptx run --block": "written as 16x16, where the table takes numbers",
  "ptx run --device": "named as an engine is, cuda:1, where the table takes 1",
};
/** Sizes of kernels, which no table describes: the generators check them. */
const ofKernels = Object.keys({ ...kernelNumbers, ...kernelSwitches, ...kernelWords });

let all: { readonly command: string; readonly flag: Command["options"][number] }[];
let helps: string[];
beforeAll(() => {
  const { program } = createProgram(new AbortController().signal);
  const found = [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)].map((command) => ({
    name: command === program ? "" : `${command.parent === program ? "" : `${command.parent!.name()} `}${command.name()}`,
    command,
  }));
  all = found.flatMap(({ name, command }) => command.options.map((flag) => ({ command: name, flag })));
  helps = found.map(({ command }) => {
    let text = "";
    command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
    command.outputHelp();
    return text;
  });
});

describe("flags", () => {
  it("have the sentence, the default and the bounds of the option that they set", () => {
    const shownFlags = all
      .filter(({ flag }) => flag instanceof TableFlag)
      .map(({ command, flag }) => {
        const option = tables[command]?.[flag.attributeName()];
        if (option) expect(flag.description, `${command} ${flag.long}`).toBe(helpOf(option));
        return `${command} ${flag.long}`;
      });
    expect(shownFlags).toEqual(expect.arrayContaining(["run --threads", "plan --kernel-source", "lab --port", "compare --sequences"]));
  });

  it("stand in a list with a reason if they are of no table", () => {
    const without = all
      .filter(({ command, flag }) => {
        const name = flag.attributeName();
        return !(
          flag instanceof TableFlag ||
          name in onEveryCommand ||
          flag.long === "--version" ||
          (command === "ptx" && ofKernels.includes(name))
        );
      })
      .map(({ command, flag }) => `${command} ${flag.long}`);
    expect(without.sort()).toEqual(Object.keys(own).sort());
  });

  it("fill at most 100 columns of help, with no empty sentence", () => {
    for (const help of helps) for (const line of help.split("\n")) expect(line.length, line).toBeLessThanOrEqual(100);
    expect(all.filter(({ flag }) => flag.description === "")).toEqual([]);
  });

  it.each(
    casesOf(
      [
        [["bench", "--threads", "65"], "--threads is 65; it takes a whole number from 1 to 64"],
        [["bench", "--threads", "two"], '--threads is "two"; it takes a whole number from 1 to 64'],
        [["lab", "--port", ""], '--port is ""; it takes a whole number from 0 to 65535'],
        [
          ["plan", "a.yaml", "--kernel-source", "shiped"],
          '--kernel-source is "shiped"; it takes "auto", "shipped" or "nvrtc" (did you mean "shipped"?)',
        ],
        [["ptx", "softmax", "--target", "sm_81"], '--target is "sm_81"; it takes "sm_75"'],
        [["ptx", "run", "a.ptx", "--shared", "-1"], "--shared is -1; it takes a whole number of bytes of at least 0"],
        [["ptx", "run", "a.ptx", "--show", "x"], '--show is "x"; it takes a whole number of at least 0'],
        [["compare", "a.yaml", "--steps", "0"], "--steps is 0; it takes a whole number of at least 1"],
        [["bench", "--engine", "cdua"], 'or "reference" (did you mean "cuda"?)'],
        [["bench", "--thread", "2"], "(Did you mean --threads?)"],
      ] as const,
      (_, k) => k % 3 === 0,
    ),
  )("%j is refused by the table, with what was meant", async (args, sentence) => {
    const { code, stderr } = await spillway(args, { cwd: "." });
    expect(stderr).toContain(sentence);
    expect(code).toBe(2);
  });
});
