// What the help of each command says below its options: examples, notes, files, exit codes, and the
// page of the docs. The options are where the command is (program.ts).
import { suggestion } from "@spillway/core/near-names.js";
import type { Command, Help } from "commander";

/** The help of a command, without its options. */
interface Manual {
  readonly examples: readonly string[];
  /** Paragraphs. */
  readonly notes?: readonly string[];
  /** What it writes. */
  readonly files?: readonly (readonly [name: string, what: string])[];
  /** Exit codes, or what they mean here, beside those of every command. */
  readonly exits?: Readonly<Record<number, string>>;
  /** Variables of the environment. */
  readonly environment?: readonly (readonly [name: string, what: string])[];
  /** Pages of docs/. */
  readonly pages?: readonly string[];
}

const everyExit = { 0: "done", 1: "failed", 2: "wrong input", 130: "stopped with Ctrl-C", 143: "stopped with SIGTERM" };

/** By the words that call a command; "" is the program. */
export const manuals: Readonly<Record<string, Manual>> = {
  "": {
    examples: ["spillway demo", "spillway run mackey-glass.yaml --set reservoir.size=500", "spillway help run"],
    exits: { 3: "results of one trial differ (search, runs --merge)", 75: "work is left (search)" },
    environment: [
      ["SPILLWAY_BLAS", 'the BLAS that `blas: "system"` loads'],
      ["SPILLWAY_CACHE", "the folder that keeps compiled kernels"],
      ["SPILLWAY_CHROMIUM", "the Chromium that draws PNG"],
      ["SPILLWAY_CUDA_LIBRARY", "the driver's library; others of CUDA have such a variable too"],
      ["SPILLWAY_SIM_...", "the simulated device"],
    ],
    pages: ["README", "tutorial", "cuda"],
  },
  run: {
    examples: [
      "spillway run narma10.yaml",
      "spillway run microcircuit.yaml --scale 1 --engine cuda",
      "spillway run narma10.yaml --set reservoir.size=500 --set seeds=3 --json",
      "spillway run *.yaml --out results",
    ],
    notes: [
      "A finished run replaces the one that was there before. Ctrl-C keeps the seeds that are finished. --profile prints time, bytes and launches, by events on a GPU, and keeps them in result.json and the report.",
    ],
    files: [
      ["DIR/NAME/result.json", "scores, every setting, engine and why, versions, times"],
      ["DIR/NAME/model.safetensors", "the model of the first seed"],
      ["DIR/NAME/report.html", "a page that needs no network"],
      ["DIR/NAME/forecasts.csv", "what a forecast's run forecast, with history.csv"],
      ["DIR/NAME/states.npy", "the states, if the experiment asks for them"],
    ],
    pages: ["experiments"],
  },
  search: {
    examples: [
      "spillway search narma10.yaml",
      "spillway search narma10.yaml --trials 500 --time 10m --workers 4",
      "spillway search narma10.yaml --storage redis://cache:6379/0?prefix=narma10",
      "spillway search narma10.yaml --shard 0/8",
    ],
    notes: [
      "Trials never see the test part. The same command again goes on; Ctrl-C keeps every finished trial.",
      "Any number of commands may share a storage; parts (--shard) share nothing, and spillway runs --merge joins them.",
    ],
    files: [
      ["DIR/NAME/journal.log", "every trial, as soon as it has finished; with --storage there"],
      ["DIR/NAME/search.json", "the trials and the best"],
      ["DIR/NAME/report.html", "the trials drawn"],
      ["DIR/NAME/best.yaml", "the best setting, which spillway run takes"],
      ["DIR/NAME/NAME-best/", "the run of the best setting, with the model"],
      ["DIR/NAME/*.spool", "results that the storage did not take while it was away"],
    ],
    exits: { 3: "results of one trial differ in a bit", 75: "work is left, after SIGTERM or if the storage stays away" },
    pages: ["search"],
  },
  forecast: {
    examples: [
      "spillway forecast runs/load --data new.csv --steps 24",
      "spillway forecast model.safetensors --data new.csv --inputs weather.csv --out f.csv",
    ],
    notes: [
      "The columns of the table are found by the names that the model file keeps. Its time stamps continue the model's grid; its first one need not follow the training's last.",
      "What is known beforehand of the rows to come stands in a file of its own (--inputs), or in the table below the last measured row, whose other cells are then empty.",
    ],
    files: [["FILE of --out", "the columns of a run's forecasts.csv"]],
    pages: ["forecasting"],
  },
  classify: {
    examples: ["spillway classify runs/digits new/", "spillway classify model.safetensors cases.ts --out classes.csv"],
    notes: [
      "A folder is one case for each CSV, Parquet, NPY or WAV file in it; a .ts file has many, and if it names their classes, the accuracy is printed. Recordings are encoded as those of the run were, so give the run's folder.",
    ],
    files: [["FILE of --out", "case, class, and the probability of each class"]],
    pages: ["classification"],
  },
  export: {
    examples: [
      "spillway export runs/mackey-glass --to c --name tide",
      "spillway export model.safetensors --to onnx --use forecast",
      "spillway export model.safetensors --to wasm",
    ],
    notes: [
      "C, of a forecaster or classifier: C99, no allocation, the bits of this package on every machine that computes in IEEE 754. ONNX, of a forecaster or classifier: --use and --stateful are for a forecaster's graph. WebAssembly, of a forecaster or classifier: the bits of this package, in one module that imports nothing, and a host in JavaScript.",
    ],
    files: [
      ["DIR/NAME.c, DIR/NAME.h", "with --to c"],
      ["DIR/NAME.onnx", "with --to onnx"],
      ["DIR/NAME.wasm, DIR/NAME.js", "with --to wasm"],
    ],
    pages: ["small-machines", "in-the-browser", "experiments"],
  },
  runs: {
    examples: [
      "spillway runs",
      "spillway runs narma10 --trials --top 10",
      "spillway runs narma10 --trials --csv > trials.csv",
      "spillway runs narma10 other",
      "spillway runs narma10 --plot",
      "spillway runs narma10 other third --plot --figures compared",
      "spillway runs narma10 --merge narma10-0-of-2 narma10-1-of-2",
      "spillway runs redis://cache:6379/0?prefix=narma10 --trials",
    ],
    notes: ["--merge counts a trial once that several have."],
    exits: { 3: "results of one trial differ in a bit (--merge)" },
    pages: ["search", "plots"],
  },
  plot: {
    examples: [
      "spillway plot runs/load",
      "spillway plot load --start 2018-03-01 --format svg --theme dark",
      "spillway plot forecasts.csv --target load --last 20 --out figures",
      "spillway plot load --format svg --width-mm 85 --height-mm 60",
    ],
    notes: [
      "Forecasts are drawn from forecasts.csv and history.csv: history, bands and every baseline of the starts that are asked for, errors by step, residuals. All other figures are those of the report.",
    ],
    files: [
      ["DIR/*.svg", "an image a figure"],
      ["DIR/figures.html", "a page of all of them"],
    ],
    pages: ["plots"],
  },
  demo: {
    examples: ["spillway demo"],
    notes: ["It takes some seconds, and ends with the path of a report to open in a browser."],
    files: [["DIR/demo/report.html", "all three, on one page"]],
    pages: ["tutorial"],
  },
  detect: {
    examples: [
      "spillway detect load.csv --time timestamp --columns load --out rows.csv --plot anomalies.html",
      "spillway detect load.csv --alarm-rate 0.0001 --save load.safetensors",
      "mosquitto_sub -t meter | spillway detect - --time ts --time-unit ms --save meter.safetensors",
    ],
    notes: [
      "On standard input a line is a JSON object or list, or CSV with a header; the summary goes to standard error.",
      "If it is stopped with Ctrl-C, or a row cannot be read, the files hold what came before.",
    ],
    files: [
      ["FILE", "with --out: time, values, expected, lower, upper, pvalue, score, alarm, incident, cause"],
      ["FILE", "with --save: the detector, for --model, serve and export"],
    ],
    exits: { 130: "stopped with Ctrl-C" },
    pages: ["anomalies"],
  },
  compare: {
    examples: [
      "spillway compare narma10.yaml --engines cpu,cuda",
      "spillway compare narma10.yaml --engines reference,cpu --out compared",
      "spillway compare narma10.yaml --engines cpu,cuda --plans named,auto",
      "spillway compare narma10.yaml --engines cpu,cuda:fast --sequences 64",
    ],
    notes: ["`:fast` or `:portable` after an engine's name sets the arithmetic."],
    files: [["DIR/compare.json, DIR/compare.html", "with --out"]],
    exits: { 1: "failed, or an engine gives other bits than the first" },
    pages: ["cuda", "numerics"],
  },
  analyse: {
    examples: [
      "spillway analyse narma10.yaml",
      "spillway analyse narma10.yaml --data --out analysed",
      "spillway analyse narma10.yaml --measures lyapunovExponent,memoryCapacity --map 24 --out analysed",
    ],
    notes: ["Capacities and ranks are of random input. Without --map, the map that the file describes is drawn."],
    files: [
      ["DIR/analysis.json, DIR/analysis.html", "with --out"],
      ["DIR/map-MEASURE.svg", "with --out, of every measure of a map"],
    ],
    pages: ["measures"],
  },
  info: { examples: ["spillway info", "spillway info --json"], pages: ["cuda"] },
  plan: {
    examples: [
      "spillway plan narma10.yaml --engine cuda",
      "spillway plan narma10.yaml --engine cuda --plan streamed --set reservoir.size=5000",
    ],
    pages: ["internals/one-reservoir"],
  },
  tasks: { examples: ["spillway tasks", "spillway tasks mackeyGlass"], pages: ["options"] },
  bench: {
    examples: ["spillway bench --threads 2", "spillway bench --out bench", "spillway bench --gpus --engine cuda:0-3"],
    files: [["DIR/bench.json, DIR/bench.html", "with --out; with --gpus only the first"]],
  },
  lab: {
    examples: ["spillway lab", "spillway lab --no-open --port 4000"],
    notes: ["The reservoir runs in the page; --engine is for larger ones that the page hands over."],
    exits: { 130: "stopped with Ctrl-C, which is how it ends" },
  },
  serve: {
    examples: ["spillway serve runs/mackey-glass/model.safetensors", `curl http://127.0.0.1:8080/forecast --json '{"steps": 24}'`],
    notes: [
      "GET /openapi.json says what the model takes; /health and /metrics are for those who watch it.",
      "There are no passwords and no TLS: leave it on 127.0.0.1, or put a proxy before it that has them, and name it with --names.",
    ],
    exits: { 130: "stopped with Ctrl-C, which is how it ends" },
    pages: ["serving"],
  },
  schema: {
    examples: ["spillway schema > experiment.schema.json"],
    notes: [
      "Then begin a file with `# yaml-language-server: $schema=experiment.schema.json`, or with the schema's `$id` for that of the newest version.",
    ],
    pages: ["experiments"],
  },
  ptx: {
    examples: [
      "spillway ptx gemmTiled --m 512 --n 512 --k 512 > gemm.ptx",
      "spillway ptx attention --seq-len 4096 --head-dim 64 --causal --target sm_90 --json",
    ],
    pages: ["ptx"],
  },
  "ptx run": { examples: ['spillway ptx run scale.ptx --args "f32[8]=range" 8 0.5 --block 8'], pages: ["ptx"] },
  complete: {
    examples: [
      "source <(spillway complete bash)",
      "spillway complete zsh > ~/.zfunc/_spillway",
      "spillway complete fish > ~/.config/fish/completions/spillway.fish",
    ],
    notes: ["Bash needs its package bash-completion. Zsh finds the file if its folder is in fpath before compinit is called."],
  },
  help: { examples: ["spillway help run", "spillway help ptx run"] },
};

/** The words that call a command, without the program's name. */
export function pathOf(command: Command): string {
  const above = command.parent ? pathOf(command.parent) : "";
  return command.parent ? `${above} ${command.name()}`.trim() : "";
}

/** Gives a command and those below it the sections of their help. */
export function addManuals(command: Command): void {
  const manual = manuals[pathOf(command)];
  if (manual) command.addHelpText("after", ({ command: shown }) => sections(manual, shown.createHelp()));
  for (const each of command.commands) addManuals(each);
}

/**
 * Prints the help of the command that the words call, or of the program. Ends the parse with the
 * exit code of wrong usage if there is no such command.
 */
export function helpOn(program: Command, words: readonly string[]): void {
  let command = program;
  for (const word of words) {
    const names = command.commands.map((each) => each.name());
    command =
      command.commands.find((each) => each.name() === word) ??
      command.error(`error: unknown command '${words.join(" ")}'${suggestion(word, names)}`);
  }
  command.outputHelp();
}

function sections({ examples, notes = [], files = [], exits = {}, environment = [], pages = [] }: Manual, help: Help): string {
  const width = Math.max(40, process.stdout.columns ?? 80);
  help.prepareContext({ helpWidth: width });
  const indented = (text: string) => `  ${help.boxWrap(text, width - 2).replaceAll("\n", "\n  ")}`;
  const list = (items: readonly (readonly [term: string, what: string])[]) => {
    const longest = Math.max(...items.map(([term]) => term.length));
    return items.map(([term, what]) => help.formatItem(term, longest, what, help)).join("\n");
  };
  const codes = Object.entries({ ...everyExit, ...exits });
  const all = [
    ["Examples:", examples.map((line) => `  $ ${line}`).join("\n")],
    ["Notes:", notes.map(indented).join("\n\n")],
    ["Files:", files.length === 0 ? "" : list(files)],
    ["Environment:", environment.length === 0 ? "" : list(environment)],
    ["Exit codes:", list(codes)],
    ["See also:", pages.length === 0 ? "" : indented(pages.map((page) => `docs/${page}.md`).join(", "))],
  ];
  return all.flatMap(([title, text]) => (text === "" ? [] : [`\n${title}\n${text}`])).join("\n");
}
