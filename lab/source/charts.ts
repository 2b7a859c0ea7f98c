// The views of what is measured: spectrum, memory curve, forecast.
import { colour, drawLine, drawNote, surfaceOf } from "./canvas.js";
import type { Measure } from "./measures.js";

type Of<Kind extends Measure["kind"]> = Extract<Measure, { kind: Kind }>;

/** Eigenvalues and the unit circle, one scale on both axes. */
export function drawSpectrum(canvas: HTMLCanvasElement, { re, im, radius }: Of<"spectrum">): void {
  const { context, width, height } = surfaceOf(canvas);
  const reach = 1.1 * Math.max(1, radius);
  const unit = Math.min(width, height) / (2 * reach);
  const [x0, y0] = [width / 2, height / 2];
  context.strokeStyle = colour("--rule");
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, y0);
  context.lineTo(width, y0);
  context.moveTo(x0, 0);
  context.lineTo(x0, height);
  context.stroke();
  context.strokeStyle = colour("--soft");
  context.setLineDash([4, 3]);
  context.beginPath();
  context.arc(x0, y0, unit, 0, 2 * Math.PI);
  context.stroke();
  context.setLineDash([]);
  context.fillStyle = colour("--accent");
  for (let k = 0; k < re.length; k++) {
    context.beginPath();
    context.arc(x0 + unit * re[k]!, y0 - unit * im[k]!, 2, 0, 2 * Math.PI);
    context.fill();
  }
}

/** r² by delay. */
export function drawMemory(canvas: HTMLCanvasElement, { curve }: Of<"memory">): void {
  drawLine(surfaceOf(canvas), curve, [0, 1], { colour: colour("--accent"), width: 2 });
}

/** The series, and over it what the reservoir says on its own. */
export function drawForecast(canvas: HTMLCanvasElement, { truth, forecast }: Of<"forecast">): void {
  const surface = surfaceOf(canvas);
  let low = Infinity;
  let high = -Infinity;
  for (const value of truth) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const room = 0.2 * (high - low);
  const range = [low - room, high + room] as const;
  drawLine(surface, truth, range, { colour: colour("--accent"), width: 3 });
  drawLine(surface, forecast, range, { colour: colour("--second") });
}

/** A sentence where a measure could not be taken. */
export function drawFailure(canvas: HTMLCanvasElement, message: string): void {
  drawNote(surfaceOf(canvas), message);
}
