// Drawing on canvases: sharp on every screen, in the page's colours. What is drawn is the caller's.

export interface Surface {
  readonly context: CanvasRenderingContext2D;
  /** In CSS pixels. */
  readonly width: number;
  readonly height: number;
}

/** The drawing surface of a canvas, cleared, its pixels those of the screen. */
export function surfaceOf(canvas: HTMLCanvasElement): Surface {
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

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

/** Six colours that stay apart for colour-blind readers (Okabe and Ito 2008). */
export const lineColours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"] as const;

/** A line through values at equal distances; values that are not finite interrupt it. */
export function drawLine(
  { context, width, height }: Surface,
  values: ArrayLike<number>,
  [low, high]: readonly [number, number],
  style: { readonly colour: string; readonly width?: number; readonly dash?: readonly number[] },
  span = values.length,
): void {
  context.beginPath();
  context.strokeStyle = style.colour;
  context.lineWidth = style.width ?? 1.5;
  context.setLineDash([...(style.dash ?? [])]);
  let drawing = false;
  for (let i = 0; i < values.length; i++) {
    const x = (i / Math.max(1, span - 1)) * width;
    const y = height - 6 - ((values[i]! - low) / (high - low || 1)) * (height - 12);
    if (!Number.isFinite(y)) drawing = false;
    else if (drawing) context.lineTo(x, y);
    else {
      context.moveTo(x, y);
      drawing = true;
    }
  }
  context.stroke();
  context.setLineDash([]);
}

/** A text in the corner of a view that has nothing to show yet. */
export function drawNote({ context, height }: Surface, text: string): void {
  context.fillStyle = colour("--soft");
  context.font = "13px system-ui, sans-serif";
  context.fillText(text, 10, height / 2);
}

/** Blue below 0, white at 0, vermilion above, as 256 colours of red, green, blue. */
export const stateColours: Uint8ClampedArray = (() => {
  const stops = [
    [0, 0x00, 0x43, 0x6b],
    [64, 0x4a, 0x9c, 0xcb],
    [128, 0xf4, 0xf4, 0xf4],
    [192, 0xe8, 0x8b, 0x4a],
    [255, 0x8a, 0x3a, 0x00],
  ] as const;
  const out = new Uint8ClampedArray(3 * 256);
  for (let k = 0; k < 256; k++) {
    const s = stops.findIndex(([at]) => at >= k);
    const [high, ...b] = stops[Math.max(0, s)]!;
    const [low, ...a] = stops[Math.max(0, s - 1)]!;
    for (let c = 0; c < 3; c++) out[3 * k + c] = high === low ? b[c]! : a[c]! + ((k - low) / (high - low)) * (b[c]! - a[c]!);
  }
  return out;
})();
