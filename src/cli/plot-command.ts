// `spillway plot`. The work is loaded when it is called.
import { runFiguresTable } from "../experiment/report/plot-options.js";
import { svgTable } from "../plot/svg/options.js";
import type { PlotFlags } from "./commands/plot.js";
import type { FlagCommand } from "./flag-command.js";

/** Adds the command's flags. `print` gets its message. */
export function describePlot(command: FlagCommand, { print }: { readonly print: (text: string) => void }): void {
  command
    .description("draw the figures of a run again, as images and as a page, from the files that it kept")
    .argument("<run>", "the folder or the name of a run or search, or a forecasts.csv")
    .flags(runFiguresTable, { start: { short: "s", value: "start" }, target: { value: "column" }, series: {}, last: {} })
    .shared("format", "theme")
    .flags(svgTable, { width: { value: "pixels" }, height: { value: "pixels" }, widthMm: { value: "mm" }, heightMm: { value: "mm" } })
    .option("-o, --out <dir>", "where the figures are written; left out, figures/ in the run's folder")
    .option("--runs <dir>", "the folder of runs, in which a name is looked for", "runs")
    .option("--json", "print titles, descriptions and files as JSON")
    .action(async (run: string, flags: PlotFlags) => print(await (await import("./commands/plot.js")).plot(run, flags)));
}
