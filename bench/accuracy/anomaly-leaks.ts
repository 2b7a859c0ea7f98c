// A detector with another number of moving averages: its C, which gcc compiles here.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anomalySettings } from "../../src/model/anomaly/options.js";
import { constants, firstState } from "../../src/model/anomaly/program.js";
import { cDetector } from "../../src/model/c/detector.js";
import { sourceOf } from "../../src/model/c/source.js";
import type { NabSeries } from "./nab.js";

/** Takes series from standard input, each a number of rows, values and instants; prints the rows of alarms, a line a series. */
const main = `#include <stdio.h>
#include <stdlib.h>
#include "model.h"
static double state[MODEL_STATE], out[MODEL_RESULT];
int main(void)
{
  double rows;
  while (fread(&rows, 8, 1, stdin) == 1) {
    const int n = (int)rows;
    double *x = malloc(16 * (size_t)n);
    int t;
    if (fread(x, 16, (size_t)n, stdin) != (size_t)n) return 1;
    model_begin(state);
    for (t = 0; t < n; t++) {
      model_update(state, x + t, x[n + t], x[n + t], out);
      if (out[MODEL_ALARM] != 0) printf("%d ", t);
    }
    printf("\\n");
    free(x);
  }
  return 0;
}
`;

/** The rows of alarms of each series, by default options and so many moving averages. */
export function alarmsByLeaks(series: readonly NabSeries[], leaks: number): number[][] {
  const usual = constants.scales;
  const folder = mkdtempSync(join(tmpdir(), "spillway-leaks-"));
  try {
    constants.scales = leaks;
    const settings = anomalySettings({ forecast: false });
    const program = cDetector(settings, firstState(settings), { name: "model", version: "bench" });
    const source = sourceOf(program, "model").replace(`SCALES = ${usual},`, `SCALES = ${leaks},`);
    if (!source.includes(`SCALES = ${leaks},`)) throw new Error("the source names no SCALES");
    for (const [name, text] of Object.entries({ "model.c": source, "model.h": program.header, "main.c": main }))
      writeFileSync(join(folder, name), text);
    execFileSync("gcc", ["-std=c99", "-O2", "-o", "detect", "model.c", "main.c"], { cwd: folder });
    const input = Buffer.concat(
      series.flatMap(({ values, times }) => [[values.length], values, times]).map((list) => Buffer.from(Float64Array.from(list).buffer)),
    );
    const printed = execFileSync(join(folder, "detect"), { input, encoding: "utf8" });
    return printed
      .trimEnd()
      .split("\n")
      .map((line) => line.trim().split(" ").filter(Boolean).map(Number));
  } finally {
    constants.scales = usual;
    rmSync(folder, { recursive: true });
  }
}
