import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { formatNumber } from "../../src/plot/format.js";
import { plotForecast, plotlySource, type ReportSection, reportHtml } from "../../src/plot/index.js";

const section: ReportSection = {
  title: "first <b>experiment</b>",
  lead: "A sentence & more.",
  facts: [["engine", "cpu (asked for)"]],
  scores: [
    {
      metric: "nrmse",
      value: 2e-4,
      statistic: "median of 20 seeds, sd 1e-5",
      better: "lower",
      baselines: [{ name: "persistence", value: 1.2 }],
      published: { value: 2.8e-4, source: "Jaeger 2001" },
    },
    { metric: "accuracy", value: 0.9, better: "higher", published: { value: 0.95, source: "elsewhere" } },
  ],
  perSeed: {
    heads: ["seed", "nrmse"],
    lines: [
      ["0", 1e-4],
      ["1", 3e-4],
    ],
  },
  figures: [plotForecast([[1], [2]], [[1], [3]], { title: "A figure </script>" })],
  config: 'name: x\nsource: "</script><script>alert(1)</script>"',
};
const page = (sections: readonly ReportSection[]) => reportHtml({ title: "A report", sections, plotly: "/* plotly */" });

describe("reportHtml", () => {
  it("carries plotly.js inside itself and asks the network for nothing", async () => {
    const html = await reportHtml({ title: "A report", sections: [section] });
    const [element, packed] = /<script type="text\/plain" id="plotly">([^<]+)<\/script>/.exec(html)!;
    expect(gunzipSync(Buffer.from(packed!, "base64")).toString()).toBe(await plotlySource());
    expect(html.length).toBeLessThan(2.1e6);
    const own = html.replace(element, "");
    expect(own).not.toMatch(/<(script|link|img|iframe)[^>]*(src|href)=/);
    expect(own).not.toMatch(/@import|url\(/);
  });

  it("says what ran and how well: the score beside baseline and published figure, with the verdict in words", async () => {
    const html = await page([section]);
    const text = html.replace(/<script[\s\S]*?<\/script>|<style[\s\S]*?<\/style>|<[^>]+>/g, " ").replace(/\s+/g, " ");
    expect(text).toContain("nrmse 2e-4 median of 20 seeds, sd 1e-5 persistence 1.2 2.8e-4 Jaeger 2001 reached");
    expect(text).toContain("accuracy 0.9 0.95 elsewhere not reached");
    expect(text).toContain("engine cpu (asked for)");
    expect(text).toContain("Scores by seed");
  });

  it("holds figures as JSON that no text in them can end", async () => {
    const html = await page([section]);
    const json = /<script type="application\/json" id="figures">([\s\S]*?)<\/script>/.exec(html)![1]!;
    expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(section.figures)));
    expect(html.match(/<script/g)).toHaveLength(3);
  });

  it("escapes every text it is given", async () => {
    const html = await page([section]);
    expect(html).toContain("first &#60;b&#62;experiment&#60;/b&#62;");
    expect(html).toContain("A sentence &#38; more.");
    expect(html).not.toContain("alert(1)</script>");
  });

  it("gives every figure a text alternative", async () => {
    const html = await page([section]);
    expect(html).toContain('role="img" aria-labelledby="caption-0" aria-describedby="description-0"');
    expect(html).toContain('<p class="description" id="description-0">The target and the prediction of value over 2 steps.</p>');
  });

  it("puts several experiments on one page, with links to each", async () => {
    const html = await page([section, { ...section, title: "second", figures: [...section.figures, ...section.figures] }]);
    expect(html).toContain('<a href="#experiment-1">second</a>');
    expect([...html.matchAll(/id="figure-(\d)"/g)].map(([, id]) => id)).toEqual(["0", "1", "2"]);
  });

  it("shows warnings, such as that a run was interrupted", async () => {
    expect(await page([{ ...section, warnings: ["This run was stopped."] }])).toContain('<p class="warning">This run was stopped.</p>');
  });
});

describe("formatNumber", () => {
  it.each([
    [0, "0"],
    [0.19949, "0.199"],
    [12.345, "12.3"],
    [4.12e-5, "4.12e-5"],
    [2.8e-4, "2.8e-4"],
    [1234.4, "1,234"],
    [2.5e9, "2.5e9"],
    [-0.5, "-0.5"],
    [Number.POSITIVE_INFINITY, "infinite"],
    [Number.NaN, "not a number"],
  ])("writes %d as %s", (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });
});
