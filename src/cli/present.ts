// A result in a terminal: its first line, the table of scores, and the table of a profile.

import { columnTable, formatSeconds, statisticOf } from "../experiment/report/report-section.js";
import { clockOf, describeCalls, describeWork, figuresOf } from "../experiment/runs/profile.js";
import type { ExperimentResult } from "../experiment/runs/result.js";
import { type ClassResult, classTable } from "../experiment/tasks/classes.js";
import { formatNumber } from "../plot/format.js";
import type { Profile } from "../reservoir/index.js";
import { formatTable } from "./table.js";

/** The scores as a table for a terminal. */
export function scoreTable({ scores }: ExperimentResult): string {
  const withSeeds = scores.some(({ seeds }) => seeds > 1);
  const withBaselines = scores.some(({ baselines }) => baselines.length > 0);
  const withPublished = scores.some(({ published }) => published);
  const heads = [
    "score",
    "value",
    ...(withSeeds ? ["over seeds"] : []),
    ...(withBaselines ? ["baselines"] : []),
    ...(withPublished ? ["published"] : []),
  ];
  const lines = scores.map((score) => [
    score.metric,
    `${formatNumber(score.value)}${score.unit ? ` ${score.unit}` : ""}`,
    ...(withSeeds ? [statisticOf(score) ?? ""] : []),
    ...(withBaselines ? [score.baselines.map(({ name, value }) => `${name} ${formatNumber(value)}`).join(", ")] : []),
    ...(withPublished ? [score.published ? `${formatNumber(score.published.value)} (${score.published.source})` : ""] : []),
  ]);
  return formatTable(heads, lines);
}

/** The scores of each column as a table for a terminal; undefined if there are none to show. */
export function columnLines(result: ExperimentResult): string | undefined {
  const { heads, lines } = columnTable(result);
  if (lines.length === 0) return undefined;
  const figures = heads.flatMap((head, k) => (k === 0 || head === "best baseline" || head === "the model is" ? [] : [k]));
  const shown = lines.map((cells) => cells.map((cell) => (typeof cell === "number" ? formatNumber(cell) : cell)));
  return formatTable(heads, shown, figures);
}

/** Precision, recall and F1 of each class as a table for a terminal. */
export function classLines(classes: ClassResult): string {
  const { heads, lines } = classTable(classes);
  return formatTable(
    heads,
    lines.map((cells) => cells.map((cell) => (typeof cell === "number" ? formatNumber(cell) : cell))),
    [1, 2, 3, 4],
  );
}

/** The first line about a result: what ran, on which engine and why. */
export function headline(result: ExperimentResult): string {
  const { engine, timing } = result;
  const isOnHost = result.config.model?.type === "nvar" && result.seeds.length > 0;
  const where = engine ? `${engine.name} engine (${engine.reason})` : isOnHost ? "on the host" : "no engine";
  return `${result.name}: ${where}, ${formatSeconds(timing["total"] ?? 0)}${result.interrupted ? ", interrupted" : ""}`;
}

const profileHeads = ["phase", "clock", "ms", "pieces", "steps", "us/step", "bytes", "GB/s"];

/** Phases, then what the device was given. */
export function profileTable(profile: Profile): string {
  const lines = profile.phases.map((phase) => [phase.phase, clockOf(phase), ...figuresOf(phase)]);
  return [`profile: ${describeCalls(profile)}`, formatTable(profileHeads, lines), ...describeWork(profile)].join("\n");
}
