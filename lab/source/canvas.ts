// Canvases in the page's colours, sharp on every screen, and panels with axes on them. What is
// drawn in a panel is the caller's.
import { divergingScale } from "../../src/plot/palette.js";
import { Scale } from "../../src/plot/svg/scale.js";

/** An axis: from where to where, and what its title says, unit included. */
export interface Axis {
  readonly range: readonly [number, number];
  readonly title: string;
  /** Whether it runs downwards. */
  readonly reversed?: boolean;
  /** Of a right axis: pixels between it and the panel. */
  readonly gap?: number;
}

/** A rectangle within a canvas, and where values stand in it. */
export interface Panel {
  readonly context: CanvasRenderingContext2D;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
}

const margins = { left: 50, right: 14, rightAxis: 50, top: 10, bottom: 38 };
const font = "11px system-ui, sans-serif";

const cached = new Map<string, string>();

/** A colour of the page by its name in the style sheet. */
export function colour(name: string): string {
  let value = cached.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    cached.set(name, value);
  }
  return value;
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cached.clear());

/**
 * Clears a canvas, draws axes with ticks and titles, and gives the panel between them. `right` is a
 * second y axis.
 */
export function drawPanel(canvas: HTMLCanvasElement, axes: { readonly x: Axis; readonly y: Axis; readonly right?: Axis }): Panel {
  const { context, width, height } = surfaceOf(canvas);
  const left = margins.left;
  const top = margins.top;
  const panelWidth = Math.max(1, width - left - (axes.right ? margins.rightAxis + (axes.right.gap ?? 0) : margins.right));
  const panelHeight = Math.max(1, height - top - margins.bottom);
  const bottom = top + panelHeight;
  context.strokeStyle = colour("--rule");
  context.strokeRect(left - 0.5, top - 0.5, panelWidth + 1, panelHeight + 1);
  context.font = font;
  context.lineWidth = 1;
  const x = scaleOf(axes.x, left, left + panelWidth);
  const y = scaleOf(axes.y, bottom, top);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const { at, label } of x.ticks()) drawTick(context, x.pixel(at), bottom, 0, 4, label);
  context.fillText(axes.x.title, left + panelWidth / 2, bottom + 21);
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const { at, label } of y.ticks()) drawTick(context, left, y.pixel(at), -4, 0, label);
  drawUpright(context, axes.y.title, 9, top + panelHeight / 2);
  if (axes.right) {
    context.textAlign = "left";
    const right = scaleOf(axes.right, bottom, top);
    for (const { at, label } of right.ticks()) drawTick(context, left + panelWidth + (axes.right.gap ?? 0), right.pixel(at), 4, 0, label);
    drawUpright(context, axes.right.title, width - 9, top + panelHeight / 2);
  }
  const pixels = { x: (value: number) => x.pixel(value), y: (value: number) => y.pixel(value) };
  const panel = { context, left, top, width: panelWidth, height: panelHeight, ...pixels };
  clearPanel(panel);
  return panel;
}

/** Empties a panel and leaves its axes. */
export function clearPanel({ context, left, top, width, height }: Panel): void {
  context.fillStyle = colour("--panel");
  context.fillRect(left, top, width, height);
}

/** The same panel with another y axis. */
export function withAxis(panel: Panel, axis: Axis): Panel {
  const y = scaleOf(axis, panel.top + panel.height, panel.top);
  return { ...panel, y: (value) => y.pixel(value) };
}

/** Draws with everything outside the panel cut off. */
export function inside({ context, left, top, width, height }: Panel, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  draw();
  context.restore();
}

/** A line through values at x = from, from + 1, ...; values that are not finite interrupt it. */
export function drawLine(
  panel: Panel,
  values: ArrayLike<number>,
  style: { readonly colour: string; readonly width?: number; readonly dash?: readonly number[] },
  from = 0,
): void {
  const { context } = panel;
  inside(panel, () => {
    context.beginPath();
    context.strokeStyle = style.colour;
    context.lineWidth = style.width ?? 1.5;
    context.setLineDash([...(style.dash ?? [])]);
    let drawing = false;
    for (let i = 0; i < values.length; i++) {
      const y = panel.y(values[i]!);
      if (!Number.isFinite(y)) drawing = false;
      else if (drawing) context.lineTo(panel.x(from + i), y);
      else {
        context.moveTo(panel.x(from + i), y);
        drawing = true;
      }
    }
    context.stroke();
  });
}

/** A sentence in a canvas that has nothing else to show. */
export function drawNote(canvas: HTMLCanvasElement, text: string): void {
  const { context, width, height } = surfaceOf(canvas);
  context.fillStyle = colour("--soft");
  context.font = "13px system-ui, sans-serif";
  context.textBaseline = "middle";
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1) ?? ""} ${word}`.trim();
    if (lines.length > 0 && context.measureText(longer).width <= width - 24) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  lines.forEach((line, k) => {
    context.fillText(line, 12, height / 2 + 18 * (k - (lines.length - 1) / 2), width - 24);
  });
}

/**
 * The drawing surface of a canvas, cleared, its pixels those of the screen. Sizes are in CSS
 * pixels.
 */
function surfaceOf(canvas: HTMLCanvasElement) {
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.textAlign = "left";
  return { context, width, height };
}

function scaleOf({ range, reversed = false }: Axis, from: number, to: number): Scale {
  const scale = new Scale({ range, ...(reversed ? { autorange: "reversed" } : {}) }, []);
  scale.setRange(from, to);
  return scale;
}

/** A tick of length dx, dy from a point of the panel's edge, with its label beyond. */
function drawTick(context: CanvasRenderingContext2D, x: number, y: number, dx: number, dy: number, label: string): void {
  context.strokeStyle = colour("--soft");
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + dx, y + dy);
  context.stroke();
  context.fillStyle = colour("--soft");
  context.fillText(label, x + 1.75 * dx, y + 1.75 * dy);
}

function drawUpright(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillStyle = colour("--soft");
  context.fillText(text, 0, 0);
  context.restore();
}

/** The diverging colours as 256 triples of red, green, blue: entry 0 is -1, entry 255 is 1. */
export const stateColours: Uint8ClampedArray = (() => {
  const stops = divergingScale.map(([at, hex]) => [255 * at, ...[1, 3, 5].map((k) => Number.parseInt(hex.slice(k, k + 2), 16))] as const);
  const out = new Uint8ClampedArray(3 * 256);
  for (let k = 0; k < 256; k++) {
    const above = Math.max(
      1,
      stops.findIndex(([at]) => at >= k),
    );
    const [low, ...a] = stops[above - 1]!;
    const [high, ...b] = stops[above]!;
    for (let c = 0; c < 3; c++) out[3 * k + c] = a[c]! + ((k - low) / (high - low)) * (b[c]! - a[c]!);
  }
  return out;
})();
