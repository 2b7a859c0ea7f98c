// `spillway plot` and the flags that all have which write figures. The work is loaded when it is
// called.
import { type Command, Option } from "commander";
import { runFiguresTable } from "../experiment/report/plot-options.js";
import { svgTable } from "../plot/svg/options.js";
import type { PlotFlags } from "./commands/plot.js";
import { flagOf } from "./flag.js";

/** What figures are written as. */
export function formatOption(): Option {
  return new Option("--format <format>", "svg: an image a figure; html: one page; left out, both").choices(["svg", "html"]);
}

/** The paper of images. */
export function themeOption(): Option {
  return new Option("--theme <theme>", "the paper of the images; a page follows the browser").choices(["light", "dark"]);
}

/** Adds the command's flags. `print` gets its message. */
export function describePlot(command: Command, { print }: { readonly print: (text: string) => void }): void {
  command
    .description("draw the figures of a run again, as images and as a page, from the files that it kept")
    .argument("<run>", "the folder or the name of a run or search, or a forecasts.csv")
    .addOption(flagOf(runFiguresTable, "start", { short: "s", value: "start" }))
    .addOption(flagOf(runFiguresTable, "target", { value: "column" }))
    .addOption(flagOf(runFiguresTable, "series"))
    .addOption(flagOf(runFiguresTable, "last"))
    .addOption(formatOption())
    .addOption(themeOption())
    .addOption(flagOf(svgTable, "width", { value: "pixels" }))
    .addOption(flagOf(svgTable, "height", { value: "pixels" }))
    .addOption(flagOf(svgTable, "widthMm", { value: "mm" }))
    .addOption(flagOf(svgTable, "heightMm", { value: "mm" }))
    .option("-o, --out <dir>", "where the figures are written; left out, figures/ in the run's folder")
    .option("--runs <dir>", "the folder of runs, in which a name is looked for", "runs")
    .option("--json", "print titles, descriptions and files as JSON")
    .action(async (run: string, flags: PlotFlags) => print(await (await import("./commands/plot.js")).plot(run, flags)));
}
