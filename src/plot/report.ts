// One page that opens without a network: what ran, how well, and the figures. It computes nothing;
// scores and figures are handed to it.
import { ArgumentError } from "@spillway/core/errors.js";
import { getOrMake } from "@spillway/core/maps.js";
import { checked, given, type InputOf, optional, resolve, text } from "@spillway/core/options.js";
import { base64, checkFigure, type Figure } from "./figure.js";
import { escapeHtml, escapeJson, formatNumber } from "./format.js";
import { checkList, isArrayLike } from "./options.js";
import { plotlySource } from "./plotly-source.js";
import { reportScript, reportStyle } from "./report-page.js";

/** A score, with what it may be compared with. */
export interface ReportScore {
  readonly metric: string;
  readonly value: number;
  /** How `value` came out of several seeds, and how they spread: "median of 20 seeds, sd 1e-5". */
  readonly statistic?: string | undefined;
  readonly unit?: string | undefined;
  /** What the same metric gives without the model. */
  readonly baselines?: readonly { readonly name: string; readonly value: number }[] | undefined;
  readonly published?: { readonly value: number; readonly source: string } | undefined;
  readonly better?: "lower" | "higher" | undefined;
}

/** Heads, and lines of as many cells. */
export interface ReportTable {
  readonly heads: readonly string[];
  readonly lines: readonly (readonly (string | number)[])[];
}

/** One experiment on a page. */
export interface ReportSection {
  readonly title: string;
  /** One or two sentences. */
  readonly lead?: string | undefined;
  /** What ran, as label and value: engine and why, reservoir, data, time. */
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly scores: readonly ReportScore[];
  /** Every seed's scores, as a table: heads, and one line a seed. */
  readonly perSeed?: ReportTable | undefined;
  /** A table that is open under the figures, with its caption. */
  readonly table?: (ReportTable & { readonly caption: string }) | undefined;
  /** What a reader should know before anything else, such as that the run was interrupted. */
  readonly warnings?: readonly string[] | undefined;
  readonly figures: readonly Figure[];
  /** The configuration as text, YAML. */
  readonly config?: string | undefined;
}

export const reportTable = {
  /** The heading. */
  title: given(text(), "The heading."),
  /** A line under the title. */
  lead: optional(text(), "A line under the title."),
  /** One for each run, or for each thing that is reported. */
  sections: given(checked<readonly ReportSection[]>("a list of sections", isArrayLike), "One for each run, or whatever is reported."),
  /** A last line: version and time. */
  footer: optional(text(), "A last line: version and time."),
  /** The source of plotly.js; left out, it is read from the package plotly.js-dist-min. */
  plotly: optional(text(), "The source of plotly.js; left out, it is read from the package plotly.js-dist-min."),
  /**
   * The address of plotly.js, such as "plotly.min.js" beside the page, in place of its source
   * inside the page.
   */
  plotlyScript: optional(text(), "The address of plotly.js, in place of its source inside the page."),
};

/** What a report says, from the heading to the last line. */
export interface ReportOptions extends InputOf<typeof reportTable> {}

/** The whole page as HTML. @throws Error if plotly.js cannot be found. */
export async function reportHtml(options: ReportOptions): Promise<string> {
  resolve(reportTable, options);
  options.sections.forEach((section, k) => {
    checkText(section?.title, `sections[${k}].title`);
    checkList(section.facts, `sections[${k}].facts`, "labels with their values");
    checkList(section.scores, `sections[${k}].scores`, "scores");
    checkList(section.figures, `sections[${k}].figures`, "figures");
    section.scores.forEach((score, i) => {
      checkText(score?.metric, `sections[${k}].scores[${i}].metric`);
    });
    section.figures.forEach(checkFigure);
  });
  const plotly = options.plotlyScript === undefined ? (options.plotly ?? (await plotlySource())) : "";
  const { sections } = options;
  let figure = 0;
  const bodies = sections.map((section, index) => {
    const first = figure;
    figure += section.figures.length;
    return sectionHtml(section, index, first, sections.length > 1);
  });
  const figures = sections.flatMap((section) => section.figures);
  const contents =
    sections.length > 1
      ? `<nav aria-label="Experiments"><ul>${sections.map(({ title }, k) => `<li><a href="#experiment-${k}">${escapeHtml(title)}</a></li>`).join("")}</ul></nav>`
      : "";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(options.title)}</title>
<style>${reportStyle}</style>
</head>
<body>
<header><h1>${escapeHtml(options.title)}</h1>${paragraph(options.lead, "lead")}${contents}</header>
<main>
<noscript><p class="warning">The figures need JavaScript. The scores below do not.</p></noscript>
${bodies.join("\n")}
</main>
<footer>${paragraph(options.footer)}</footer>
${options.plotlyScript === undefined ? `<script type="text/plain" id="plotly">${await compressed(plotly)}</script>` : `<script src="${escapeHtml(options.plotlyScript)}"></script>`}
<script type="application/json" id="figures">${escapeJson(figures)}</script>
<script>${reportScript}</script>
</body>
</html>
`;
}

const compressedSources = new Map<string, Promise<string>>();

/** A text as base64 of its gzip, which the page unpacks: plotly.js takes 2 MB instead of 4.8. */
function compressed(text: string): Promise<string> {
  return getOrMake(compressedSources, text, () => {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
    return new Response(stream).arrayBuffer().then((bytes) => base64(new Uint8Array(bytes)));
  });
}

function sectionHtml(section: ReportSection, index: number, firstFigure: number, titled: boolean): string {
  const { figures, config, warnings = [] } = section;
  const heading = titled ? `<h2>${escapeHtml(section.title)}</h2>` : `<h2 class="unseen">${escapeHtml(section.title)}</h2>`;
  return `<section id="experiment-${index}">
${heading}
${paragraph(section.lead, "lead")}
${warnings.map((warning) => paragraph(warning, "warning")).join("")}
${scoresHtml(section.scores)}
${factsHtml(section.facts)}
<div class="figures">
${figures.map((figure, k) => figureHtml(figure, firstFigure + k)).join("\n")}
</div>
${section.table ? tableHtml(section.table, section.table.caption) : ""}
${perSeedHtml(section.perSeed)}
${config === undefined ? "" : `<details><summary>Configuration</summary><pre tabindex="0"><code>${escapeHtml(config)}</code></pre></details>`}
</section>`;
}

function factsHtml(facts: ReportSection["facts"]): string {
  if (facts.length === 0) return "";
  return `<dl class="facts">${facts.map(([label, value]) => `<div><dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd></div>`).join("")}</dl>`;
}

function scoresHtml(scores: readonly ReportScore[]): string {
  if (scores.length === 0) return "";
  const withBaselines = scores.some(({ baselines }) => baselines && baselines.length > 0);
  const withPublished = scores.some(({ published }) => published);
  const lines = scores.map((score) => {
    const unit = score.unit ? ` ${escapeHtml(score.unit)}` : "";
    const baselines = (score.baselines ?? []).map(
      ({ name, value }) => `<span class="beside">${escapeHtml(name)} <b>${formatNumber(value)}</b></span>`,
    );
    const published = score.published
      ? `<b>${formatNumber(score.published.value)}</b> <span class="source">${escapeHtml(score.published.source)}</span>${verdict(score)}`
      : "";
    return `<tr><th scope="row">${escapeHtml(score.metric)}</th>
<td data-label="this run"><span class="score">${formatNumber(score.value)}</span>${unit}${score.statistic ? `<span class="source">${escapeHtml(score.statistic)}</span>` : ""}</td>
${withBaselines ? `<td data-label="baseline">${baselines.join("")}</td>` : ""}${withPublished ? `<td data-label="published">${published}</td>` : ""}</tr>`;
  });
  const heads = ["score", "this run", ...(withBaselines ? ["without the reservoir"] : []), ...(withPublished ? ["published"] : [])];
  return `<table class="scores"><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr></thead><tbody>${lines.join("\n")}</tbody></table>`;
}

/** Words, not only a colour, for how a score compares with the published one. */
function verdict({ value, published, better }: ReportScore): string {
  if (!published || !better || !Number.isFinite(value)) return "";
  const reached = better === "lower" ? value <= published.value : value >= published.value;
  return `<span class="verdict ${reached ? "reached" : "missed"}">${reached ? "reached" : "not reached"}</span>`;
}

function figureHtml(figure: Figure, id: number): string {
  return `<figure><figcaption id="caption-${id}">${escapeHtml(figure.title)}</figcaption>
<div class="plot" id="figure-${id}" role="img" aria-labelledby="caption-${id}" aria-describedby="description-${id}" style="min-height:${Number(figure.layout["height"] ?? 320)}px"></div>
<p class="description" id="description-${id}">${escapeHtml(figure.description)}</p></figure>`;
}

function perSeedHtml(perSeed: ReportSection["perSeed"]): string {
  if (!perSeed || perSeed.lines.length < 2) return "";
  return `<details><summary>Scores by seed</summary>${tableHtml(perSeed)}</details>`;
}

function tableHtml({ heads, lines }: ReportTable, caption?: string): string {
  const cell = (value: string | number) => (typeof value === "number" ? formatNumber(value) : escapeHtml(value));
  return `<div class="wide" tabindex="0"><table>${caption === undefined ? "" : `<caption>${escapeHtml(caption)}</caption>`}<thead><tr>${heads.map((head) => `<th scope="col">${escapeHtml(head)}</th>`).join("")}</tr></thead>
<tbody>${lines.map(([first, ...rest]) => `<tr><th scope="row">${escapeHtml(String(first))}</th>${rest.map((value) => `<td>${cell(value)}</td>`).join("")}</tr>`).join("")}</tbody></table></div>`;
}

function paragraph(text: string | undefined, style?: string): string {
  return text ? `<p${style ? ` class="${style}"` : ""}>${escapeHtml(text)}</p>` : "";
}

function checkText(value: unknown, name: string): void {
  if (typeof value !== "string") throw new ArgumentError(name, value, "a text");
}
