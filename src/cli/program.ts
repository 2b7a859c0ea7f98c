// The commands, their options and their help. The code of a command is loaded when it is called, to
// keep --version and --help quick.

import { count, list, optional, whole } from "@spillway/core/options.js";
import { visibleLines } from "@spillway/core/text.js";
import { Argument, type Command, CommanderError, Option } from "commander";
import { analyseTable, measureNames } from "../analysis/analyse/options.js";
import { compareTable } from "../analysis/compare/options.js";
import { mapMeasures } from "../analysis/map/options.js";
import { aheadTable } from "../experiment/runs/ahead-options.js";
import { experimentRunTable } from "../experiment/runs/run-options.js";
import { experimentSearchTable } from "../experiment/search/search-options.js";
import { labTable } from "../lab/options.js";
import { cTable } from "../model/c/options.js";
import { onnxTable } from "../model/onnx/options.js";
import { packageVersion } from "../model/version.js";
import { planTable } from "../reservoir/options.js";
import type { ServeOptions } from "../serve/index.js";
import { serveTable } from "../serve/options.js";
import type { AnalyseCommandOptions } from "./commands/analyse.js";
import type { BenchOptions } from "./commands/bench.js";
import type { ClassifyFlags } from "./commands/classify.js";
import type { CompareCommandOptions } from "./commands/compare.js";
import type { ExportFlags } from "./commands/export.js";
import type { ForecastFlags } from "./commands/forecast.js";
import type { LabCommandOptions } from "./commands/lab.js";
import type { PlanCommandOptions } from "./commands/plan.js";
import type { CommandOutcome, RunCommandOptions } from "./commands/run.js";
import type { RunsFlags } from "./commands/runs.js";
import type { SearchFlags } from "./commands/search.js";
import { describeDetect } from "./detect-command.js";
import { exitCodes } from "./exit.js";
import { helpOf, namesOf } from "./flag.js";
import { FlagCommand } from "./flag-command.js";
import { addManuals, helpOn } from "./manual.js";
import { describePlot } from "./plot-command.js";
import type { Progress } from "./progress.js";
import { describePtx } from "./ptx-command.js";
import type { Announcement } from "./supervisor.js";

/** Flags of a command: what its function takes but what the command line gives it. */
type FlagsOf<Options> = Omit<Options, "signal" | "progress" | "announce" | "print"> & { readonly quiet?: boolean };
type RunFlags = FlagsOf<RunCommandOptions>;
type BenchFlags = FlagsOf<BenchOptions> & { readonly gpus?: boolean };

/** What commands take that no function of the package does. */
const ownTable = {
  steps: optional(count(1), "At most so many steps of the data."),
  map: optional(whole({ atLeast: 2, atMost: 256 }), "Also a map over spectral radius and input scaling, so many values a side."),
  top: optional(whole({ atLeast: 1 }), "Of them the best n."),
  sizes: optional(list(count(1, 10_000_000), "sizes, whole numbers of at least 1", 1), "Neurons of the reservoirs."),
};

/** What commands share. */
interface CommandLine {
  readonly program: Command;
  readonly signal: AbortSignal;
  readonly announce: (what: Announcement) => void;
  readonly print: (text: string) => void;
  /** Prints an outcome, and exits by it. @throws its failure */
  readonly finish: (outcome: CommandOutcome) => void;
  readonly exit: (code: number) => void;
  readonly progressOf: (flags: { readonly quiet?: boolean }) => Promise<Progress>;
}

/** Adds arguments, flags and action to each command, in the order of the help. */
const commands: Readonly<Record<string, (command: FlagCommand, line: CommandLine) => void>> = {
  run: (command, { signal, announce, finish, progressOf }) =>
    command
      .description("run experiments and write scores, model and report into DIR/NAME/")
      .argument("<file...>", "experiment files, YAML or JSON")
      .shared("out", "engine", "plan", "threads", "set", "import")
      .flags(experimentRunTable, "profile")
      .option("--scale <share>", "of a file with network: microcircuit or hpcBenchmark, the share of its neurons; 1 is full size")
      .option("--json", "print the results as JSON, and nothing else, on standard output")
      .shared("quiet")
      .action(async (files: readonly string[], flags: RunFlags) => {
        const command = await import("./commands/run.js");
        finish(await command.run(files, { ...flags, signal, announce, progress: await progressOf(flags) }));
      }),
  search: (command, { signal, announce, finish, progressOf }) =>
    command
      .description("search for the best settings of an experiment, and train and test the best one")
      .argument("<file>", "an experiment file with a search block")
      .shared("out")
      .flags(experimentSearchTable, { trials: {}, time: { value: "duration" } })
      .shared("engine", "plan", "threads")
      .flags(experimentSearchTable, {
        workers: {},
        storage: { value: "path" },
        study: {},
        patience: { value: "duration" },
        grace: { value: "duration" },
        shard: { value: "i/n" },
      })
      .shared("set", "import")
      .option("--no-refit", "do not train and test the best setting in the end")
      .option("--dry-run", "print what would be searched, evaluate the first trial, and say what the search takes")
      .option("--json", "print the result as JSON, and nothing else, on standard output")
      .shared("quiet")
      .action(async (file: string, flags: SearchFlags) => {
        const command = await import("./commands/search.js");
        finish(await command.search(file, flags, { signal, announce, progress: await progressOf(flags) }));
      }),
  forecast: (command, { signal, print, progressOf }) =>
    command
      .description("forecast with a saved model, from the rows of a table or from where it was saved")
      .argument("<model>", "a model file, or the folder of a run")
      .flags(aheadTable, { data: { short: "d", value: "file" }, steps: {}, inputs: { value: "file" } })
      .flags(aheadTable, {
        intervals: { value: "shares" },
        quantiles: { value: "levels" },
        bandsFrom: {},
        missing: {},
        gaps: {},
        time: { value: "column" },
        decimal: { value: "mark" },
        out: { short: "o", value: "file" },
      })
      .shared("engine", "plan", "threads", "import")
      .option("--json", "print the forecasts as JSON, and nothing else, on standard output")
      .shared("quiet")
      .action(async (model: string, { import: _, ...flags }: ForecastFlags) => {
        const command = await import("./commands/forecast.js");
        print(await command.forecast(model, { ...flags, signal, progress: await progressOf(flags) }));
      }),
  classify: (command, { signal, print }) =>
    command
      .description("name the classes of new cases with a saved classifier or pipeline")
      .argument("<model>", "a model file, or the folder of a run")
      .argument("<data>", "the cases: a UEA .ts file, a CSV, Parquet or NPY file (one case), or a folder of such or WAV files")
      .option("-o, --out <file>", "a CSV file that receives classes and probabilities")
      .shared("engine", "plan", "threads", "import")
      .option("--json", "print the classes as JSON, and nothing else, on standard output")
      .action(async (model: string, data: string, { import: _, ...flags }: ClassifyFlags) => {
        print(await (await import("./commands/classify.js")).classify(model, data, { ...flags, signal }));
      }),
  detect: describeDetect,
  export: (command, { print }) =>
    command
      .description("write a saved model as C, which needs no library, as an ONNX graph, or as one WebAssembly module")
      .argument("<model>", "a model file, or the folder of a run")
      .addOption(new Option("--to <form>", "what it becomes").choices(["c", "onnx", "wasm"]).makeOptionMandatory())
      .option("-o, --out <dir>", "the folder that gets the files", ".")
      .flags(cTable, "name")
      .flags(onnxTable, "use", "stateful")
      .shared("import")
      .action(async (model: string, { import: _, ...flags }: ExportFlags & { readonly import?: unknown }) => {
        print(await (await import("./commands/export.js")).exportModel(model, flags));
      }),
  plot: describePlot,
  runs: (command, { print, exit }) =>
    command
      .description("runs and searches: a folder of them, the trials of one, two side by side; journals merged or repaired")
      .argument("[names...]", "a folder of runs, or a storage of searches: a journal or an address; with the flags below one run or search")
      .shared("out")
      .option("--trials", "the trials of a search")
      .addOption(
        new Option("--state <state>", "of them those in this state").choices(["running", "complete", "pruned", "failed", "waiting"]),
      )
      .flags(ownTable, "top")
      .option("--study <name>", "the study, if a journal has several")
      .option("--merge <journals...>", "bring the trials of these searches or journals into the named one")
      .option("--repair", "take out of a journal what is no record")
      .option("--plot", "draw the trials of a search, or runs side by side, as images and as a page")
      .option("--figures <dir>", "where figures are written; left out, figures/ in the folder of the search, or here")
      .shared("format", "theme")
      .option("--csv", "the trials as CSV, numbers in full")
      .shared("json")
      .action(async (names: readonly string[], flags: RunsFlags) => {
        const outcome = await (await import("./commands/runs.js")).runs(names, flags);
        print(outcome.text);
        exit(outcome.exitCode);
      }),
  demo: (command, { signal, announce, finish, progressOf }) =>
    command
      .description("three experiments: Mackey-Glass, NARMA-10, and the measured CO2 of Mauna Loa")
      .shared("out", "engine", "plan")
      .option("--json", "print the results as JSON, and nothing else, on standard output")
      .shared("quiet")
      .action(async (flags: Omit<RunFlags, "threads" | "set">) => {
        const { demo } = await import("./commands/demo.js");
        finish(await demo({ ...flags, signal, announce, progress: await progressOf(flags) }));
      }),
  compare: (command, { signal, print, exit, progressOf }) =>
    command
      .description("one reservoir on several engines, step for step: are the states the same bits, and how fast is each")
      .argument("<file>", "an experiment file, for its reservoir and its data")
      .addOption(
        new Option("--engines <names>", "engines, the reference first").argParser(namesOf).default(["reference", "cpu"], "reference,cpu"),
      )
      .addOption(new Option("--plans <names>", `${helpOf(compareTable.plans)}, with commas between, such as named,auto`).argParser(namesOf))
      .flags(ownTable, "steps")
      .flags(compareTable, "sequences")
      .shared("set", "import")
      .option("-o, --out <dir>", "write compare.json and compare.html there")
      .shared("json", "quiet")
      .action(async (file: string, flags: FlagsOf<CompareCommandOptions>) => {
        const { compareEngines } = await import("./commands/compare.js");
        const outcome = await compareEngines(file, { ...flags, signal }, await progressOf(flags));
        print(outcome.text);
        exit(outcome.equal ? exitCodes.success : exitCodes.failure);
      }),
  analyse: (command, { signal, finish, progressOf }) =>
    command
      .description("measure an experiment's reservoir: exponent, echo state, memory, information capacity, ranks, storage and transfer")
      .argument("<file>", "an experiment file, for its reservoir and its data")
      .addOption(new Option("--measures <names>", `which measures, of ${measureNames.join(", ")}; left out, all`).argParser(namesOf))
      .option("--data", "drive the exponent, the echo state index and the dynamics by the experiment's data in place of random input")
      .flags(analyseTable, "amplitude")
      .flags(ownTable, "map")
      .addOption(new Option("--map-measures <names>", `which measures a map has, of ${mapMeasures.join(", ")}`).argParser(namesOf))
      .shared("engine", "plan", "set", "import")
      .option("-o, --out <dir>", "write analysis.json, analysis.html and maps as SVG there")
      .shared("json", "quiet")
      .action(async (file: string, flags: FlagsOf<AnalyseCommandOptions>) => {
        const { analyseExperiment } = await import("./commands/analyse.js");
        finish(await analyseExperiment(file, { ...flags, signal }, await progressOf(flags)));
      }),
  info: (command, { print }) =>
    command
      .description("which engines can run here, and why (not); versions; the machine")
      .shared("json", "import")
      .action(async (flags: { json?: boolean }) => print(await (await import("./commands/info.js")).info(flags))),
  plan: (command, { print }) =>
    command
      .description("how an engine would run the reservoir of an experiment: kernel, threads, memory")
      .argument("<file>", "an experiment file, for its reservoir and its data")
      .shared("engine", "plan")
      .flags(planTable, "kernelSource")
      .shared("set", "import", "json")
      .action(async (file: string, flags: PlanCommandOptions) =>
        print(await (await import("./commands/plan.js")).describePlan(file, flags)),
      ),
  tasks: (command, { print }) =>
    command
      .description("the benchmark series an experiment can generate, or the options of one")
      .argument("[name]", "a task")
      .shared("import", "json")
      .action(async (name: string | undefined, flags: { json?: boolean }) =>
        print((await import("./commands/tasks.js")).listTasks(name, flags)),
      ),
  bench: (command, { signal, print, progressOf }) =>
    command
      .description("steps a second of reservoirs on this machine; with --gpus, what several GPUs gain")
      .shared("engine", "plan", "threads")
      .flags(ownTable, { sizes: { value: "sizes", note: ", with commas between; default 100,300,1000, with --gpus 4096,8192,16384" } })
      .option("--gpus", "compare one GPU with several: all there are, or those of --engine, such as cuda:0-3")
      .option("-o, --out <dir>", "write bench.json and bench.html there")
      .shared("json", "quiet")
      .action(async (flags: BenchFlags) => {
        const [{ bench }, { benchGpus }] = [await import("./commands/bench.js"), await import("./commands/bench-gpus.js")];
        print(await (flags.gpus ? benchGpus : bench)({ ...flags, signal }, await progressOf(flags)));
      }),
  lab: (command, { signal, print, exit }) =>
    command
      .description("a page in the browser on which a reservoir is turned by hand: sliders, states, spectrum, memory, forecast")
      .flags(labTable, "port")
      .option("--no-open", "print the address and open no browser")
      .flags(labTable, { engine: { short: "e" } })
      .shared("import")
      .action(async (flags: FlagsOf<LabCommandOptions>) => {
        await (await import("./commands/lab.js")).lab({ ...flags, signal, print });
        exit(exitCodes.interrupted);
      }),
  serve: (command, { signal, print, exit }) =>
    command
      .description("answer requests with a saved model: HTTP, JSON in and out")
      .argument("<model>", "a model file: a forecaster, classifier, pipeline, detector or reservoir")
      .flags(serveTable, {
        port: { short: "p" },
        host: { value: "address" },
        names: { value: "names" },
        base: { value: "path" },
        maxBody: { value: "bytes" },
        timeout: { value: "seconds" },
        maxSessions: {},
        idle: { value: "seconds" },
        engine: { short: "e" },
        plan: {},
        threads: { short: "t" },
      })
      .shared("import")
      .action(async (model: string, { import: _, ...flags }: ServeOptions & { readonly import?: unknown }) => {
        await (await import("./commands/serve.js")).serve(model, { ...flags, signal, print });
        exit(exitCodes.interrupted);
      }),
  schema: (command, { print }) =>
    command
      .description("the JSON Schema of experiment files, for editors")
      .shared("import")
      .action(async () =>
        print(JSON.stringify((await import("../experiment/description/json-schema.js")).experimentJsonSchema(), undefined, 2)),
      ),
  ptx: describePtx,
  complete: (command) =>
    command
      .description("tab completion: the script that a shell loads")
      .addArgument(new Argument("<shell>", "bash, zsh, fish or powershell").choices(["bash", "zsh", "fish", "powershell"]))
      .action(async (shell: "bash" | "zsh" | "fish" | "powershell") => {
        (await import("./commands/complete.js")).printCompletionScript(shell);
      }),
  help: (command, { program }) =>
    command
      .description("the help of a command")
      .argument("[command...]", "a command; left out, the list of them")
      .action((words: readonly string[]) => helpOn(program, words)),
};

/** What the command line is, and how it is run. */
interface Program {
  readonly program: Command;
  /** Gives the exit code. @throws what a command throws */
  readonly run: (args: readonly string[]) => Promise<number>;
}

/** The command line. `announce` tells its supervisor what it needs to know. */
export function createProgram(signal: AbortSignal, announce: (what: Announcement) => void = () => undefined): Program {
  let exitCode: number = exitCodes.success;
  const print = (text: string): void => {
    process.stdout.write(`${visibleLines(text)}\n`);
  };
  const progressOf: CommandLine["progressOf"] = async ({ quiet = false }) => (await import("./progress.js")).createProgress(quiet);
  const finish: CommandLine["finish"] = ({ text, interrupted, isWorkLeft, failure }) => {
    print(text);
    if (failure !== undefined) throw failure;
    exitCode = isWorkLeft ? exitCodes.workLeft : interrupted ? exitCodes.interrupted : exitCodes.success;
  };
  const program = new FlagCommand("spillway")
    .description("Reservoir computing: experiments from a file to scores, a model and a report.")
    .version(packageVersion, "-V, --version", "print the version")
    .helpCommand(false)
    .showHelpAfterError("(spillway --help, or spillway COMMAND --help, says more)")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "spillway: ")) });

  const line: CommandLine = {
    ...{ program, signal, announce, print, finish, progressOf },
    exit: (code) => {
      exitCode = code;
    },
  };
  for (const [name, describe] of Object.entries(commands)) describe(program.command(name), line);
  program.hook("preAction", async (_, command) => {
    const { import: modules = [], engine } = command.opts<{ readonly import?: readonly string[]; readonly engine?: string }>();
    if (modules.length > 0) await (await import("./import-modules.js")).importModules(modules);
    if (engine === undefined) return;
    await import("../index.js");
    (await import("../reservoir/engines.js")).checkEngineName(engine);
  });
  addManuals(program);
  for (const command of program.commands.flatMap((each) => [each, ...each.commands]))
    command.exitOverride().configureOutput(program.configureOutput());
  const run: Program["run"] = async (args) => {
    // The shell's script asks for words behind "--".
    if (args[0] === "complete" && args[1] === "--") {
      print((await import("./commands/complete.js")).completions(program, args.slice(2)));
      return exitCodes.success;
    }
    // Commander would answer `NOTACOMMAND --help` with the help of the program.
    const [first] = args;
    const foreign = first !== undefined && !first.startsWith("-") && !program.commands.some((command) => command.name() === first);
    try {
      await program.parseAsync(foreign ? [first] : [...args], { from: "user" });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
    }
    return exitCode;
  };
  return { program, run };
}
