// `spillway demo`: three experiments that ship with the package, and one page about all of them.
import { SpillwayError } from "@spillway/core/errors.js";
import "../../index.js";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureFolder, writeInto } from "@spillway/io";
import { ExperimentError } from "../../experiment/description/errors.js";
import { loadExperiment } from "../../experiment/description/file.js";
import { resolveDataPath } from "../../experiment/description/paths.js";
import { verdictOf } from "../../experiment/report/report-section.js";
import { formatResult } from "../../experiment/runs/result.js";
import { type FinishedRun, footerOf } from "../../experiment/runs/run.js";
import { reportHtml } from "../../plot/index.js";
import { headline, scoreTable } from "../present.js";
import { type CommandOutcome, type RunCommandOptions, runReporting } from "./run.js";

const names = ["mackey-glass", "narma10", "co2"] as const;

/**
 * Runs the demo into `out`/demo/. An experiment whose data is not installed is skipped, and the
 * text says why.
 */
export async function demo(options: RunCommandOptions): Promise<CommandOutcome> {
  const out = join(options.out, "demo");
  await ensureFolder(out);
  const runs: FinishedRun[] = [];
  const skipped: string[] = [];
  for (const name of names) {
    if (options.signal.aborted) break;
    const loaded = await loadExperiment(experimentFile(name), options.set);
    const { data } = loaded.experiment;
    try {
      if ("file" in data) resolveDataPath(data.file, loaded.path);
    } catch (error) {
      if (!(error instanceof ExperimentError)) throw error;
      skipped.push(`${name} is skipped: ${error.message}`);
      continue;
    }
    runs.push(await runReporting(loaded, { ...options, out }));
  }
  const results = runs.map(({ result }) => result);
  const interrupted =
    options.signal.aborted && (runs.length + skipped.length < names.length || results.some((result) => result.interrupted));
  const isFirst = !existsSync(join(out, "report.html"));
  const page = interrupted && !isFirst ? "report.interrupted.html" : "report.html";
  if (results.length > 0) {
    const html = await reportHtml({
      title: "Spillway demo",
      lead: "Three experiments: a chaotic system forecast in closed loop, a driven system predicted, and a measured series forecast.",
      sections: runs.map(({ section }) => section),
      footer: footerOf(results[0]!),
    });
    await writeInto(out, page, html);
  }
  if (options.json) return { text: formatResult(results), interrupted };
  const parts = runs.map(({ result }) =>
    [
      headline(result),
      result.description,
      result.choice && `chosen: ${result.choice.sentence}`,
      "",
      scoreTable(result),
      "",
      verdictOf(result),
    ]
      .filter((line) => line !== undefined)
      .join("\n"),
  );
  const end = results.length > 0 ? `report to open in a browser: ${join(out, page)}` : "nothing was run";
  return { text: [...parts, ...skipped, end].join("\n\n"), interrupted };
}

/**
 * Where an experiment of the demo stands: in the built package, whose code lies in dist/ itself, or
 * in the examples of a checkout.
 */
function experimentFile(name: string): string {
  const paths = [`./cli/demo/${name}.yaml`, `../../../examples/experiments/${name}.yaml`].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const found = paths.find((path) => existsSync(path));
  if (found) return found;
  throw new SpillwayError(
    "file",
    `the demo's experiment ${name} is in neither ${paths.join(" nor ")}: the package is not complete, install it again`,
  );
}
