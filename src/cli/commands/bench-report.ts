// What a bench found, as a section of a report page. It measures nothing.

import type { Machine } from "../../experiment/runs/machine.js";
import { formatNumber } from "../../plot/format.js";
import { encodeArray, type Figure, type ReportSection } from "../../plot/index.js";
import { seriesColour } from "../../plot/palette.js";
import { formatBytes } from "../../reservoir/index.js";

/** One line of the table. Medians over the repetitions. */
export interface Measurement {
  readonly size: number;
  readonly kind: "sparse" | "dense";
  readonly precision: "float32" | "float64";
  readonly stepsPerSecond: number;
  readonly microsecondsPerStep: number;
  /**
   * The fastest and the slowest repetition, in microseconds a step: how far the median may be
   * trusted.
   */
  readonly fastest: number;
  readonly slowest: number;
  readonly repetitions: number;
}

/** All of a bench: bench.json. */
export interface BenchResult {
  readonly versions: Readonly<Record<string, string>>;
  readonly machine: Machine;
  /**
   * Which engines ran, and why each was taken where it was taken first; one, unless the choice
   * changed with the size.
   */
  readonly engines: readonly string[];
  readonly threads: number;
  readonly measurements: readonly Measurement[];
}

/**
 * Machine and engine as facts, one figure of microseconds a step by size for each precision, and
 * all numbers as a table.
 */
export function benchSection({ machine, versions, engines, threads, measurements }: BenchResult): ReportSection {
  const precisions = [...new Set(measurements.map(({ precision }) => precision))];
  return {
    title: "Time of a step",
    lead: "One input, every state kept. Other work on the machine makes steps slower.",
    facts: [
      ["machine", `${machine.processor}, ${machine.processors} processors, ${formatBytes(machine.memoryBytes)}, ${machine.system}`],
      ...engines.map((engine) => ["engine", engine] as const),
      ["threads", String(threads)],
      ["repetitions", `${measurements[0]?.repetitions ?? 0} of each; the median is shown, and a bar from the fastest to the slowest`],
      [
        "versions",
        Object.entries(versions)
          .map(([name, version]) => `${name} ${version}`)
          .join(", "),
      ],
    ],
    scores: [],
    table: {
      caption: "All measurements",
      heads: ["weights", "neurons", "precision", "µs a step", "fastest", "slowest", "steps a second"],
      lines: measurements.map((one) => [
        nameOf(one),
        String(one.size),
        one.precision,
        one.microsecondsPerStep,
        one.fastest,
        one.slowest,
        one.stepsPerSecond,
      ]),
    },
    figures: precisions.map((precision) => plotStepTimes(measurements, precision)),
  };
}

/**
 * Microseconds a step by size, a line for each kind of weights; the bars reach from the fastest
 * repetition to the slowest.
 */
export function plotStepTimes(measurements: readonly Measurement[], precision: Measurement["precision"]): Figure {
  const ofPrecision = measurements.filter((one) => one.precision === precision);
  const sizes = [...new Set(ofPrecision.map(({ size }) => size))];
  const names = [...new Set(ofPrecision.map(nameOf))];
  return {
    title: `Time of a step, ${precision}`,
    description: `${names
      .map((name) => {
        const times = ofPrecision.filter((one) => nameOf(one) === name);
        return `${name}: ${times.map(({ size, microsecondsPerStep }) => `${formatNumber(microsecondsPerStep)} µs at N = ${size}`).join(", ")}`;
      })
      .join("; ")}.`,
    data: names.map((name, k) => {
      const times = ofPrecision.filter((one) => nameOf(one) === name);
      const column = (value: (one: Measurement) => number) => encodeArray(Float64Array.from(times, value));
      return {
        type: "scatter",
        mode: "lines+markers",
        name,
        x: column(({ size }) => size),
        y: column(({ microsecondsPerStep }) => microsecondsPerStep),
        error_y: {
          type: "data",
          symmetric: false,
          array: column(({ slowest, microsecondsPerStep }) => slowest - microsecondsPerStep),
          arrayminus: column(({ fastest, microsecondsPerStep }) => microsecondsPerStep - fastest),
          thickness: 1.5,
          width: 5,
        },
        line: { color: seriesColour(k), width: 2 },
        marker: { size: 7, symbol: ["circle", "square"][k % 2] },
        hovertemplate: `${name}, N = %{x}: %{y:.3g} µs<extra></extra>`,
      };
    }),
    layout: {
      height: 380,
      showlegend: true,
      xaxis: { title: { text: "neurons" }, type: "log", tickvals: sizes, ticktext: sizes.map(String), automargin: true },
      yaxis: { title: { text: "µs a step" }, type: "log", tickvals: decades(ofPrecision), automargin: true },
    },
  };
}

function nameOf({ kind }: Measurement): string {
  return kind === "sparse" ? "sparse, p = 0.1" : "dense";
}

/** 1, 2, 5, 10, ... around all times: few and whole numbers. Plotly's own would be only digits. */
function decades(measurements: readonly Measurement[]): number[] {
  const low = Math.min(...measurements.map(({ fastest }) => fastest));
  const high = Math.max(...measurements.map(({ slowest }) => slowest));
  const ticks: number[] = [];
  for (let unit = 10 ** Math.floor(Math.log10(low)); unit <= high * 2; unit *= 10) ticks.push(unit, 2 * unit, 5 * unit);
  return ticks;
}
