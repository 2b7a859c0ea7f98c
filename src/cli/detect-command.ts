// `spillway detect`. The work is loaded when it is called.
import { withoutDefaults } from "@spillway/core/options.js";
import { csvTable } from "@spillway/io/csv-options.js";
import { anomalyTable } from "../model/anomaly/options.js";
import { timeTable } from "../series/time-stamps.js";
import type { DetectFlags } from "./commands/detect.js";
import { exitCodes } from "./exit.js";
import { helpOf, namesOf } from "./flag.js";
import type { FlagCommand } from "./flag-command.js";

/** Flags of `detect`: what is left out is the detector's default, or that of a saved one. */
const anomalyFlags = withoutDefaults(anomalyTable);
const csvFlags = withoutDefaults(csvTable);

interface DetectCommandFlags extends Omit<DetectFlags, "unit" | "format" | "zone"> {
  readonly timeUnit?: DetectFlags["unit"];
  readonly timeFormat?: string;
  readonly timeZone?: string;
}

/** Adds the command's flags. `print` gets its message. */
export function describeDetect(
  command: FlagCommand,
  { signal, print, exit }: { readonly signal: AbortSignal; readonly print: (text: string) => void; readonly exit: (code: number) => void },
): void {
  command
    .description("find anomalies in a table, or in rows on standard input, at an asked rate of alarms")
    .argument("<file>", "a CSV or Parquet file; - reads lines of CSV or JSON from standard input, and writes a line for each")
    .option("--time <column>", "the column of time stamps")
    .flags(timeTable, {
      unit: { name: "timeUnit", value: "unit" },
      format: { name: "timeFormat", value: "format" },
      zone: { name: "timeZone", value: "zone" },
    })
    .flags(csvFlags, { delimiter: { value: "mark" }, decimal: { value: "mark" }, thousands: { value: "mark" } })
    .option(
      "--missing-markers <texts>",
      "the cells that mean a missing value, with commas between; left out, NA, NaN, null and others",
      namesOf,
    )
    .option("--columns <names>", "the columns, with commas between; left out, all of numbers", namesOf)
    .flags(anomalyFlags, { alarmRate: { value: "share" } })
    .flags(anomalyFlags, "rate", "detect", "mergeRows", "memory", "warmUp", "radius", "patterns", "size")
    .option("--seed <seed>", helpOf(anomalyFlags.seed))
    .flags(anomalyFlags, "missing")
    .option("--no-stuck", "no alarms for values that stay the same")
    .option("--no-forecast", "alarms alone: no expected values, bands and p-values")
    .option("-m, --model <file>", "continue with a saved detector")
    .option("-s, --save <file>", "save the detector after the last row")
    .option("-o, --out <file>", "a CSV file that receives a line for each row")
    .option("--plot <file>", "an HTML page with the series, its bands and incidents")
    .option("--json", "the summary as JSON; for standard input each row as a line of JSON")
    .action(async (file: string, { timeUnit, timeFormat, timeZone, stuck, forecast, ...flags }: DetectCommandFlags) => {
      const off = { ...(stuck === false && { stuck }), ...(forecast === false && { forecast }) };
      const times = { unit: timeUnit, format: timeFormat, zone: timeZone };
      const summary = await (await import("./commands/detect.js")).detect(file, { ...flags, ...off, ...times }, signal);
      if (file === "-") process.stderr.write(`${summary}\n`);
      else print(summary);
      if (signal.aborted) exit(exitCodes.interrupted);
    });
}
