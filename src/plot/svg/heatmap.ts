// A heat map as a PNG inside an SVG: one pixel a cell keeps a matrix of a million cells small.

import { crc32 } from "@spillway/io/crc32.js";
import { zlibSync } from "fflate";
import { base64 } from "../figure.js";

type Colour = readonly [number, number, number];

/** A colour scale as plotly writes it: positions from 0 to 1 with hexadecimal colours. */
export type ColourScale = readonly (readonly [number, string])[];

/** The colour at a share of the scale. */
export function colourAt(scale: ColourScale, share: number): Colour {
  const at = Math.min(1, Math.max(0, share));
  const above = scale.findIndex(([position]) => position >= at);
  if (above <= 0) return hex(scale[Math.max(0, above)]![1]);
  const [low, lowColour] = scale[above - 1]!;
  const [high, highColour] = scale[above]!;
  const mix = (at - low) / (high - low || 1);
  const [a, b] = [hex(lowColour), hex(highColour)];
  const mixed = (c: 0 | 1 | 2) => Math.round(a[c] + mix * (b[c] - a[c]));
  return [mixed(0), mixed(1), mixed(2)];
}

function hex(colour: string): Colour {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export interface Cells {
  readonly data: ArrayLike<number>;
  readonly rows: number;
  readonly cols: number;
}

/**
 * The cells as a data URL of a PNG, row 0 at the bottom unless `down`. Cells that are not finite
 * are transparent.
 */
export function heatmapPng({ data, rows, cols }: Cells, range: readonly [number, number], scale: ColourScale, down: boolean): string {
  const [low, high] = range;
  const bytes = new Uint8Array(rows * (1 + 4 * cols));
  const table = Array.from({ length: 256 }, (_, k) => colourAt(scale, k / 255));
  for (let r = 0; r < rows; r++) {
    const from = (down ? r : rows - 1 - r) * cols;
    let at = r * (1 + 4 * cols) + 1;
    for (let c = 0; c < cols; c++, at += 4) {
      const value = data[from + c]!;
      if (!Number.isFinite(value)) continue;
      const share = high > low ? (value - low) / (high - low) : 0.5;
      bytes.set(table[Math.min(255, Math.max(0, Math.round(255 * share)))]!, at);
      bytes[at + 3] = 255;
    }
  }
  return `data:image/png;base64,${base64(png(bytes, cols, rows))}`;
}

/** PNG, 8 bits of red, green, blue and alpha (ISO/IEC 15948, sections 5 and 11). */
function png(raw: Uint8Array, width: number, height: number): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, 6, 0, 0, 0], 8);
  return joined([
    Uint8Array.of(137, 80, 78, 71, 13, 10, 26, 10),
    chunk("IHDR", header),
    chunk("IDAT", zlibSync(raw)),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

/** A PNG that says how many pixels an inch takes: pHYs (section 11.3.4.3) after the header. */
export function withDensity(image: Uint8Array, dpi: number): Uint8Array {
  const perMetre = Math.round(dpi / 0.0254);
  const data = new Uint8Array(9);
  const view = new DataView(data.buffer);
  view.setUint32(0, perMetre);
  view.setUint32(4, perMetre);
  data[8] = 1;
  const headerEnd = 8 + 25;
  return joined([image.subarray(0, headerEnd), chunk("pHYs", data), image.subarray(headerEnd)]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function chunk(name: string, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(12 + data.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, data.length);
  out.set(
    Array.from(name, (sign) => sign.charCodeAt(0)),
    4,
  );
  out.set(data, 8);
  view.setUint32(8 + data.length, crc32(out.subarray(4, 8 + data.length)));
  return out;
}
