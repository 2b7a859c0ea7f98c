// The views of what is measured: spectrum, memory curve, forecast.
import type { Measure } from "../../src/lab/measures.js";
import { predictionColour, targetColour } from "../../src/plot/palette.js";
import { colour, drawLine, drawPanel, inside } from "./canvas.js";
import type { LegendEntry } from "./legend.js";
import { rangeOf } from "./live.js";

type Of<Kind extends Measure["kind"]> = Extract<Measure, { kind: Kind }>;

/** Eigenvalues and the unit circle, one scale on both axes. */
export function drawSpectrum(canvas: HTMLCanvasElement, { re, im, radius }: Of<"spectrum">): void {
  const reach = 1.1 * Math.max(1, radius);
  // The margins around a panel take about 64 x 48 pixels.
  const wide = reach * Math.max(1, (canvas.clientWidth - 64) / Math.max(1, canvas.clientHeight - 48));
  const panel = drawPanel(canvas, {
    x: { range: [-wide, wide], title: "real part" },
    y: { range: [-reach, reach], title: "imaginary part" },
  });
  const { context, x, y } = panel;
  inside(panel, () => {
    context.strokeStyle = colour("--rule");
    context.beginPath();
    context.moveTo(x(-wide), y(0));
    context.lineTo(x(wide), y(0));
    context.moveTo(x(0), y(-reach));
    context.lineTo(x(0), y(reach));
    context.stroke();
    context.strokeStyle = colour("--soft");
    context.setLineDash([4, 3]);
    context.beginPath();
    context.ellipse(x(0), y(0), x(1) - x(0), y(0) - y(1), 0, 0, 2 * Math.PI);
    context.stroke();
    context.fillStyle = colour("--accent");
    for (let k = 0; k < re.length; k++) {
      context.beginPath();
      context.arc(x(re[k]!), y(im[k]!), 2, 0, 2 * Math.PI);
      context.fill();
    }
  });
}

/** r² by delay; the area under it is the capacity. */
export function drawMemory(canvas: HTMLCanvasElement, { curve }: Of<"memory">): void {
  const last = curve.length - 1;
  const panel = drawPanel(canvas, { x: { range: [0, last], title: "delay (steps)" }, y: { range: [0, 1.02], title: "r²" } });
  const { context, x, y } = panel;
  inside(panel, () => {
    context.fillStyle = colour("--accent");
    context.globalAlpha = 0.18;
    context.beginPath();
    context.moveTo(x(0), y(0));
    for (let k = 0; k <= last; k++) context.lineTo(x(k), y(curve[k]!));
    context.lineTo(x(last), y(0));
    context.fill();
  });
  drawLine(panel, curve, { colour: colour("--accent"), width: 2 });
}

/** The series, and over it what the reservoir says; a mark where it loses the series. */
export function drawForecast(canvas: HTMLCanvasElement, { truth, forecast, follows, free }: Of<"forecast">, unit: string): void {
  const panel = drawPanel(canvas, {
    x: { range: [0, truth.length - 1], title: "time after training (steps)" },
    y: { range: rangeOf(truth), title: unit },
  });
  const { context, x, top, height } = panel;
  drawLine(panel, truth, { colour: targetColour, width: 5 });
  drawLine(panel, forecast, { colour: predictionColour, width: 1.5 });
  if (!losesSeries({ free, follows, truth })) return;
  inside(panel, () => {
    context.strokeStyle = colour("--soft");
    context.setLineDash([2, 3]);
    context.beginPath();
    context.moveTo(x(follows), top);
    context.lineTo(x(follows), top + height);
    context.stroke();
  });
}

/** What the lines of a forecast are. */
export function forecastLegend(measure: Of<"forecast">): readonly LegendEntry[] {
  return [
    { text: measure.free ? "series" : "target", colour: targetColour, mark: "line" },
    { text: measure.free ? "reservoir, going on by itself" : "prediction from the input", colour: predictionColour, mark: "line" },
    ...(losesSeries(measure) ? [{ text: "error passes 0.4 standard deviations", colour: "--soft", mark: "dashes" } as const] : []),
  ];
}

function losesSeries({ free, follows, truth }: Pick<Of<"forecast">, "free" | "follows" | "truth">): boolean {
  return free && follows < truth.length;
}
